"""What a benchmark sees: ports, traffic, control and clock. Live and simulated testbeds implement the same protocols.

No packet and no message is handled one by one in Python: `transmit` and `play` run in Rust, and results come back as arrays that
own their memory. All times are nanoseconds on the testbed's one clock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from flowgauge.flows import SEQUENTIAL, FlowOrder, FlowSet, Frames, Schedule

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
    and counts them as not offered. `weight`: share of a `Schedule.max()` stream where several leave by one port.
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
        return float(self.values_ns[np.searchsorted(np.cumsum(self.counts), rank)])


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


@dataclass(frozen=True)
class Entry:
    """One flow entry per flow of `flows`: exact on `match` (names of fields; None: all that the set has, plus in_port).

    `actions` in ovs-ofctl syntax ("output:2", "drop", "mod_nw_ttl:3,output:1"). `in_port` None leaves it out.
    """

    flows: FlowSet | None
    actions: str = "drop"
    priority: int = 32768
    match: tuple[str, ...] | None = None
    in_port: int | None = None
    idle_timeout: int = 0
    hard_timeout: int = 0
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlayResult:
    """What came of a played sequence. Arrays are indexed by message.

    `sent_ns`: when its first byte was handed to the socket, -1 if it never was; `reply_ns`: arrival of the reply with its
    xid (last part), -1 if none. `acknowledged`: messages whose bytes the switch's TCP acknowledged at the end.
    `errors`: (message index, type, code, text) of OpenFlow errors. `closed`: why the channel ended, if it did.
    `barrier_ns`: arrival of the reply to the closing barrier, None if there was none.
    """

    requested: int
    sent: int
    acknowledged: int
    sent_ns: NDArray[np.int64]
    reply_ns: NDArray[np.int64]
    payload_intact: NDArray[np.bool_]
    errors: Sequence[tuple[int, int, int, str]]
    closed: str | None
    first_byte_ns: Nanoseconds | None
    barrier_ns: Nanoseconds | None
    gap_error_ns: Mapping[str, float]


class Play(Protocol):
    """A sequence of control messages on its way."""

    def wait(self, timeout_s: float | None = None) -> PlayResult:
        """Until all are sent and answered. Raises ReplyTimeoutError when a reply or the barrier is overdue."""

    def stop(self) -> PlayResult:
        """Send no more; return what was done."""


PACKET_IN, PACKET_OUT, ECHO, REQUEST, ENTRIES = "packet_in", "packet_out", "echo", "request", "entries"
"""Abilities of a control path: frames in PACKET_INs with their times (and `set_miss_send_len`), timed PACKET_OUTs, timed
ECHO_REQUESTs, single messages with their replies, and flow entries, groups, meters and statistics. Through a controller that is not ours
only the last may be possible; a DUT without OpenFlow has none.
"""


class Control(Protocol):
    """The switch's control path, in any OpenFlow version and through any controller. Raises ChannelError and its kinds.

    Flows, groups and meters as text are in the syntax of ovs-ofctl, without a command in front. What was refused raises
    RejectedError, with the names of the error's type and code where the controller hands them on. What this controller can't do or
    say raises NotOfferedError.
    """

    @property
    def version(self) -> str:
        """ "1.0", "1.3", "1.4" or "1.5"."""

    @property
    def abilities(self) -> frozenset[str]:
        """Which of PACKET_IN, PACKET_OUT, ECHO, REQUEST, ENTRIES are possible."""

    def add_flows(self, *texts: str) -> None:
        """Add flow entries ("priority=1,tcp,tp_dst=80,actions=output:2"); returns after a barrier."""

    def modify_flows(self, *texts: str, strict: bool = False) -> None:
        """Modify those that match; returns after a barrier."""

    def delete_flows(self, *texts: str, strict: bool = False) -> None:
        """Delete those that match, from all tables unless one is named; returns after a barrier."""

    def dump_flows(self) -> list[str]:
        """All flow entries with their counters, as `ovs-ofctl dump-flows` prints them; the order is the switch's."""

    def add_group(self, text: str) -> None:
        """Add a group: "group_id=1,type=all,bucket=output:1,bucket=output:2"; returns after a barrier."""

    def modify_group(self, text: str) -> None:
        """Replace a group's type and buckets; returns after a barrier."""

    def delete_groups(self, text: str = "") -> None:
        """Delete a group ("group_id=1"), or all; returns after a barrier. Does nothing on OpenFlow 1.0."""

    def add_meter(self, text: str) -> None:
        """Add a meter: "meter=1,kbps,burst,bands=type=drop,rate=1000,burst_size=100"; returns after a barrier."""

    def modify_meter(self, text: str) -> None:
        """Replace a meter's flags and bands; returns after a barrier."""

    def delete_meters(self, text: str = "") -> None:
        """Delete a meter ("meter=1"), or all; returns after a barrier. Does nothing on OpenFlow 1.0."""

    def request(self, message: Mapping[str, Any], timeout_s: float | None = None) -> list[dict[str, Any]]:
        """Send one message, given as the JSON of `flowgauge openflow decode`, and a barrier; its replies. Ability REQUEST."""

    def delete_all(self) -> None:
        """Remove all flow entries; returns after a barrier."""

    def install(self, *entries: Entry) -> None:
        """Add flow entries; returns after a barrier. Raises RejectedError when the switch refuses one."""

    def install_table_miss(self, actions: str) -> None:
        """The lowest-priority entry that matches everything: "drop", "CONTROLLER:65535", "output:2"."""

    def set_miss_send_len(self, length: int) -> None:
        """SET_CONFIG; 65535 asks for whole frames."""

    def count_entries(self) -> int:
        """How many flow entries the switch says it holds (read back with flow or aggregate statistics)."""

    def describe(self) -> Mapping[str, Any]:
        """The switch's own description, features, tables and ports."""

    def add(self, *entries: Entry, schedule: Schedule | None = None) -> Play:
        """Play FLOW_MOD adds, as quickly as possible unless a schedule is given, then a barrier."""

    def modify(self, *entries: Entry, schedule: Schedule | None = None) -> Play:
        """The same with strict modifies."""

    def delete(self, *entries: Entry, schedule: Schedule | None = None) -> Play:
        """The same with strict deletes."""

    def echo(self, schedule: Schedule, duration_s: float) -> Play:
        """Play ECHO_REQUESTs with the send time as payload."""

    def packet_out(self, stream: Stream, out_port: int, duration_s: float) -> Play:
        """Play PACKET_OUTs that carry the stream's probes, stamped when they are sent."""


class Clock(Protocol):
    """The testbed's clock. Virtual time moves only while the benchmark waits."""

    def now(self) -> Nanoseconds:
        """Nanoseconds since an arbitrary epoch."""

    def sleep(self, seconds: float) -> None:
        """Let that time pass."""


@dataclass(frozen=True)
class Loopback:
    """What the tester itself can do on this backend, looped back without a DUT (cached per host and backend).

    `max_pps`: frames per second by frame size in bytes, without loss; `delay_ns`: median of its own delay; `spread_ns`:
    half-width of its 5..95 % range. Reported delays include `delay_ns`; `delay_ns + spread_ns` is their stated error.
    """

    backend: str
    max_pps: Mapping[int, float]
    delay_ns: float
    spread_ns: float
    measured_at: str
    echo_ns: float | None = None
    """Median round trip of the tester's own control channel over loopback."""


@dataclass(frozen=True)
class Port:
    """A tester port, cabled to a DUT port. `max_rate_mbps` is its link speed; None: it has none (veth, ring). `timestamps`: where its
    frames are stamped.
    """

    index: int
    of_port: int
    backend: str
    name: str
    max_rate_mbps: float | None = None
    mac: str = "02:00:00:00:00:01"
    timestamps: str = ""


@dataclass(frozen=True)
class OpenOptions:
    """What `flowgauge.testbed.open_testbed(dut, options)` is told besides the DUT.

    `openflow`: the version to speak ("1.0", "1.3"), None: the driver's best. `seed`: for whatever the testbed chooses at random.
    `controller`: how entries reach the switch (`flowgauge.controllers`), None: as the DUT's file says, else by our own channel.
    """

    openflow: str | None = None
    seed: int = 1
    controller: str | None = None


class Testbed(Protocol):
    """Everything a benchmark may use."""

    @property
    def ports(self) -> Sequence[Port]:
        """The tester's ports, in the order of the wiring."""

    @property
    def control(self) -> Control:
        """The control path."""

    @property
    def clock(self) -> Clock:
        """The clock."""

    @property
    def loopback(self) -> Loopback | None:
        """The tester's own limits, None when they could not be measured."""

    def transmit(
        self, *streams: Stream, drain_s: float | None = None, burst: int | None = None
    ) -> Transmission:
        """Start the streams together. `drain_s` None: 1 s or 10x the largest delay, at most 5 s.

        `burst`: the most frames that leave a port together, all stamped with one time, None: 64. With 1 each has its own, at a lower
        highest rate. Frames that have a pace and are in time leave one by one anyhow. Nothing changes on a simulated testbed.
        """


@dataclass(frozen=True)
class Arrival:
    """A frame that came to a tester port: position of the port, time, bytes without FCS."""

    port: int
    at_ns: Nanoseconds
    frame: bytes


class FeatureTestbed(Testbed, Protocol):
    """A testbed on which feature tests can be made: single frames and messages, one by one. No rate and no delay counts there."""

    def exchange(
        self, frames: Sequence[tuple[int, bytes]], mark: bytes, enough: int, quiet_s: float, limit_s: float
    ) -> list[Arrival]:
        """Send frames (position of the port, bytes without FCS), and give those that come with `mark` in them, until `enough`
        came and nothing more for `quiet_s`, or `limit_s` is over. What came since the last exchange counts, too.
        """

    def messages(self) -> list[Mapping[str, Any]]:
        """Messages that the switch sent unasked since the last call, as `flowgauge openflow decode` writes them."""

    def settle(self) -> None:
        """Until frames are handled, and counted, by what is installed now: switches cache decisions beyond a barrier."""
