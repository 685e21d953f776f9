"""How often each delay occurred, all points of a benchmark together."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from flowgauge.report.charts import Chart, axes
from flowgauge.report.charts.records import wants_log
from flowgauge.report.charts.samples import merge
from flowgauge.report.charts.vocabulary import Histogram
from flowgauge.report.format import number_text, plural
from flowgauge.report.rundata import Run

BINS = 60


def build(run: Run, benchmark: str, chart: Histogram) -> Chart | None:
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
    data = axes.Datasets()
    scale = alt.Scale(type="log" if log else "linear", domain=[low, high], nice=False, zero=False)
    ticks: dict[str, Any] = {"values": axes.log_ticks(low, high)}
    x_axis = alt.Axis(title="delay", labelExpr=axes.TIME, **(ticks if log else {"tickCount": 8}))
    tips = [
        alt.Tooltip("from:Q", title="from (µs)", format=",.4~r"),
        alt.Tooltip("to:Q", title="to (µs)", format=",.4~r"),
    ]
    tips += [alt.Tooltip("count:Q", format=","), alt.Tooltip("share:Q", format=".3~%")]
    bars = (
        alt.Chart(data.add(records))
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
    place = alt.Chart(data.add(marks)).encode(x=alt.X("us:Q", scale=scale))
    rules = place.mark_rule(color="var(--ink)", strokeDash=[4, 3])
    names = place.mark_text(align="left", dx=4, baseline="top", color="var(--ink)", fontSize=11).encode(
        text="name:N", y=alt.value(0)
    )
    return axes.finish(alt.layer(bars, rules, names).properties(width=620, height=220), data)
