"""Without DPDK everything else works; a DPDK port says what to install."""

import subprocess
import sys
from pathlib import Path

import pytest

from flowgauge import _core
from flowgauge.errors import DpdkMissingError

LOADED = "import flowgauge._core; print('rte_' in open('/proc/self/maps').read())"


def test_the_core_is_imported_without_dpdk() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_missing_shim_names_the_command_that_builds_it(tmp_path: Path) -> None:
    for ask in (_core.dpdk_version, lambda shim_path: _core.open_dpdk("net_null0", shim_path=shim_path)):
        with pytest.raises(DpdkMissingError, match=r"missing\.so was not built") as caught:
            ask(shim_path=tmp_path / "missing.so")
        assert caught.value.advice is not None
        assert "apt-get install dpdk libdpdk-dev" in caught.value.advice
        assert "make dpdk" in caught.value.advice


def test_a_strange_file_is_no_shim(tmp_path: Path) -> None:
    strange = tmp_path / "strange.so"
    strange.write_bytes(b"no library")
    with pytest.raises(DpdkMissingError, match="strange"):
        _core.dpdk_version(shim_path=strange)
