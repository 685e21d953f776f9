"""When did a change of the flow table reach the data plane? Shared by flow_add, flow_add_max, flow_mod and flow_delete.

A probe stream runs all the time. The last entry of a batch matches it. The change took effect between the transmit time of the
last probe that followed the old table and that of the first that followed the new one, plus nought to one path delay.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from pydantic import Field

from flowgauge.analysis import checks
from flowgauge.benchmarks.activation_figures import CHARTS, table_figures
from flowgauge.benchmarks.base import Benchmark, Params
from flowgauge.benchmarks.common import number, probe_flows, shared_core
from flowgauge.errors import TrialError
from flowgauge.flows import FlowSet, Schedule
from flowgauge.model import Check, Figure, Point, Scalar, Trial, TrialRecord
from flowgauge.testbed.interface import (
    Entry,
    Play,
    PlayResult,
    Reception,
    Stream,
    Testbed,
    TesterState,
    Transmission,
)

PILOT_PPS = 10_000.0
SETTLE_S = 0.05


Entries = Annotated[
    tuple[Annotated[int, Field(ge=1, le=2**24)], ...], Field(min_length=1, description="entries per batch")
]


class FlowTableParams(Params):
    """Parameters of the benchmarks that change the flow table."""

    entries: Entries = (1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
    frame_size: int = Field(100, ge=64, le=9018, description="size of the probes with FCS, bytes")
    probe_pps: float | None = Field(
        None, gt=0, description="probes per second; unset: a pilot chooses 100 per duration"
    )
    max_probe_pps: float = Field(100_000, gt=0, description="the most that a pilot may choose")
    warm_up_s: float = Field(10.0, ge=0, description="probes run that long before the change")
    timeout_s: float = Field(120.0, gt=0, description="a change that takes longer is a failed trial")
    repeats: int = Field(30, ge=1, description="trials per number of entries")
    punt: bool = Field(
        False, description="leave misses to go to the controller, as ALIEN did, instead of dropping them"
    )
    probes: tuple[tuple[int, float, int], ...] = Field(
        (),
        description="probes by number of entries, instead of probe_pps and frame_size: [entries, gap in ms, frame size]; "
        "0 entries: all others",
    )
    until_probe: bool = Field(
        False,
        description="send the batch together with a probe, and take the arrival of the first probe that shows the change as its "
        "time: whole probe gaps, as ALIEN did",
    )

    def of_entries(self, n: int) -> FlowTableParams:
        """The parameters for that many entries, with their probes."""
        found = {entries: (gap_ms, size) for entries, gap_ms, size in self.probes}
        if n not in found and 0 not in found:
            return self
        gap_ms, size = found.get(n, found.get(0, (0.0, 0)))
        return self.model_copy(update={"probe_pps": 1000 / gap_ms, "frame_size": size})


@dataclass(frozen=True)
class Interval:
    """When the change took effect, in ns since the first byte of the batch was sent."""

    low_ns: float
    high_ns: float

    @property
    def middle_ns(self) -> float:
        """Half-way."""
        return (self.low_ns + self.high_ns) / 2


def appeared(reception: Reception, start_ns: int) -> Interval | None:
    """The interval in which probes began to be forwarded, None if none was.

    The probe before the first that was forwarded met the old table after it left; the first itself had met the new one when it arrived.
    """
    if len(reception.arrivals_seq) == 0:
        return None
    earliest = int(reception.arrivals_seq.argmin())
    first = int(reception.arrivals_seq[earliest])
    low = float(reception.departures_ns[first - 1] - start_ns) if first > 0 else 0.0
    return _interval(low, float(reception.arrivals_rx_ns[earliest] - start_ns))


def vanished(reception: Reception, start_ns: int) -> Interval | None:
    """The interval in which probes ceased to be forwarded, None if they never did.

    The last probe that was forwarded met the old table after it left; the next one met the new table no later than one path delay
    after it left, taken as the median or that of its predecessor, whichever is longer.
    """
    if len(reception.arrivals_seq) == 0:
        return None
    latest = int(reception.arrivals_seq.argmax())
    last = int(reception.arrivals_seq[latest])
    if last + 1 >= len(reception.departures_ns):
        return None
    of_last = float(reception.arrivals_rx_ns[latest] - reception.arrivals_tx_ns[latest])
    path_ns = max(of_last, reception.latency.percentile_ns(50) or 0.0)
    low = float(reception.departures_ns[last] - start_ns)
    return _interval(low, float(reception.departures_ns[last + 1] - start_ns) + path_ns)


def _interval(low_ns: float, high_ns: float) -> Interval:
    """No change takes effect before its first byte was sent."""
    return Interval(max(0.0, low_ns), max(0.0, high_ns))


@dataclass(frozen=True)
class Batch:
    """What a benchmark does: `play` sends the batch, probes are expected at port index `sink`, and `find` reads the interval.

    `ends` says whether the change shows in probes that appear (False) or that vanish (True).
    """

    play: Callable[[FlowSet], Play]
    sink: int
    ends: bool = False


def measure(testbed: Testbed, params: FlowTableParams, n: int, batch: Batch, probe_pps: float) -> Trial:
    """One trial: probes, warm-up, the batch, its effect. The caller has prepared the table."""
    flows = probe_flows(n)
    seconds = _warm_up_s(params, probe_pps) + params.timeout_s
    stream = Stream(
        flows.last(),
        params.frame_size,
        Schedule.cbr(probe_pps),
        source=0,
        sink=batch.sink,
        record=int(probe_pps * seconds) + 1,
    )
    transmission = testbed.transmit(stream, drain_s=SETTLE_S)
    try:
        testbed.clock.sleep(_warm_up_s(params, probe_pps))
        result = batch.play(flows).wait(params.timeout_s)
        effective = not result.errors and _await_effect(testbed, transmission, params, batch, probe_pps)
    finally:
        transmission.stop()
    reception = transmission.reception(0)
    found = vanished if batch.ends else appeared
    interval = found(reception, result.first_byte_ns or 0) if effective else None
    if params.until_probe and interval is not None:
        interval = Interval(interval.high_ns, interval.high_ns)
    trial = _trial(n, result, reception, transmission.tester, interval, probe_pps)
    return replace(trial, checks=(*trial.checks, *shared_core(testbed)))


def _warm_up_s(params: FlowTableParams, probe_pps: float) -> float:
    """How long probes run before the batch: with `until_probe` whole gaps, so that it leaves together with a probe."""
    seconds = max(params.warm_up_s, 20 / probe_pps)
    return math.ceil(seconds * probe_pps) / probe_pps if params.until_probe else seconds


def _await_effect(
    testbed: Testbed, transmission: Transmission, params: FlowTableParams, batch: Batch, probe_pps: float
) -> bool:
    """Wait until the change shows in the probes; whether it did in time."""
    deadline = testbed.clock.now() + int(params.timeout_s * 1e9)
    quiet = max(SETTLE_S, 20 / probe_pps)
    before = transmission.progress().received[0]
    while testbed.clock.now() < deadline:
        testbed.clock.sleep(quiet)
        after = transmission.progress().received[0]
        if (batch.ends and after == before) or (not batch.ends and after > 0):
            return True
        before = after
    return False


def _trial(
    n: int,
    result: PlayResult,
    reception: Reception,
    tester: TesterState,
    interval: Interval | None,
    probe_pps: float,
) -> Trial:
    start = result.first_byte_ns or 0
    barrier_ns = None if result.barrier_ns is None else result.barrier_ns - start
    middle = None if interval is None else interval.middle_ns
    metrics: dict[str, Scalar] = {
        "activation_us": _us(middle),
        "activation_low_us": None if interval is None else _us(interval.low_ns),
        "activation_high_us": None if interval is None else _us(interval.high_ns),
        "barrier_us": _us(barrier_ns),
        "per_entry_us": None if middle is None else _us(middle / n),
        "barrier_lead_us": None if middle is None or barrier_ns is None else _us(middle - barrier_ns),
        "probe_pps": probe_pps,
        "sent": reception.sent,
        "received": reception.received,
        "path_delay_us": _us(reception.latency.percentile_ns(50)),
        "rejected": len(result.errors),
        "timestamps": tester.timestamps,
    }
    found = (
        checks.tester_loss(tester),
        checks.quantised(1e9 / probe_pps, middle),
        checks.channel(result),
        checks.noisy_host(tester, middle),
    )
    return Trial(metrics, {}, found)


def with_check(trial: Trial, check: Check, **metrics: Scalar) -> Trial:
    """The trial with one more check and further metrics."""
    return Trial({**trial.metrics, **metrics}, trial.samples, (*trial.checks, check))


class ProbeRate:
    """Chooses the probe rate: a pilot at a modest rate finds the duration, then 100 probes shall fit into it."""

    def __init__(self) -> None:
        self._chosen: dict[int, float] = {}

    def choose(self, params: FlowTableParams, n: int, pilot: Callable[[float], Trial]) -> float:
        """The rate for `n` entries; the pilot runs once per number of entries."""
        if params.probe_pps is not None:
            return params.probe_pps
        if n not in self._chosen:
            found = number(pilot(min(PILOT_PPS, params.max_probe_pps)).metrics["activation_us"])
            wanted = PILOT_PPS if not found else 1.1 * 100 * 1e6 / found
            self._chosen[n] = min(params.max_probe_pps, max(1000.0, wanted))
        return self._chosen[n]


def install_filled(testbed: Testbed, flows: FlowSet, actions: str) -> tuple[int, int]:
    """Install one entry per flow; how many the switch held before and holds now."""
    before = testbed.control.count_entries()
    testbed.control.install(Entry(flows, actions, in_port=testbed.ports[0].of_port))
    return before, testbed.control.count_entries()


def must_hold(before: int, after: int, n: int) -> None:
    """A batch can only be changed if it is there. Raises TrialError."""
    if after - before != n:
        raise TrialError(
            f"the switch holds {after - before} of the {n} entries that this trial needs",
            advice="Choose fewer entries: --set BENCHMARK.entries=[1,10].",
        )


def _us(ns: float | None) -> float | None:
    return None if ns is None else ns / 1000


class FlowTableBenchmark(Benchmark[FlowTableParams]):
    """Base of flow_add, flow_mod and flow_delete: one point per number of entries, `once` is the procedure."""

    params_type: ClassVar[type[Params]] = FlowTableParams
    quick: ClassVar[Mapping[str, Any]] = {
        "entries": (1, 100),
        "warm_up_s": 1.0,
        "repeats": 10,
        "timeout_s": 10.0,
    }
    charts = CHARTS

    def __init__(self) -> None:
        self._rate = ProbeRate()

    @abstractmethod
    def once(self, testbed: Testbed, params: FlowTableParams, n: int, probe_pps: float) -> Trial:
        """Prepare the table, send the batch of n, find its effect."""

    def points(self, params: FlowTableParams, earlier: Sequence[TrialRecord]) -> Iterator[Point]:
        """Numbers of entries."""
        for n in params.entries:
            yield Point(entries=n)

    def trial(self, testbed: Testbed, params: FlowTableParams, point: Point) -> Trial:
        """A pilot if this number of entries had none, then the measurement."""
        n = point.integer("entries")
        params = params.of_entries(n)
        rate = self._rate.choose(params, n, lambda pps: self.once(testbed, params, n, pps))
        return self.once(testbed, params, n, rate)

    def figures(self, params: FlowTableParams, trials: Sequence[TrialRecord]) -> list[Figure]:
        """Times per number of entries, and the slope."""
        return table_figures(trials)

    def seconds(self, params: FlowTableParams, point: Point) -> float:
        """Warm-up and a little, and a second per 10 000 entries."""
        return params.warm_up_s + 0.2 + point.integer("entries") / 10_000
