"""What benchmarks see, live and simulated."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowgauge.duts.interface import Driver
    from flowgauge.testbed.interface import OpenOptions, Testbed


def open_testbed(dut: str, options: OpenOptions) -> AbstractContextManager[tuple[Driver, Testbed]]:
    """Start a DUT and open a testbed on it: a simulated one (`sim:MODEL`) or a live one."""
    from flowgauge.duts.simulated import is_simulated

    if is_simulated(dut):
        from flowgauge.testbed import simulated

        return simulated.open_testbed(dut, options)
    from flowgauge.testbed import live

    return live.open_testbed(dut, options)


def recover(dut: str) -> list[str]:
    """Remove what a worker process that died left behind; a simulated DUT leaves nothing."""
    from flowgauge.duts.simulated import is_simulated

    if is_simulated(dut):
        return []
    from flowgauge.testbed import live

    return live.recover(dut)
