"""Flow add, to the limit: how many entries the switch holds, and how long an entry takes as the table fills."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from pydantic import Field

from flowgauge.analysis import checks
from flowgauge.benchmarks.activation import Entries, FlowTableBenchmark, FlowTableParams
from flowgauge.benchmarks.activation_figures import table_figures
from flowgauge.benchmarks.base import Params
from flowgauge.benchmarks.common import number
from flowgauge.benchmarks.flow_add import add_once
from flowgauge.errors import ReplyTimeoutError
from flowgauge.fields import FIELDS
from flowgauge.model import Figure, Point, Trial, TrialRecord
from flowgauge.testbed.interface import Testbed


class FlowAddMaxParams(FlowTableParams):
    """Parameters of flow_add_max."""

    entries: Entries = (20, 30, 40, 50, 60, 70, 80, 90, 100, 150, 200, 250, 300, 500, 750, 1000)
    cap: int = Field(1_000_000, ge=1, description="stop doubling here and report '>= cap'")
    repeats: int = Field(1, ge=1, description="trials per number of entries")


class FlowAddMax(FlowTableBenchmark):
    """The largest number of entries that the switch holds, and the time per entry over the number of entries.

    flow_add for the given numbers and on, doubling, until the switch refuses entries (TABLE_FULL), reads back fewer than were
    installed, takes longer than timeout_s for a batch, or the cap is reached. Source: ALIEN D5.3 IV, 1.2.1 (5), tables 1-6 and 1-12.
    """

    name: ClassVar[str] = "flow_add_max"
    params_type: ClassVar[type[Params]] = FlowAddMaxParams
    quick: ClassVar[dict[str, Any]] = {
        "entries": (20, 100, 1000),
        "cap": 4000,
        "warm_up_s": 1.0,
        "timeout_s": 20.0,
    }

    def points(self, params: FlowTableParams, earlier: Sequence[TrialRecord]) -> Iterator[Point]:
        """The given numbers, then doubled, as long as all entries are held."""
        assert isinstance(params, FlowAddMaxParams)
        n = 0
        for n in params.entries:
            if _full(earlier) or n > params.cap:
                return
            yield Point(entries=n)
        while n < params.cap and not _full(earlier):
            n = min(2 * n, params.cap)
            yield Point(entries=n)

    def once(self, testbed: Testbed, params: FlowTableParams, n: int, probe_pps: float) -> Trial:
        """See `flow_add.add_once`. A switch that doesn't get done in time has shown its limit."""
        try:
            return add_once(testbed, params, n, probe_pps)
        except ReplyTimeoutError:
            slow = checks.not_evaluated(
                "flow-rejected", f"{n} entries take longer than {params.timeout_s:g} s"
            )
            return Trial({"activation_us": None, "barrier_us": None, "held": None}, {}, (slow,))

    def figures(self, params: FlowTableParams, trials: Sequence[TrialRecord]) -> list[Figure]:
        """The limit, and times per number of entries."""
        held = [
            int(h) for t in trials if t.status == "ok" and (h := number(t.metrics.get("held"))) is not None
        ]
        if not held:
            return table_figures(trials)
        most = max(held)
        note = f">= {most}: {_end(params, trials)}, not the table's end"
        if _refused(trials):
            note = "the table was full"
        limit = Figure("max_entries", float(most), FIELDS["max_entries"].unit, count=len(held), note=note)
        return [limit, *table_figures(trials)]


def _full(trials: Sequence[TrialRecord]) -> bool:
    """Whether more entries need not be tried: the table was full, a batch took too long, or a trial broke."""
    return _refused(trials) or bool(_slow(trials)) or any(t.status == "failed" for t in trials)


def _refused(trials: Sequence[TrialRecord]) -> bool:
    """Whether the switch held fewer entries than it was sent."""
    held = ((t, number(t.metrics.get("held"))) for t in trials if t.status == "ok")
    return any(h is not None and h < t.point.integer("entries") for t, h in held)


def _slow(trials: Sequence[TrialRecord]) -> list[int]:
    """The numbers of entries that took too long."""
    return [
        t.point.integer("entries")
        for t in trials
        if t.status == "ok" and number(t.metrics.get("held")) is None
    ]


def _end(params: FlowTableParams, trials: Sequence[TrialRecord]) -> str:
    """What ended the search before the table was full."""
    slow = _slow(trials)
    if slow:
        return f"{min(slow)} take longer than {params.timeout_s:g} s"
    return "a trial failed" if any(t.status == "failed" for t in trials) else "the cap was reached"
