"""Intervals cover what they say, and degrade to ranges when there is too little."""

import numpy as np
import pytest

from flowgauge.analysis import statistics


def test_mean_matches_a_table_of_students_t() -> None:
    e = statistics.mean([1, 2, 3, 4, 5, 6])
    half = 2.5706 * np.std([1, 2, 3, 4, 5, 6], ddof=1) / np.sqrt(6)
    assert e.value == 3.5
    assert e.low == pytest.approx(3.5 - half, rel=1e-4)
    assert (e.interval, e.count) == ("t", 6)


def test_fewer_than_six_give_a_range_and_one_gives_nothing() -> None:
    assert statistics.median([3, 1, 2]).interval == "range"
    assert statistics.median([3, 1, 2]).low == 1
    assert statistics.mean([7.0]).interval == "none"
    assert statistics.mean([None]).value is None


@pytest.mark.parametrize("n", [6, 10, 30])
@pytest.mark.parametrize("estimator", [statistics.mean, statistics.median])
def test_intervals_cover_the_truth_in_at_least_93_percent(n: int, estimator) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(n)
    hits = sum(e.low <= 0 <= e.high for e in (estimator(list(rng.normal(size=n))) for _ in range(1500)))
    assert hits / 1500 > 0.93


def test_order_statistic_ranks_are_the_textbooks() -> None:
    # 95 % intervals for a median: n=6 takes the extremes, n=10 the 2nd from each end, n=30 the 10th.
    for n, low in ((6, 0), (10, 1), (30, 9)):
        assert statistics.median(list(range(n))).low == low


def test_line_finds_slope_and_refuses_what_is_no_line() -> None:
    fitted = statistics.line([1, 2, 3, 4], [3, 5, 7, 9])
    assert fitted is not None
    assert fitted.slope.value == pytest.approx(2)
    assert fitted.intercept.value == pytest.approx(1)
    assert statistics.line([1, 1, 1], [1, 2, 3]) is None
    assert statistics.line([1, 2], [1, 2]) is None
