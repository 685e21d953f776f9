"""The live testbed: tester ports, channel and clock on a DUT that a driver has started."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from flowgauge import _core, controllers
from flowgauge.controllers.interface import NONE, Controller
from flowgauge.duts import create
from flowgauge.duts.cleanup import clean
from flowgauge.duts.cores import CorePlan, core_plan, on_cores
from flowgauge.duts.interface import TO_US, ControlWiring, Driver, PortWiring, Wiring
from flowgauge.duts.priority import served_first
from flowgauge.errors import ChannelError, DutDiedError, SetupError, VersionMismatchError
from flowgauge.testbed import loopback
from flowgauge.testbed.bed import Bed
from flowgauge.testbed.interface import Loopback, OpenOptions, Port
from flowgauge.testbed.openers import open_port
from flowgauge.testbed.uncontrolled import Uncontrolled

CONNECT_S = 15.0
"""How long a switch may take to connect. (Open vSwitch tries once a second.)"""
DEATH_S = 0.5
"""How long after its channel's end a DUT's death may show."""


class LiveClock:
    """The tester's clock."""

    def now(self) -> int:
        """Nanoseconds since an arbitrary epoch."""
        return _core.now()

    def sleep(self, seconds: float) -> None:
        """Let that time pass."""
        time.sleep(seconds)


class LiveTestbed(Bed):
    """Ports, traffic, control and clock of a started DUT."""

    def __init__(
        self,
        driver: Driver,
        ports: Sequence[tuple[Port, _core.Port]],
        own: Loopback | None,
    ) -> None:
        """Over opened ports; `own`: the tester's own limits. A control path must be given before it is used."""
        super().__init__(driver, [port for port, _ in ports], own, LiveClock())
        self._handles = [handle for _, handle in ports]
        self._cores = plan_of(driver)

    def control_by_nobody(self) -> None:
        """The DUT has no OpenFlow."""
        self._control = Uncontrolled()
        self._controller = {"name": NONE}

    def control_through(self, controller: Controller, wiring: Wiring, version: str) -> None:
        """Take somebody else's controller as control path, once the switch is connected to it."""
        self._control = controller.control(wiring, version, self._guard)
        self._controller = {
            **controller.describe(),
            "times": "barrier times are from the call of the controller to its return",
        }

    @property
    def core_plan(self) -> Mapping[str, Any]:
        """Which part runs on which core, and which spin, for the environment record."""
        return describe_cores(self._cores)

    def close(self) -> None:
        """End what runs, close channel and ports."""
        super().close()
        for handle in self._handles:
            handle.close()

    def _start(
        self,
        specs: list[_core.StreamSpec],
        drain_ns: int | None,
        connection: _core.Connection | None,
        burst: int | None,
    ) -> _core.Transmission:
        return _core.Transmission(
            self._handles,
            specs,
            drain_ns=drain_ns,
            core=self._cores.worker,
            cores=self._cores.workers,
            connection=connection,
            burst=burst,
        )

    def _exchange(
        self, frames: Sequence[tuple[int, bytes]], mark: bytes, limits: tuple[int, int, int]
    ) -> list[tuple[int, int, bytes]]:
        return _core.exchange(self._handles, frames, mark, limits)

    def _lives_on(self) -> bool:
        """Whether the DUT survives the end of its channel: a killed switch's connection may be reset before its process is gone."""
        deadline = time.monotonic() + DEATH_S
        while self._driver.alive():
            if time.monotonic() > deadline:
                return True
            time.sleep(0.02)
        return False


def describe_cores(plan: CorePlan) -> Mapping[str, Any]:
    """The core plan as the environment record has it."""
    return {
        "workers": list(plan.workers),
        "worker_spins": plan.worker_spins,
        "channel": list(plan.channel),
        "channel_spin_us": plan.channel_spin_us,
        "dut": list(plan.dut),
        "dut_pmd": plan.dut_pmd,
        "spinning": list(plan.spinning),
        "note": plan.note,
    }


@contextmanager
def open_testbed(dut: str, options: OpenOptions) -> Iterator[tuple[Driver, LiveTestbed]]:
    """Start a DUT and open the testbed on it; everything is closed and removed on the way out, however that is taken.

    The calling thread keeps off the workers' cores meanwhile. Raises UsageError, SetupError, ChannelError and their kinds; nothing is
    left behind then.
    """
    driver = create(dut)
    controller = controllers.create(options.controller or preferred_controller(driver))
    version = options.openflow or preferred(driver)
    with ExitStack() as stack:
        stack.callback(driver.stop)
        if getattr(driver, "served_first", False):
            stack.enter_context(served_first())
        stack.enter_context(on_cores(plan_of(driver).channel))
        if controller is not None:
            controller.check()
        wiring = driver.start(version, TO_US if controller is None else controller.leads)
        channel = None
        if controller is None and wiring.control is not None:
            channel = open_channel(wiring.control, plan_of(driver))
            stack.callback(channel.close)
        ports = []
        for index, port in enumerate(wiring.ports):
            handle = open_port(port, plan_of(driver))
            stack.callback(handle.close)
            ports.append((_described(index, port, handle), handle))
        join(driver)
        connection = None if channel is None else await_switch(channel, driver)
        testbed = LiveTestbed(driver, ports, loopback.cached(wiring.ports[0].backend))
        stack.callback(testbed.close)
        if connection is not None:
            testbed.control_by(connection)
        elif controller is not None:
            testbed.control_through(controller, wiring, version)
        else:
            testbed.control_by_nobody()
        yield driver, testbed


def recover(dut: str) -> list[str]:
    """Remove what worker processes that died left behind; says what. (Leases tell; `dut` need not.)"""
    cleaned = clean()
    if cleaned.failed:
        raise SetupError("; ".join(f"{k}: {v}" for k, v in cleaned.failed.items()), advice="flowgauge clean")
    return [thing for things in cleaned.removed.values() for thing in things]


def preferred(driver: Driver) -> str:
    """The best version that the driver offers."""
    versions: Sequence[str] = getattr(driver, "versions", ("1.3", "1.0"))
    return versions[0]


def preferred_controller(driver: Driver) -> str:
    """The controller that the DUT's file names, else our own channel."""
    name: str = getattr(driver, "controller", controllers.BUILTIN)
    return name


def plan_of(driver: Driver) -> CorePlan:
    """Who runs where: as the driver says, which knows whether its DUT polls."""
    found: CorePlan = getattr(driver, "plan", None) or core_plan()
    return found


def join(driver: Driver) -> None:
    """Until the DUT's ends of the wires are up, where the driver waits for that. Raises SetupError."""
    wait: Callable[[], None] = getattr(driver, "joined", lambda: None)
    wait()


def open_channel(wiring: ControlWiring, plan: CorePlan | None = None) -> _core.Channel:
    """The controller's end, its thread on the cores that the plan gives it."""
    files, plan = wiring.tls, plan or core_plan()
    with on_cores(plan.channel):
        return _core.Channel(
            wiring.mode,
            wiring.host,
            wiring.port,
            netns=wiring.netns,
            versions=wiring.versions,
            spin_us=plan.channel_spin_us,
            tls=None if files is None else (files.private_key, files.certificate, files.ca),
        )


def await_switch(channel: _core.Channel, driver: Driver) -> _core.Connection:
    """The switch's connection. A peer that fails the handshake is reported at once, unless another comes in time."""
    deadline = time.monotonic() + CONNECT_S
    while True:
        try:
            return channel.wait_connected(max(0.0, deadline - time.monotonic()))
        except VersionMismatchError:
            raise
        except ChannelError:
            if not driver.alive():
                raise DutDiedError(f"{driver.name} stopped before it connected") from None
            raise


def _described(index: int, wiring: PortWiring, handle: _core.Port) -> Port:
    name, speed = handle.describe() or wiring.interface, wiring.max_rate_mbps
    return Port(index, wiring.of_port, wiring.backend, name, speed, timestamps=handle.timestamps())
