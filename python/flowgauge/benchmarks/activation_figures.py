"""What trials of the flow-table benchmarks amount to: times per number of entries with their intervals, and slopes."""

from __future__ import annotations

from collections.abc import Sequence

from flowgauge.analysis import statistics
from flowgauge.benchmarks.common import by_point, figure, number
from flowgauge.model import Figure, Point, TrialRecord

CHARTS = (
    {
        "kind": "line_interval",
        "x": "entries",
        "y": ["activation_us", "barrier_us"],
        "title": "Time to the data plane",
    },
    {"kind": "line_interval", "x": "entries", "y": ["per_entry_us"], "title": "Time per entry"},
)
"""How reports draw the flow-table benchmarks."""


def table_figures(trials: Sequence[TrialRecord]) -> list[Figure]:
    """Per number of entries: medians over trials; and the slope over the number of entries.

    A trial's change lies between two bounds (activation_low_us, activation_high_us), not in their middle: intervals of what
    depends on it cover where it may be.
    """
    figures = []
    usable = [t for t in trials if t.status == "ok" and t.metrics.get("activation_us") is not None]
    for at, group in by_point(usable).items():
        n = at.number("entries")
        known = [_bounds(t) for t in group]
        barrier = [number(t.metrics.get("barrier_us")) for t in group]
        path = [number(t.metrics.get("path_delay_us")) for t in group]
        found = {
            "activation_us": _between(known),
            "barrier_us": statistics.median(barrier),
            "per_entry_us": _between([tuple(v / n for v in b) for b in known]),
            "barrier_lead_us": _between(
                [
                    tuple(v - lead for v in b)
                    for b, lead in zip(known, barrier, strict=True)
                    if lead is not None
                ]
            ),
            "path_delay_us": _alone(statistics.median(path)),
        }
        figures += [figure(name, estimate, at, group) for name, estimate in found.items()]
    return figures + _slopes(usable)


def _alone(estimate: statistics.Estimate) -> statistics.Estimate:
    """Without an interval: the probes' delay at their rate says how the times were measured, and estimates nothing of the device."""
    return statistics.Estimate(estimate.value, None, None, "none", estimate.count)


def _bounds(trial: TrialRecord) -> tuple[float, ...]:
    """Middle, low and high of one trial; the middle where it has no bounds."""
    middle = number(trial.metrics["activation_us"])
    assert middle is not None
    low, high = (number(trial.metrics.get(f"activation_{end}_us")) for end in ("low", "high"))
    return (middle, middle if low is None else low, middle if high is None else high)


def _between(bounds: Sequence[tuple[float, ...]]) -> statistics.Estimate:
    middle, low, high = zip(*bounds, strict=True) if bounds else ((), (), ())
    return statistics.between(middle, low, high)


def _slopes(usable: Sequence[TrialRecord]) -> list[Figure]:
    """Time per entry, as the slope of a line over the number of entries."""
    figures = []
    for name, metric in (
        ("slope_us_per_entry", "activation_us"),
        ("barrier_slope_us_per_entry", "barrier_us"),
    ):
        there = [t for t in usable if number(t.metrics[metric]) is not None]
        x = [t.point.number("entries") for t in there]
        y = [number(t.metrics[metric]) or 0.0 for t in there]
        bounds = [_bounds(t) for t in there]
        off = [(b[2] - b[1]) / 2 for b in bounds] if metric == "activation_us" else []
        fitted = statistics.line(x, y, off) if there else None
        if fitted:
            figures.append(figure(name, fitted.slope, Point(), usable))
    return figures
