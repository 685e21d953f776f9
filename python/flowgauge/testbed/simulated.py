"""The simulated testbed: the same benchmarks on a device model, in virtual time.

Time moves only while somebody waits: in `sleep`, in the waits of transmissions and plays, and in requests that have a reply.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from flowgauge import _core, controllers
from flowgauge.duts.interface import Driver
from flowgauge.duts.simulated import BACKEND, VERSIONS, Simulated
from flowgauge.errors import UsageError
from flowgauge.testbed.bed import Bed
from flowgauge.testbed.interface import Loopback, OpenOptions, Port

OWN = Loopback(BACKEND, {}, 0.0, 0.0, "exact: a simulated tester sends and receives in no time", echo_ns=0.0)
"""The simulated tester's own limits: it has none."""
STAMPS = "virtual transmit, virtual receive"
"""Where frames are stamped."""
START_S = 1.0
"""How long a switch has been on when a trial begins."""


class VirtualClock:
    """Virtual time."""

    simulation: _core.Simulation

    def now(self) -> int:
        """Nanoseconds since the simulation's start."""
        return self.simulation.now()

    def sleep(self, seconds: float) -> None:
        """Let that virtual time pass."""
        self.simulation.sleep(max(0, round(seconds * 1e9)))


class SimulatedTestbed(Bed):
    """Ports, traffic, control and clock of a simulated device."""

    _clock: VirtualClock

    def __init__(self, driver: Simulated, ports: Sequence[Port], seed: int, version: str) -> None:
        """Over a device of the driver's model."""
        super().__init__(driver, ports, OWN, VirtualClock())
        self._simulated, self._seed, self._version = driver, seed, version
        self.begin("")

    def begin(self, trial: str) -> None:
        """A trial begins: on a switch that was just switched on, with random numbers of the trial's own.

        So a trial's result is the same whatever was measured before it.
        """
        self._end_transmission()
        self._transmission = None
        self._simulation, connection = self._simulated.simulate(_seed(self._seed, trial), self._version)
        self._clock.simulation = self._simulation
        self._clock.sleep(START_S)
        self.control_by(connection)

    @property
    def core_plan(self) -> Mapping[str, Any]:
        """One thread does everything, as quickly as it can."""
        return {"note": "simulated: one thread, virtual time"}

    def _start(
        self,
        specs: list[_core.StreamSpec],
        drain_ns: int | None,
        connection: _core.Connection | None,
        burst: int | None,
    ) -> _core.Transmission:
        return self._simulation.transmission(specs, drain_ns=drain_ns, connection=connection)

    def _exchange(
        self, frames: Sequence[tuple[int, bytes]], mark: bytes, limits: tuple[int, int, int]
    ) -> list[tuple[int, int, bytes]]:
        return self._simulation.exchange(frames, mark, limits)

    def _lives_on(self) -> bool:
        return self._driver.alive()


def _seed(seed: int, trial: str) -> int:
    """The seed of a trial."""
    return int.from_bytes(hashlib.sha256(f"{seed} {trial}".encode()).digest()[:8])


@contextmanager
def open_testbed(dut: str, options: OpenOptions) -> Iterator[tuple[Driver, SimulatedTestbed]]:
    """Simulate a device and open the testbed on it. Raises UsageError and its kinds."""
    driver = Simulated(dut)
    if (options.controller or controllers.BUILTIN) != controllers.BUILTIN:
        raise UsageError(
            f"{dut} is in virtual time, and answers to the built-in controller alone, not to {options.controller}",
            advice="leave --controller out",
        )
    version = options.openflow or VERSIONS[0]
    wiring = driver.start(version)
    ports = [
        Port(index, port.of_port, port.backend, port.interface, port.max_rate_mbps, timestamps=STAMPS)
        for index, port in enumerate(wiring.ports)
    ]
    testbed = SimulatedTestbed(driver, ports, options.seed, version)
    try:
        yield driver, testbed
    finally:
        testbed.close()
        driver.stop()
