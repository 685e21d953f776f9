"""Streams of frames: what is sent, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from flowgauge.errors import UsageError
from flowgauge.flows import SEQUENTIAL, FlowOrder, FlowSet, Frames, Schedule
from flowgauge.units import duration_ns

Nanoseconds = int
CONTROL = "control"
"""As `Stream.source` or `Stream.sink`: the OpenFlow channel (PACKET_OUT or PACKET_IN) instead of a port."""


@dataclass(frozen=True)
class Stream:
    """A flow set with a frame size, or raw frames; a schedule and an end.

    `source`: index of the tester port that transmits, or CONTROL: frames leave by `Control.play(packet_outs(...))`, and
    this stream only counts them. `sink`: index of the port where frames are expected, CONTROL (PACKET_IN), or None: any
    port; frames that arrive elsewhere count as `misrouted`.
    It ends after `duration_s`, or after `count` frames, or (both None) when it is stopped. `record`: keep up to that many departures and
    arrivals as arrays.
    `late`: what is done with frames whose time has passed because tester or port could not keep up: "catch_up" sends them at once, so that
    the mean rate stays exact; "skip" leaves out those that a later one has overtaken, so that gaps stay what they should be at the least,
    and counts them as not offered; a time such as "20us" leaves out those that a later one has overtaken by more, so that little piles up
    after a disturbance, and bursts stay possible. `weight`: share of a `Schedule.max()` stream where several leave by one port.
    `frame_size` counts the FCS, in bytes; raw frames have sizes of their own, and it means nothing to them.
    """

    flows: FlowSet | Frames
    frame_size: int
    schedule: Schedule
    source: int | str = 0
    sink: int | str | None = None
    duration_s: float | None = None
    record: int = 0
    name: str = "probe"
    count: int | None = None
    flow_order: FlowOrder = SEQUENTIAL
    late: str = "catch_up"
    weight: int = 1


def late_limit_ns(late: str) -> int | None:
    """How late a frame may leave by `Stream.late`; None: however late it is. Raises UsageError.

    >>> late_limit_ns("20us"), late_limit_ns("skip"), late_limit_ns("catch_up")
    (20000, 0, None)
    """
    if late == "catch_up":
        return None
    try:
        return 0 if late == "skip" else duration_ns(late)
    except ValueError:
        raise UsageError(
            f"late frames can't be treated by {late!r}; allowed: catch_up, skip, a time such as 20us"
        ) from None


@dataclass(frozen=True)
class Latency:
    """Delays of a stream in ns: statistics, and an HDR histogram with 3 significant digits."""

    count: int
    min_ns: float | None
    mean_ns: float | None
    std_ns: float | None
    max_ns: float | None
    values_ns: NDArray[np.int64]
    """Upper values of the histogram's filled buckets, ascending."""
    counts: NDArray[np.int64]
    """Count in each bucket."""

    def percentile_ns(self, p: float) -> float | None:
        """The p-th percentile (0..100), None when nothing arrived."""
        if self.count == 0:
            return None
        rank = max(1, int(np.ceil(p / 100 * self.count)))
        found = float(self.values_ns[np.searchsorted(np.cumsum(self.counts), rank)])
        # The largest delay's bucket reaches beyond it.
        return found if self.max_ns is None else min(found, self.max_ns)


@dataclass(frozen=True)
class Reception:
    """What became of one stream: exact accounting, delays, and arrays on request.

    `requested`: frames that the schedule asked for; `sent`: frames that left (offered load); `received`: distinct sequence
    numbers that came back where they were expected; sent = received + lost always. `late` arrived after the stop, within
    the drain.
    `windows`: mean delay (ns) and count in consecutive equal slices of the trial, for finding a ramp.
    `arrivals_*` and `departures_ns` hold the first `record` frames: departure times are indexed by sequence number.
    """

    requested: int
    sent: int
    received: int
    lost: int
    duplicated: int
    reordered: int
    late: int
    misrouted: int
    elapsed_ns: Nanoseconds
    latency: Latency
    gap_error_ns: Mapping[str, float]
    """Error of the departures against the schedule: p50, p99, p999, max, late_frames."""
    windows_mean_ns: NDArray[np.float64]
    windows_count: NDArray[np.int64]
    window_ns: Nanoseconds
    first_arrival_ns: NDArray[np.int64]
    """Per flow of the set: time of its first arrival, -1 if none."""
    departures_ns: NDArray[np.int64]
    arrivals_seq: NDArray[np.int64]
    arrivals_tx_ns: NDArray[np.int64]
    arrivals_rx_ns: NDArray[np.int64]
    packet_in_bytes_min: int | None = None
    """Smallest number of frame bytes in a PACKET_IN (truncation), for streams with sink CONTROL."""
    packet_in_buffered: int = 0
    """PACKET_INs that named a buffer id."""
    probed: bool = True
    """False: raw frames without probes. Their arrivals can't be told apart: they count in `TesterState.foreign`, and `received`, `lost`
    and what follows from them are empty.
    """


@dataclass(frozen=True)
class TesterState:
    """The tester's own condition over a transmission, for the checks.

    `rx_dropped`: frames that the tester's rings, sockets or NICs dropped. `stall_max_ns`: longest time a loop did not
    turn; `ring_ns`: how long the smallest receive ring lasts at the observed rate, None if nothing arrived.
    `foreign`: frames that were not ours (ARP, LLDP, ...), by port. `tx_lag_*`: how much later than the times in the probes frames
    left, by the `tx_samples` departures that kernel or card stamped (at the port where that was most); None without any.
    """

    rx_dropped: int
    tx_errors: int
    foreign: Sequence[int]
    stalls_over_100us: int
    stall_max_ns: Nanoseconds
    ring_ns: Nanoseconds | None
    involuntary_switches: int
    steal_ns: Nanoseconds
    start_ns: Nanoseconds
    stop_ns: Nanoseconds
    timestamps: str
    """Where frames are stamped: for instance "user transmit (kernel samples), kernel receive"."""
    tx_samples: int = 0
    tx_lag_p50_ns: Nanoseconds | None = None
    tx_lag_p99_ns: Nanoseconds | None = None
    frequency_changes: int | None = None


@dataclass(frozen=True)
class Progress:
    """Counters of a running transmission, by stream in the order given."""

    elapsed_ns: Nanoseconds
    sent: Sequence[int]
    received: Sequence[int]


class Transmission(Protocol):
    """Streams on their way. Always `wait()` or `stop()` before reading receptions."""

    def wait(self) -> None:
        """Until every stream has ended and the drain is over. Raises TrialError when the transmission breaks."""

    def stop(self) -> None:
        """End all streams now, then drain."""

    def progress(self) -> Progress:
        """Counters so far; for streams with sink CONTROL the PACKET_INs that came so far."""

    def reception(self, stream: int = 0) -> Reception:
        """Result of a stream, by its position in `transmit`."""

    @property
    def tester(self) -> TesterState:
        """The tester's own condition, once ended."""
