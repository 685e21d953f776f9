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
)

ANY_PORT, PACKET_IN = -1, -2
SLICE_S = 0.05
"""How often a waiting transmission looks whether DUT and channel are still there."""


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
    )


class LiveTransmission:
    """Streams on their way. `guard` raises when DUT or channel are gone."""

    def __init__(
        self, streams: Sequence[Stream], core: _core.Transmission, guard: Callable[[bool], None]
    ) -> None:
        """Watches a transmission that was just started."""
        self.streams = tuple(streams)
        self.core = core
        self._guard = guard
        self._outcome: Mapping[str, Any] | None = None
        self._sent_elsewhere: dict[int, int] = {}

    def wait(self) -> None:
        """Until every stream has ended and the drain is over. Raises DutDiedError or ChannelClosedError."""
        if any(s.duration_s is None and s.source != CONTROL for s in self.streams):
            raise UsageError("a stream without a duration is ended by stop(), not waited for")
        while not self.core.wait(SLICE_S):
            self._check(True)
        self._finish()
        self._check(True)

    def stop(self) -> None:
        """End all streams now, then drain. A closed channel is for the caller to judge; a dead DUT raises."""
        if self._outcome is None:
            self.core.stop()
            self._finish()
            self._check(False)

    def abandon(self) -> None:
        """End it and give the ports back, whatever happened."""
        if self._outcome is None:
            self.core.stop()
            self._finish()

    def progress(self) -> Progress:
        """Counters so far."""
        elapsed_ns, sent, received = self.core.progress()
        return Progress(elapsed_ns, sent, received)

    def reception(self, stream: int = 0) -> Reception:
        """Result of a stream, by its position in `transmit`."""
        data = dict(self._ended()["streams"][stream])
        if (sent := self._sent_elsewhere.get(stream)) is not None:
            data["sent"] = max(sent, data["received"])
            data["lost"] = data["sent"] - data["received"]
        return Reception(latency=Latency(**data.pop("latency")), **data)

    @property
    def tester(self) -> TesterState:
        """The tester's own condition, once ended."""
        return TesterState(**self._ended()["tester"])

    def sent_elsewhere(self, stream: int, sent: int) -> None:
        """The control path says how many frames of a stream it sent."""
        self._sent_elsewhere[stream] = sent

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
