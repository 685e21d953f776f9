"""Distributions of delays, from the histograms that trials keep: cumulative curves, and a histogram."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from flowgauge.model import Point, TrialRecord
from flowgauge.report.charts import Chart, axes, theme
from flowgauge.report.charts.records import panel_title, wants_log
from flowgauge.report.charts.vocabulary import Cdf, Histogram
from flowgauge.report.format import header, number_text, plural, unit_text
from flowgauge.report.rundata import Run

QUANTILES = np.concatenate([[0, 0.001, 0.005], np.linspace(0.01, 0.99, 99), [0.995, 0.999, 0.9999, 1]])
"""Where a cumulative curve is drawn: even steps, closer in the tails."""
BINS = 60


def merge(
    run: Run, trials: Iterable[TrialRecord], prefix: str
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Values (us, ascending) and counts of all valid trials together; empty arrays when none kept a histogram."""
    values, counts = [], []
    for trial in trials:
        if trial.status == "ok" and trial.has_samples:
            found = run.samples(trial.id)
            if f"{prefix}.value_ns" in found and f"{prefix}.count" in found:
                values.append(found[f"{prefix}.value_ns"])
                counts.append(found[f"{prefix}.count"])
    if not values:
        return np.empty(0), np.empty(0, dtype=np.int64)
    unique, inverse = np.unique(np.concatenate(values), return_inverse=True)
    total = np.zeros(len(unique), dtype=np.int64)
    np.add.at(total, inverse, np.concatenate(counts))
    kept = total > 0
    return unique[kept] / 1000.0, total[kept]


def curve(values: NDArray[np.float64], counts: NDArray[np.int64]) -> list[tuple[float, float]]:
    """(delay, share) at `QUANTILES`, without repeated points.

    >>> curve(np.array([10.0, 20.0]), np.array([1, 1]))[-1]
    (20.0, 1.0)
    """
    shares = np.cumsum(counts) / counts.sum()
    places = np.minimum(np.searchsorted(shares, QUANTILES - 1e-12), len(values) - 1)
    points: dict[tuple[float, float], None] = {(float(values[0]), 0.0): None}
    for place in places:
        points[(round(float(values[place]), 4), round(float(shares[place]), 6))] = None
    return list(points)


def build_cdf(run: Run, benchmark: str, chart: Cdf) -> Chart | None:
    """Cumulative curves, None when no trial kept a histogram."""
    groups: dict[tuple[Any, Any], list[TrialRecord]] = {}
    for trial in run.trials_of(benchmark):
        groups.setdefault((_at(trial.point, chart.panel), _at(trial.point, chart.color)), []).append(trial)
    records: list[dict[str, Any]] = []
    for (panel, color), trials in groups.items():
        values, counts = merge(run, trials, chart.samples)
        if len(values):
            series = _series(chart.color, color)
            tips = {
                "panel": panel,
                "color": color,
                "series": series,
                "samples": plural(int(counts.sum()), "sample"),
            }
            points = curve(values, counts)
            records.append(tips | {"us": [us for us, _ in points], "share": [share for _, share in points]})
    if not records:
        return None
    caption = (
        "Share of frames that took at most that long; all valid trials of a point together. Click the legend to single out "
        "a curve; drag to move, Shift and wheel to zoom, double click to return."
    )
    return Chart(chart.title or "Distribution of delays", caption, draw_cdf(records, chart))


def draw_cdf(records: list[dict[str, Any]], chart: Cdf) -> dict[str, Any]:
    """The chart of records with `us` and `share` (lists), `series`, `color`, `panel`."""
    series = list(dict.fromkeys(r["series"] for r in sorted(records, key=lambda r: _sortable(r["color"]))))
    pick = alt.selection_point(fields=["series"], bind="legend", name="pick")
    colors = theme.ramp(len(series)) if len(series) > 3 else theme.SERIES[: max(1, len(series))]
    legend = alt.Legend(title=None, columns=8, symbolType="stroke") if chart.color else None
    color = alt.Color("series:N", sort=series, scale=alt.Scale(domain=series, range=colors), legend=legend)
    delays = [us for r in records for us in r["us"]]
    log = wants_log(delays)
    x_scale = axes.scale(delays, log, zero=False)
    panels = sorted({r["panel"] for r in records}, key=_sortable)
    made = []
    for n, panel in enumerate(panels):
        mine = [r for r in records if r["panel"] == panel]
        tips = [
            alt.Tooltip("series:N", title="curve"),
            alt.Tooltip("us:Q", title="delay (µs)", format=",.4~r"),
        ]
        tips += [alt.Tooltip("share:Q", title="share", format=".4~%"), alt.Tooltip("samples:N")]
        data = alt.InlineData(values=[{k: v for k, v in r.items() if k != "color"} for r in mine])
        base = (
            alt.Chart(data)
            .transform_flatten(["us", "share"])
            .encode(
                x=alt.X(
                    "us:Q",
                    scale=x_scale,
                    axis=alt.Axis(title="delay", labelExpr=axes.TIME, **axes.ticks(x_scale)),
                ),
                y=alt.Y(
                    "share:Q",
                    scale=alt.Scale(domain=[0, 1]),
                    axis=alt.Axis(title="share", format="%", tickCount=5),
                ),
                color=color,
            )
        )
        faded = alt.when(pick).then(alt.value(1)).otherwise(alt.value(0.1))
        line = base.mark_line(strokeWidth=1.6, interpolate="linear").encode(opacity=faded)
        dots = (
            base.mark_point(filled=True, size=60)
            .encode(opacity=alt.value(0), tooltip=tips)
            .add_params(pick, axes.zoom(f"zoom{n}"))
        )
        size = (620, 260) if len(panels) == 1 else (270, 170)
        title = panel_title(chart.panel, panel) if chart.panel and panel is not None else ""
        made.append(axes.sized(alt.layer(line, dots), *size, title))
    if len(made) == 1:
        return axes.finish(made[0])
    return axes.finish(axes.concat(made, color="shared"), panel=370)


def build_histogram(run: Run, benchmark: str, chart: Histogram) -> Chart | None:
    """The histogram of all points together, None when no trial kept one."""
    values, counts = merge(run, run.trials_of(benchmark), chart.samples)
    if not len(values):
        return None
    log = wants_log([float(values[0]), float(values[-1])])
    low, high = float(values[0]) * 0.999, float(values[-1]) * 1.001
    edges = np.geomspace(low, high, BINS + 1) if log else np.linspace(low, high, BINS + 1)
    binned, _ = np.histogram(values, bins=edges, weights=counts)
    total = counts.sum()
    records = [
        {"from": round(float(a), 4), "to": round(float(b), 4), "count": int(n), "share": float(n / total)}
        for a, b, n in zip(edges[:-1], edges[1:], binned, strict=True)
        if n
    ]
    shares = np.cumsum(counts) / total
    marks: list[dict[str, Any]] = [
        {"us": float(values[np.searchsorted(shares, q - 1e-12)]), "name": name}
        for name, q in (("median", 0.5), ("p99", 0.99))
    ]
    caption = (
        f"{plural(int(total), 'sample')} in {BINS} {'logarithmic' if log else 'equal'} bins; median "
        f"{number_text(marks[0]['us'])} µs, p99 {number_text(marks[1]['us'])} µs."
    )
    return Chart(chart.title or "Histogram of delays", caption, _histogram(records, marks, log, low, high))


def _histogram(
    records: list[dict[str, Any]], marks: list[dict[str, Any]], log: bool, low: float, high: float
) -> dict[str, Any]:
    scale = alt.Scale(type="log" if log else "linear", domain=[low, high], nice=False, zero=False)
    x_axis = alt.Axis(title="delay", labelExpr=axes.TIME, tickCount=8)
    tips = [
        alt.Tooltip("from:Q", title="from (µs)", format=",.4~r"),
        alt.Tooltip("to:Q", title="to (µs)", format=",.4~r"),
    ]
    tips += [alt.Tooltip("count:Q", format=","), alt.Tooltip("share:Q", format=".3~%")]
    bars = (
        alt.Chart(alt.InlineData(values=records))
        .mark_rect(color="var(--bar)", stroke="var(--paper)", strokeWidth=0.5)
        .encode(
            x=alt.X("from:Q", scale=scale, axis=x_axis),
            x2="to:Q",
            y=alt.Y(
                "count:Q",
                axis=alt.Axis(title="samples", labelExpr=axes.COUNT, tickCount=5),
                scale=alt.Scale(zero=True),
            ),
            y2=alt.datum(0),
            tooltip=tips,
        )
    )
    place = alt.Chart(alt.InlineData(values=marks)).encode(x=alt.X("us:Q", scale=scale))
    rules = place.mark_rule(color="var(--ink)", strokeDash=[4, 3])
    names = place.mark_text(align="left", dx=4, baseline="top", color="var(--ink)", fontSize=11).encode(
        text="name:N", y=alt.value(0)
    )
    return axes.finish(alt.layer(bars, rules, names).properties(width=620, height=220))


def _at(point: Point, key: str | None) -> Any:
    return point.get(key) if key else None


def _sortable(value: Any) -> tuple[bool, Any]:
    return (not isinstance(value, (int, float)), value if isinstance(value, (int, float)) else str(value))


def _series(key: str | None, value: Any) -> str:
    if key is None:
        return "all"
    unit = unit_text(axes.unit_of(key))
    return (
        f"{number_text(value) if isinstance(value, (int, float)) else value} {unit}".strip()
        if unit
        else (f"{header(key)} {value}")
    )
