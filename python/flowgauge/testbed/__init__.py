"""What benchmarks see, live and simulated."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowgauge.duts.interface import Driver
    from flowgauge.testbed.interface import OpenOptions, Testbed


def open_testbed(dut: str, options: OpenOptions) -> AbstractContextManager[tuple[Driver, Testbed]]:
    """Start a DUT and open a testbed on it; see `flowgauge.testbed.live`."""
    from flowgauge.testbed import live

    return live.open_testbed(dut, options)


def recover(dut: str) -> list[str]:
    """Remove what a worker process that died left behind; see `flowgauge.testbed.live`."""
    from flowgauge.testbed import live

    return live.recover(dut)
