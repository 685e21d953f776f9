"""Feature tests as a benchmark, so that they run, resume and are reported like any other."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from pydantic import Field

from flowgauge.benchmarks.base import Benchmark, Params
from flowgauge.features.catalogue import get, select
from flowgauge.features.feature import Result
from flowgauge.features.run import run
from flowgauge.model import Figure, Point, Trial, TrialRecord
from flowgauge.testbed.interface import Testbed

RESULTS = {Result.FAILED: 0.0, Result.PASSED: 1.0, Result.REFUSED: 2.0, Result.NOT_APPLICABLE: 3.0}
"""The figure `result` as a number; `flowgauge.fields` has the words."""
WANTED = {"optional": 0.0, "required": 1.0}


class FeatureParams(Params):
    """Parameters of features."""

    only: tuple[str, ...] = Field(
        (), description="test only features whose name contains one of these; none: all"
    )
    seed: int = Field(1, ge=0, description="seed of what marks the frames")


class Features(Benchmark[FeatureParams]):
    """Does the switch support this at all, and rightly? One test for each feature of the OpenFlow specifications.

    Every frame of a test must behave; there is no tolerance. Source: SDN-Cert 3.1; OpenFlow 1.0.0, 1.3.5, 1.4.1, 1.5.1.
    """

    name: ClassVar[str] = "features"
    params_type: ClassVar[type[Params]] = FeatureParams

    def points(self, params: FeatureParams, earlier: Sequence[TrialRecord]) -> Iterator[Point]:
        """One for each feature."""
        for feature in select(params.only):
            yield Point(group=feature.group, feature=feature.name)

    def trial(self, testbed: Testbed, params: FeatureParams, point: Point) -> Trial:
        """Test one feature; what it shows stands in the log, too."""
        feature = get(f"{point['group']}.{point['feature']}")
        outcome = run(feature, testbed, params.seed)
        evidence = "\n".join(outcome.evidence)
        if evidence:
            print(
                f"{feature.id}: {outcome.result}: {outcome.detail}\n{evidence}", file=sys.stderr, flush=True
            )
        metrics = {
            "result": outcome.result.value,
            "wanted": feature.wanted(testbed.control.version),
            "detail": outcome.detail,
        }
        return Trial(metrics | ({"evidence": evidence} if evidence else {}))

    def figures(self, params: FeatureParams, trials: Sequence[TrialRecord]) -> list[Figure]:
        """Two for each feature: whether the specification demands it, and the result with its detail."""
        return [figure for trial in trials for figure in _figures(trial)]

    def seconds(self, params: FeatureParams, point: Point) -> float:
        """Some wait for timeouts."""
        return get(f"{point['group']}.{point['feature']}").seconds


def _figures(trial: TrialRecord) -> Iterator[Figure]:
    wanted: Any = trial.metrics.get("wanted")
    yield Figure("wanted", WANTED.get(wanted), "", trial.point, count=1)
    if trial.status == "ok":
        value = RESULTS[Result(str(trial.metrics["result"]))]
        yield Figure("result", value, "", trial.point, count=1, note=str(trial.metrics["detail"]) or None)
    else:
        yield Figure("result", None, "", trial.point, count=1, note=trial.reason)
