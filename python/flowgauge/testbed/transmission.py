"""A running transmission on the live testbed, and its results as the interface's values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flowgauge import _core
from flowgauge.errors import UsageError
from flowgauge.testbed.interface import (
    CONTROL,
    Latency,
    Progress,
    Reception,
    Stream,
    TesterState,
    late_limit_ns,
)

ANY_PORT, PACKET_IN = -1, -2
SLICE_S = 0.02
"""How often a waiting transmission looks whether DUT and channel are still there, and whether all PACKET_INs came."""


def spec(stream: Stream, ports: int) -> _core.StreamSpec:
    """The core's form of a stream. Raises UsageError when it names a port that isn't there."""
    for end in (stream.source, stream.sink):
        if isinstance(end, int) and not 0 <= end < ports:
            raise UsageError(f"stream {stream.name!r} names port index {end}; the testbed has 0..{ports - 1}")
        if isinstance(end, str) and end != CONTROL:
            raise UsageError(f"stream {stream.name!r} names {end!r}; allowed: a port's index, or {CONTROL!r}")
    sink = ANY_PORT if stream.sink is None else stream.sink
    return _core.StreamSpec(
        stream.flows,
        stream.frame_size,
        stream.schedule,
        tx_port=stream.source if isinstance(stream.source, int) else None,
        rx_port=sink if isinstance(sink, int) else PACKET_IN,
        duration_ns=None if stream.duration_s is None else round(stream.duration_s * 1e9),
        record=stream.record,
        count=stream.count,
        flow_order=stream.flow_order,
        late_ns=late_limit_ns(stream.late),
        weight=stream.weight,
    )


class LiveTransmission:
    """Streams on their way. `guard` raises when DUT or channel are gone."""

    def __init__(
        self,
        streams: Sequence[Stream],
        core: _core.Transmission,
        guard: Callable[[bool], None],
        *,
        drains_fully: bool = False,
    ) -> None:
        """Watches a transmission that was just started; `drains_fully`: the drain's length was asked for."""
        self.streams = tuple(streams)
        self.core = core
        self._guard = guard
        self._drain = _Drain(core, drains_fully or not any(s.sink == CONTROL for s in streams))
        self._outcome: Mapping[str, Any] | None = None

    def wait(self) -> None:
        """Until every stream has ended and the drain is over. Raises DutDiedError or ChannelClosedError."""
        if any(s.duration_s is s.count is None and s.source != CONTROL for s in self.streams):
            raise UsageError("a stream without an end is ended by stop(), not waited for")
        self._await_end(channel=True)

    def stop(self) -> None:
        """End all streams now, then drain. A closed channel is for the caller to judge; a dead DUT raises."""
        self.core.stop()
        self._await_end(channel=False)

    def abandon(self) -> None:
        """End it at once and give the ports back, whatever happened."""
        self.core.stop()
        self.core.cut_drain()
        self._finish()

    def progress(self) -> Progress:
        """Counters so far."""
        elapsed_ns, sent, received = self.core.progress()
        return Progress(elapsed_ns, sent, received)

    def reception(self, stream: int = 0) -> Reception:
        """Result of a stream, by its position in `transmit`."""
        data = dict(self._ended()["streams"][stream])
        return Reception(latency=Latency(**data.pop("latency")), **data)

    @property
    def tester(self) -> TesterState:
        """The tester's own condition, once ended."""
        return TesterState(**self._ended()["tester"])

    @property
    def outcome(self) -> Mapping[str, Any]:
        """Everything that the core counted, once ended."""
        return self._ended()

    def _await_end(self, *, channel: bool) -> None:
        if self._outcome is not None:
            return
        while not self.core.wait(SLICE_S):
            self._check(channel)
            self._drain.look()
        self._finish()
        self._check(channel)
        error = self._ended()["error"]
        if error is not None:
            raise error

    def _check(self, channel: bool) -> None:
        try:
            self._guard(channel)
        except BaseException:
            self.abandon()
            raise

    def _finish(self) -> None:
        if self._outcome is None:
            self._outcome = self.core.finish()

    def _ended(self) -> Mapping[str, Any]:
        if self._outcome is None:
            raise UsageError("the transmission has not ended: wait() or stop() it before reading results")
        return self._outcome


class _Drain:
    """Ends the drain when all frames have come as PACKET_INs, which the traffic loop does not see."""

    def __init__(self, core: _core.Transmission, done: bool) -> None:
        self._core = core
        self._done = done
        self._before: tuple[int, list[int], list[int]] | None = None

    def look(self) -> None:
        """Cut the drain once the streams have ended (time stands still), all has come, and no more came since the last look."""
        if self._done:
            return
        now = self._core.progress()
        _, sent, received = now
        if now == self._before and all(r >= s for s, r in zip(sent, received, strict=True)):
            self._core.cut_drain()
            self._done = True
        self._before = now
