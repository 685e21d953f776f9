"""Without DPDK everything else works; a DPDK port says what to install."""

import subprocess
import sys
from pathlib import Path

LOADED = "import flowgauge._core; print('rte_' in open('/proc/self/maps').read())"


def test_the_core_is_imported_without_dpdk() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# In a process of its own: whoever has loaded the shim keeps it.
ASK = """
from flowgauge import _core
from flowgauge.errors import DpdkMissingError
for ask in (_core.dpdk_version, lambda shim_path: _core.open_dpdk("net_null0", shim_path=shim_path)):
    try:
        ask(shim_path=__import__("sys").argv[1])
    except DpdkMissingError as error:
        print(error.message, error.advice)
"""


def answers(shim: Path) -> list[str]:
    done = subprocess.run([sys.executable, "-c", ASK, str(shim)], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_a_missing_shim_names_the_command_that_builds_it(tmp_path: Path) -> None:
    found = answers(tmp_path / "missing.so")
    assert len(found) == 2
    for text in found:
        assert "missing.so was not built" in text
        assert "apt-get install dpdk libdpdk-dev" in text
        assert "make dpdk" in text


def test_a_strange_file_is_no_shim(tmp_path: Path) -> None:
    strange = tmp_path / "strange.so"
    strange.write_bytes(b"no library")
    found = answers(strange)
    assert len(found) == 2
    assert all("strange" in text for text in found)
