"""Flow add, to the limit: how many entries the switch holds, and how long an entry takes as the table fills."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from pydantic import Field

from flowgauge.benchmarks.activation import Entries, FlowTableBenchmark, FlowTableParams, table_figures
from flowgauge.benchmarks.base import Params
from flowgauge.benchmarks.common import number
from flowgauge.benchmarks.flow_add import add_once
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
    installed, or the cap is reached. Source: ALIEN D5.3 IV, 1.2.1 (5), tables 1-6 and 1-12.
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
        """See `flow_add.add_once`."""
        return add_once(testbed, params, n, probe_pps)

    def figures(self, params: FlowTableParams, trials: Sequence[TrialRecord]) -> list[Figure]:
        """The limit, and times per number of entries."""
        held = [
            int(h) for t in trials if t.status == "ok" and (h := number(t.metrics.get("held"))) is not None
        ]
        if not held:
            return table_figures(trials)
        most, full = max(held), _full(trials)
        note = "the table was full" if full else f">= {most}: the cap was reached, not the table's end"
        limit = Figure("max_entries", float(most), FIELDS["max_entries"].unit, count=len(held), note=note)
        return [limit, *table_figures(trials)]


def _full(trials: Sequence[TrialRecord]) -> bool:
    """Whether a trial found the table full, or broke."""
    return any(
        t.status == "failed"
        or (t.status == "ok" and (number(t.metrics.get("held")) or 0) < t.point.integer("entries"))
        for t in trials
    )
