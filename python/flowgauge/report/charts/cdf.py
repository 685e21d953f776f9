"""Cumulative distributions of delays, from the histograms that trials keep."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from flowgauge.model import Point, TrialRecord
from flowgauge.report.charts import Chart, axes, theme
from flowgauge.report.charts.records import panel_title, wants_log
from flowgauge.report.charts.samples import merge
from flowgauge.report.charts.vocabulary import Cdf
from flowgauge.report.format import header, number_text, plural, unit_text
from flowgauge.report.rundata import Run

QUANTILES = np.concatenate([[0, 0.001, 0.005], np.linspace(0.01, 0.99, 99), [0.995, 0.999, 0.9999, 1]])
"""Where a cumulative curve is drawn: even steps, closer in the tails."""


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


def split(run: Run, benchmark: str, chart: Cdf) -> Cdf:
    """The chart with panels and curves by the parameters that vary: curves of all points together would say little."""
    found: dict[str, set[object]] = {}
    for trial in run.trials_of(benchmark):
        for key, value in trial.point.items():
            found.setdefault(key, set()).add(value)
    varied = [key for key, values in found.items() if len(values) > 1]
    panel = "rate_mbps" if "rate_mbps" in varied and len(varied) > 1 else None
    color = next((k for k in reversed(varied) if k != panel), None)
    return chart.model_copy(update={"panel": panel, "color": color})


def build(run: Run, benchmark: str, chart: Cdf) -> Chart | None:
    """Cumulative curves, None when no trial kept a histogram."""
    if chart.color is None and chart.panel is None:
        chart = split(run, benchmark, chart)
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
    caption = "Share of frames that took at most that long; all valid trials of a point together. "
    caption += axes.handling(len({r["series"] for r in records}))
    return Chart(chart.title or "Distribution of delays", caption, draw(records, chart))


def draw(records: list[dict[str, Any]], chart: Cdf) -> dict[str, Any]:
    """The chart of records with `us` and `share` (lists), `series`, `color`, `panel`."""
    series = list(dict.fromkeys(r["series"] for r in sorted(records, key=lambda r: _sortable(r["color"]))))
    delays = [us for r in records for us in r["us"]]
    drawing = _Drawing(series, axes.scale(delays, wants_log(delays), zero=False))
    panels = sorted({r["panel"] for r in records}, key=_sortable)
    if len(panels) == 1:
        return axes.finish(drawing.panel(records, 0, "", (620, 260)), drawing.data)
    made = [
        drawing.panel(
            [r for r in records if r["panel"] == value], n, panel_title(str(chart.panel), value), (270, 170)
        )
        for n, value in enumerate(panels)
    ]
    return axes.panels(made, drawing.data, 370)


@dataclass(frozen=True)
class _Drawing:
    """What all panels of a chart have in common."""

    series: list[str]
    scale: alt.Scale
    data: axes.Datasets = field(default_factory=axes.Datasets)
    pick: alt.Parameter = field(
        default_factory=lambda: alt.selection_point(fields=["series"], bind="legend", name="pick")
    )

    def panel(self, records: list[dict[str, Any]], index: int, title: str, size: tuple[int, int]) -> Any:
        """Curves, and points that can't be seen but carry the tooltips."""
        tips = [
            alt.Tooltip("series:N", title="curve"),
            alt.Tooltip("us:Q", title="delay (µs)", format=",.4~r"),
        ]
        tips += [alt.Tooltip("share:Q", title="share", format=".4~%"), alt.Tooltip("samples:N")]
        x_axis = alt.Axis(title="delay", labelExpr=axes.TIME, **axes.ticks(self.scale))
        y_axis = alt.Axis(title="share", format="%", tickCount=5)
        kept = self.data.add([{k: v for k, v in r.items() if k != "color"} for r in records])
        base = alt.Chart(kept).transform_flatten(["us", "share"])
        base = base.encode(
            x=alt.X("us:Q", scale=self.scale, axis=x_axis),
            y=alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), axis=y_axis),
            color=self._color(),
        )
        faded = alt.when(self.pick).then(alt.value(1)).otherwise(alt.value(0.1))
        line = base.mark_line(strokeWidth=1.6).encode(opacity=faded)
        dots = base.mark_point(filled=True, size=60).encode(opacity=alt.value(0), tooltip=tips)
        return axes.sized(
            alt.layer(line, dots.add_params(self.pick, axes.zoom(f"zoom{index}"))), *size, title
        )

    def _color(self) -> alt.Color:
        many = len(self.series) > 3
        colors = theme.ramp(len(self.series)) if many else theme.SERIES[: max(1, len(self.series))]
        legend = alt.Legend(title=None, columns=8, symbolType="stroke") if len(self.series) > 1 else None
        scale = alt.Scale(domain=self.series, range=colors)
        return alt.Color("series:N", sort=self.series, scale=scale, legend=legend)


def _at(point: Point, key: str | None) -> Any:
    return point.get(key) if key else None


def _sortable(value: Any) -> tuple[bool, Any]:
    return (not isinstance(value, (int, float)), value if isinstance(value, (int, float)) else str(value))


def _series(key: str | None, value: Any) -> str:
    if key is None:
        return "all"
    text = number_text(value) if isinstance(value, (int, float)) else str(value)
    unit = unit_text(axes.unit_of(key))
    return f"{text} {unit}" if unit else f"{header(key)} {text}"
