"""Benches leave nothing behind: neither when they are told to end, nor (after `flowgauge clean`) when they are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from live_helpers import exists

from flowgauge.duts.cleanup import clean
from flowgauge.duts.lease import leases

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[2]
PROGRAM = """
import time
from bench.__main__ import exit_on_sigterm
from bench.wires import background, wire
exit_on_sigterm()
with wire() as link, background(link.command(link.left, ["sleep", "60"])):
    print("up", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_what_a_bench_made_is_removed(number: signal.Signals) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'python'}"}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True, env=environment
    ) as bench:
        assert bench.stdout is not None
        assert bench.stdout.readline() == "up\n"
        (lease,) = [lease for lease in leases() if lease.owner.pid == bench.pid]
        assert len(exists(lease.namespaces, [])) == 2
        bench.send_signal(number)
        code = bench.wait(20)
    if number == signal.SIGTERM:
        assert code == 128 + signal.SIGTERM
    else:
        clean()
    assert exists(lease.namespaces, []) == []
    assert not lease.path.exists()
