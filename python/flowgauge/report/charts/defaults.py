"""Charts for a benchmark that declares none: what its figures and parameters suggest."""

from __future__ import annotations

from flowgauge.model import Figure
from flowgauge.report.charts.vocabulary import Cdf, Declaration, DelayLoss, Histogram, LineInterval
from flowgauge.report.rundata import Run

MOST_LINES = 4
"""Figures in one default chart; more would not be told apart."""


def defaults(run: Run, benchmark: str) -> list[Declaration]:
    """Charts that fit the figures: delay with loss where there are both, lines elsewhere, distributions if stored."""
    figures = [f for f in run.figures.get(benchmark, ()) if f.value is not None]
    varied = _varied(figures)
    found: list[Declaration] = []
    delays = any(f.name.startswith("delay_") for f in figures)
    panel = "rate_mbps" if "rate_mbps" in varied else None
    if delays and "frame_size" in varied:
        found.append(DelayLoss(kind="delay_loss", panel=panel))
    elif varied:
        found += _lines(figures, varied)
    if any(t.has_samples for t in run.trials_of(benchmark)):
        found += [Cdf(kind="cdf")] if varied else [Histogram(kind="histogram"), Cdf(kind="cdf")]
    return found


def _varied(figures: list[Figure]) -> list[str]:
    """Parameters with more than one value, in the order of the points."""
    values: dict[str, set[object]] = {}
    for figure in figures:
        for key, value in figure.at.items():
            values.setdefault(key, set()).add(value)
    return [key for key, found in values.items() if len(found) > 1]


def _lines(figures: list[Figure], varied: list[str]) -> list[Declaration]:
    numeric = [k for k in varied if all(isinstance(f.at.get(k, 0), (int, float)) for f in figures)]
    if not numeric:
        return []
    x = max(numeric, key=lambda k: len({f.at.get(k) for f in figures}))
    color = next((k for k in varied if k != x), None)
    by_unit: dict[str, dict[str, None]] = {}
    for figure in figures:
        if x in figure.at and figure.unit != "frames":
            per = " per " if figure.name.startswith("per_") else ""
            by_unit.setdefault(figure.unit + per, {})[figure.name] = None
    return [
        LineInterval(kind="line_interval", x=x, y=tuple(names)[: 1 if color else MOST_LINES], color=color)
        for names in by_unit.values()
    ]
