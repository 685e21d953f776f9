"""`flowgauge switch` with controllers and a testbed of other people: os-ken's simple switches, Mininet."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from osken_apps import Apps, apps
from switch_bed import PYTHON_PATH, bed

from flowgauge.duts.host import find_tool

pytestmark = pytest.mark.live

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "mininet_switch.py"
CONTROLLER = ("--controller", "tcp:127.0.0.1:6653")


@pytest.fixture(scope="session")
def osken(tmp_path_factory: pytest.TempPathFactory) -> Apps:
    found = apps(tmp_path_factory.mktemp("osken"))
    if isinstance(found, str):
        pytest.skip(found)
    return found


@pytest.mark.parametrize(
    ("app", "version"),
    [
        ("simple_switch", "1.0"),
        ("simple_switch_13", "1.3"),
        ("simple_switch_14", "1.4"),
        ("simple_switch_15", "1.5"),
    ],
)
def test_os_ken_forwards_pings_through_it(osken: Apps, app: str, version: str) -> None:
    with bed(3) as it:
        controller = it.start(
            osken.command(app, "--ofp-listen-host", "127.0.0.1", "--ofp-tcp-listen-port", "6653")
        )
        switch = it.switch(*CONTROLLER)
        switch.wait_for(rf"^connected: tcp:127\.0\.0\.1:6653 \(OpenFlow {version}\)")
        it.reaches(1, 2)
        it.reaches(1, 3)
        it.reaches(3, 2)
        assert controller.process.poll() is None, controller.said()
        assert "Traceback" not in controller.said(), controller.said()
        assert switch.stop() == 0


def python_of_mininet() -> str | None:
    """The interpreter for which Debian installed Mininet's modules."""
    for candidate in ("/usr/bin/python3", sys.executable):
        asked = subprocess.run([candidate, "-c", "import mininet"], capture_output=True, check=False)
        if asked.returncode == 0:
            return candidate
    return None


def test_mininet_pings_all_through_it() -> None:
    python = python_of_mininet()
    if python is None or find_tool("ping") is None:
        pytest.skip("mininet and iputils-ping are not installed: tools/host-packages.sh")
    done = subprocess.run(
        [python, str(EXAMPLE), f"{sys.executable} -m flowgauge"],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        env={**os.environ, "PYTHONPATH": str(PYTHON_PATH)},
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "0% dropped (6/6 received)" in said, said
