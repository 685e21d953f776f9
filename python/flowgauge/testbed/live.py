"""The live testbed: tester ports, channel and clock on a DUT that a driver has started."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from flowgauge import _core, controllers
from flowgauge.controllers.interface import NONE, Controller, refuse
from flowgauge.duts import create
from flowgauge.duts.cleanup import clean
from flowgauge.duts.cores import CorePlan, core_plan, on_cores
from flowgauge.duts.interface import TO_US, ControlWiring, Driver, PortWiring, Wiring
from flowgauge.errors import (
    ChannelClosedError,
    ChannelError,
    DutDiedError,
    GarbageError,
    SetupError,
    VersionMismatchError,
)
from flowgauge.testbed import loopback
from flowgauge.testbed.control import LiveControl
from flowgauge.testbed.interface import (
    CONTROL,
    PACKET_IN,
    PACKET_OUT,
    Arrival,
    Control,
    Loopback,
    OpenOptions,
    Port,
    Stream,
)
from flowgauge.testbed.openers import open_port
from flowgauge.testbed.transmission import LiveTransmission, spec
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


class LiveTestbed:
    """Ports, traffic, control and clock of a started DUT."""

    def __init__(
        self,
        driver: Driver,
        ports: Sequence[tuple[Port, _core.Port]],
        own: Loopback | None,
    ) -> None:
        """Over opened ports; `own`: the tester's own limits. A control path must be given before it is used."""
        self._driver = driver
        self._ports = tuple(port for port, _ in ports)
        self._handles = [handle for _, handle in ports]
        self._connection: _core.Connection | None = None
        self._control: Control | None = None
        self._controller: Mapping[str, Any] = {"name": controllers.BUILTIN}
        self._loopback = own
        self._clock = LiveClock()
        self._cores = plan_of(driver)
        self._transmission: LiveTransmission | None = None

    def control_by(self, connection: _core.Connection) -> None:
        """Take our own channel as control path."""
        self._connection = connection
        self._control = LiveControl(connection, self._guard, lambda: self._transmission)

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
    def ports(self) -> Sequence[Port]:
        """The tester's ports, in the order of the wiring."""
        return self._ports

    @property
    def control(self) -> Control:
        """The control path."""
        assert self._control is not None, "open_testbed gives one"
        return self._control

    @property
    def controller(self) -> Mapping[str, Any]:
        """How entries reach the switch, for the record."""
        return self._controller

    @property
    def clock(self) -> LiveClock:
        """The clock."""
        return self._clock

    @property
    def loopback(self) -> Loopback | None:
        """The tester's own limits, None when they could not be measured."""
        return self._loopback

    @property
    def core_plan(self) -> Mapping[str, Any]:
        """Which part runs on which core, and which spin, for the environment record."""
        return describe_cores(self._cores)

    @property
    def connected(self) -> bool:
        """Whether the channel is still open (True when it is not ours)."""
        return self._connection is None or self._connection.ended() is None

    def transmit(self, *streams: Stream, drain_s: float | None = None) -> LiveTransmission:
        """Start the streams together. A transmission that nobody ended is ended first."""
        if self._transmission is not None:
            self._transmission.abandon()
        self._guard(True)
        specs = [spec(stream, len(self._ports)) for stream in streams]
        by_control = any(CONTROL in (s.source, s.sink) for s in streams)
        if by_control and self._connection is None:
            ability = PACKET_IN if any(s.sink == CONTROL for s in streams) else PACKET_OUT
            refuse(str(self._controller["name"]), ability)
        core = _core.Transmission(
            self._handles,
            specs,
            drain_ns=None if drain_s is None else round(drain_s * 1e9),
            core=self._cores.worker,
            cores=self._cores.workers,
            connection=self._connection if by_control else None,
        )
        self._transmission = LiveTransmission(streams, core, self._guard, drains_fully=drain_s is not None)
        return self._transmission

    def exchange(
        self, frames: Sequence[tuple[int, bytes]], mark: bytes, enough: int, quiet_s: float, limit_s: float
    ) -> list[Arrival]:
        """Send single frames, and give those that come with `mark` in them."""
        if self._transmission is not None:
            self._transmission.abandon()
        self._guard(True)
        limits = (enough, round(quiet_s * 1e9), round(limit_s * 1e9))
        return [Arrival(*found) for found in _core.exchange(self._handles, frames, mark, limits)]

    def messages(self) -> list[Mapping[str, Any]]:
        """Messages that the switch sent unasked since the last call; none through a controller that is not ours."""
        if self._connection is None:
            return []
        return [json.loads(_core.decode_message(data)[1]) for _, data in self._connection.take_messages()]

    def settle(self) -> None:
        """Until frames are handled by what is installed now."""
        self._driver.settle()

    def close(self) -> None:
        """End what runs, close channel and ports."""
        if self._transmission is not None:
            self._transmission.abandon()
        if self._connection is not None:
            self._connection.close()
        for handle in self._handles:
            handle.close()

    def _guard(self, channel: bool) -> None:
        """Raise DutDiedError when the DUT is gone, and (if asked) ChannelClosedError or GarbageError when its channel is."""
        ended = None if self._connection is None else self._connection.ended()
        alive = self._driver.alive() if ended is None else self._lives_on()
        if not alive:
            reason = f": {ended[1]}" if ended else ""
            raise DutDiedError(f"{self._driver.name} stopped during the trial{reason}")
        if channel and ended is not None:
            raise (GarbageError if ended[0] == GarbageError.name else ChannelClosedError)(ended[1])

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

    Raises UsageError, SetupError, ChannelError and their kinds; nothing is left behind then.
    """
    driver = create(dut)
    controller = controllers.create(options.controller or preferred_controller(driver))
    version = options.openflow or preferred(driver)
    with ExitStack() as stack:
        stack.callback(driver.stop)
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
    speed = wiring.max_rate_mbps
    return Port(index, wiring.of_port, wiring.backend, handle.describe() or wiring.interface, speed)
