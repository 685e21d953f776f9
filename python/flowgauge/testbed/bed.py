"""What live and simulated testbeds share: how transmissions, control path and guard hang together."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from flowgauge import _core, controllers
from flowgauge.controllers.interface import refuse
from flowgauge.duts.interface import Driver
from flowgauge.errors import ChannelClosedError, DutDiedError, GarbageError, UsageError
from flowgauge.testbed.control import LiveControl
from flowgauge.testbed.interface import (
    CONTROL,
    PACKET_IN,
    PACKET_OUT,
    Arrival,
    Clock,
    Control,
    Loopback,
    Port,
    Stream,
)
from flowgauge.testbed.transmission import LiveTransmission, spec


class Bed(ABC):
    """Ports, traffic, control and clock of a started DUT."""

    def __init__(self, driver: Driver, ports: Sequence[Port], own: Loopback | None, clock: Clock) -> None:
        """`own`: the tester's own limits. A control path must be given before it is used."""
        self._driver = driver
        self._ports = tuple(ports)
        self._loopback = own
        self._clock = clock
        self._connection: _core.Connection | None = None
        self._control: Control | None = None
        self._controller: Mapping[str, Any] = {"name": controllers.BUILTIN}
        self._transmission: LiveTransmission | None = None

    def control_by(self, connection: _core.Connection) -> None:
        """Take our own channel as control path."""
        self._connection = connection
        self._control = LiveControl(connection, self._guard, lambda: self._transmission, self._clock.now)

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
    def clock(self) -> Clock:
        """The clock."""
        return self._clock

    @property
    def loopback(self) -> Loopback | None:
        """The tester's own limits, None when they could not be measured."""
        return self._loopback

    @property
    @abstractmethod
    def core_plan(self) -> Mapping[str, Any]:
        """Which part runs on which core, for the environment record."""

    @property
    def connected(self) -> bool:
        """Whether the channel is still open (True when it is not ours)."""
        return self._connection is None or self._connection.ended() is None

    def transmit(
        self, *streams: Stream, drain_s: float | None = None, burst: int | None = None
    ) -> LiveTransmission:
        """Start the streams together. A transmission that nobody ended is ended first."""
        self._end_transmission()
        self._guard(True)
        if burst is not None and burst < 1:
            raise UsageError(f"a burst has at least 1 frame, not {burst}")
        specs = [spec(stream, len(self._ports)) for stream in streams]
        by_control = any(CONTROL in (s.source, s.sink) for s in streams)
        if by_control and self._connection is None:
            ability = PACKET_IN if any(s.sink == CONTROL for s in streams) else PACKET_OUT
            refuse(str(self._controller["name"]), ability)
        drain_ns = None if drain_s is None else round(drain_s * 1e9)
        core = self._start(specs, drain_ns, self._connection if by_control else None, burst)
        self._transmission = LiveTransmission(streams, core, self._guard, drains_fully=drain_s is not None)
        return self._transmission

    def exchange(
        self, frames: Sequence[tuple[int, bytes]], mark: bytes, enough: int, quiet_s: float, limit_s: float
    ) -> list[Arrival]:
        """Send single frames, and give those that come with `mark` in them."""
        self._end_transmission()
        self._guard(True)
        limits = (enough, round(quiet_s * 1e9), round(limit_s * 1e9))
        return [Arrival(*found) for found in self._exchange(frames, mark, limits)]

    def messages(self) -> list[Mapping[str, Any]]:
        """Messages that the switch sent unasked since the last call; none through a controller that is not ours."""
        if self._connection is None:
            return []
        return [json.loads(_core.decode_message(data)[1]) for _, data in self._connection.take_messages()]

    def settle(self) -> None:
        """Until frames are handled by what is installed now."""
        self._driver.settle()

    def close(self) -> None:
        """End what runs, close the channel."""
        self._end_transmission()
        if self._connection is not None:
            self._connection.close()

    def _end_transmission(self) -> None:
        if self._transmission is not None:
            self._transmission.abandon()

    def _guard(self, channel: bool) -> None:
        """Raise DutDiedError when the DUT is gone, and (if asked) ChannelClosedError or GarbageError when its channel is."""
        ended = None if self._connection is None else self._connection.ended()
        alive = self._driver.alive() if ended is None else self._lives_on()
        if not alive:
            reason = f": {ended[1]}" if ended else ""
            raise DutDiedError(f"{self._driver.name} stopped during the trial{reason}")
        if channel and ended is not None:
            raise (GarbageError if ended[0] == GarbageError.name else ChannelClosedError)(ended[1])

    @abstractmethod
    def _start(
        self,
        specs: list[_core.StreamSpec],
        drain_ns: int | None,
        connection: _core.Connection | None,
        burst: int | None,
    ) -> _core.Transmission:
        """Start streams; `connection`: the channel whose PACKET_INs are accounted for; `burst`: frames that leave together."""

    @abstractmethod
    def _exchange(
        self, frames: Sequence[tuple[int, bytes]], mark: bytes, limits: tuple[int, int, int]
    ) -> list[tuple[int, int, bytes]]:
        """Send frames and give what came: port, time, bytes. `limits`: frames, ns of silence, ns at most."""

    @abstractmethod
    def _lives_on(self) -> bool:
        """Whether the DUT survives the end of its channel."""
