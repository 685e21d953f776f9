"""Figures against a parameter, with their intervals: time over number of entries, rate over size, and the like."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import altair as alt

from flowgauge.report.charts import Chart, axes, theme
from flowgauge.report.charts.records import LOG_FROM, Record, base_record, panel_title, rows, shown, wants_log
from flowgauge.report.charts.vocabulary import LineInterval
from flowgauge.report.format import header, scalar_text
from flowgauge.report.rundata import Run

WIDTH, HEIGHT = 620, 280
PANEL_WIDTH, PANEL_HEIGHT = 270, 190
FEWEST_FOR_BAND = 4
"""A band between fewer points would say something of what was not measured."""
LOG_X_FROM, LOG_Y_FROM = 300.0, 300.0
"""Lines are read for their slope, so that both axes stay linear for longer than those of bars."""


def build(run: Run, benchmark: str, chart: LineInterval) -> Chart | None:
    """The chart, None when no row has its parameters and one of its figures."""
    keys = [k for k in (chart.x, chart.color, chart.panel) if k]
    found, section = rows(run, benchmark, keys, chart.y)
    records: list[Record] = []
    unit = ""
    for row in found:
        for name in chart.y:
            figure = row.cells.get(name)
            if figure is None or figure.value is None:
                continue
            unit = figure.unit
            base = base_record(row, section, (name,))
            series = (
                header(name)
                if not chart.color
                else f"{header(chart.color)} {scalar_text(row.point[chart.color])}"
            )
            if chart.color and len(chart.y) > 1:
                series = f"{header(name)}, {series}"
            bounds = {"low": figure.low, "high": figure.high} if figure.interval != "none" else {}
            records.append(base | bounds | {"series": series, "y": figure.value, "shown": shown(row, name)})
    if not records:
        return None
    title = chart.title or f"{_joined([header(n) for n in chart.y])} over {header(chart.x)}"
    intervals = {f.interval for r in found for n, f in r.cells.items() if n in chart.y and f.low is not None}
    return Chart(
        title,
        _caption(intervals, len({r["series"] for r in records})),
        draw(records, chart, unit, ordered=bool(chart.color)),
    )


def draw(records: list[Record], chart: LineInterval, unit: str, ordered: bool = False) -> dict[str, Any]:
    """The chart of records with `x`, `y`, `low`, `high`, `series`, `shown`. `ordered`: series follow a parameter."""
    series = list(dict.fromkeys(r["series"] for r in records))
    bounds = [r.get(k) for r in records for k in ("y", "low", "high")]
    x_log = wants_log([r[chart.x] for r in records], chart.x_scale, LOG_X_FROM)
    y_log = wants_log(bounds, chart.y_scale, LOG_FROM if x_log else LOG_Y_FROM)
    drawing = _Drawing(chart, unit, series, ordered, x_log, axes.scale(bounds, y_log))
    if not chart.panel:
        return axes.finish(drawing.panel(records, 0, ""), drawing.data)
    made = [
        drawing.panel([r for r in records if r[chart.panel] == value], n, panel_title(chart.panel, value))
        for n, value in enumerate(sorted({r[chart.panel] for r in records}))
    ]
    return axes.panels(made, drawing.data, 370, shared=("color", "shape"))


@dataclass(frozen=True)
class _Drawing:
    """What all panels of a chart have in common."""

    chart: LineInterval
    unit: str
    series: list[str]
    ordered: bool
    x_log: bool
    y_scale: alt.Scale
    data: axes.Datasets = field(default_factory=axes.Datasets)
    pick: alt.Parameter = field(
        default_factory=lambda: alt.selection_point(fields=["series"], bind="legend", name="pick")
    )

    def panel(self, records: list[Record], index: int, title: str) -> Any:
        """Bands, lines, points and footnote numbers of these records."""
        size = (PANEL_WIDTH, PANEL_HEIGHT) if title else (WIDTH, HEIGHT)
        tips = [alt.Tooltip("place:N", title="point"), alt.Tooltip("series:N", title="figure")]
        tips += [alt.Tooltip("shown:N", title="value"), alt.Tooltip("checks:N", title="checks")]
        base = self._base(records)
        layers = (
            self._bands(base, len({r[self.chart.x] for r in records}))
            if any(r.get("low") is not None for r in records)
            else []
        )
        layers.append(base.mark_line(strokeWidth=1.6).encode(y=self._y("y")))
        points = base.mark_point(filled=True, size=52).encode(
            y=self._y("y"), shape=self._shape(), tooltip=tips
        )
        layers.append(points.add_params(self.pick, axes.zoom(f"zoom{index}")))
        flags = base.mark_text(baseline="bottom", dy=-5, fontSize=14, fontWeight=600)
        flags = flags.transform_filter("datum.marks != ''")
        layers.append(
            flags.encode(y=self._y("y"), text="marks:N", color=alt.value("var(--flag)"), tooltip=tips)
        )
        return axes.sized(alt.layer(*layers), *size, title)

    def _base(self, records: list[Record]) -> alt.Chart:
        kind: Any = "log" if self.x_log else "linear"
        x_scale = alt.Scale(type=kind, zero=not self.x_log, nice=False, padding=14)
        colors = theme.SERIES
        if self.ordered and len(self.series) > 3:
            colors = theme.ramp(len(self.series))
        scale = alt.Scale(
            domain=self.series, range=[colors[n % len(colors)] for n in range(len(self.series))]
        )
        base: alt.Chart = alt.Chart(self.data.add(records)).encode(
            x=alt.X(f"{self.chart.x}:Q", scale=x_scale, axis=axes.number_axis(self.chart.x)),
            color=alt.Color("series:N", sort=self.series, title=None, scale=scale, legend=self._legend()),
            opacity=alt.when(self.pick).then(alt.value(1)).otherwise(alt.value(0.12)),
        )
        return base

    def _bands(self, base: alt.Chart, points: int) -> list[alt.Chart]:
        found = base.transform_filter("isValid(datum.low) && isValid(datum.high)")
        rules = found.mark_rule(strokeWidth=1.3).encode(y=self._y("low"), y2="high:Q")
        if points < FEWEST_FOR_BAND:
            return [rules]
        return [found.mark_area(fillOpacity=0.14).encode(y=self._y("low"), y2="high:Q"), rules]

    def _y(self, name: str) -> alt.Y:
        several = {"title": "time" if self.unit == "us" else " / ".join(header(n) for n in self.chart.y)}
        more: dict[str, Any] = several if len(self.chart.y) > 1 else {}
        axis = axes.value_axis(self.chart.y[0], self.unit, **axes.ticks(self.y_scale), **more)
        return alt.Y(f"{name}:Q", scale=self.y_scale, axis=axis)

    def _shape(self) -> alt.Shape:
        shapes = [theme.SHAPES[n % len(theme.SHAPES)] for n in range(len(self.series))]
        scale = alt.Scale(domain=self.series, range=shapes)
        return alt.Shape("series:N", sort=self.series, title=None, scale=scale, legend=self._legend())

    def _legend(self) -> Any:
        return alt.Undefined if len(self.series) > 1 else None


def _joined(names: list[str]) -> str:
    text = names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
    return text[0].upper() + text[1:]


def _caption(intervals: set[str], series: int) -> str:
    kinds = {
        "t": "95 % interval of the mean (Student's t)",
        "order": "95 % interval of the median (order statistics)",
        "range": "observed range (fewer than 6 trials)",
    }
    told = [kinds[k] for k in sorted(intervals) if k in kinds]
    text = f"Bands and bars: {'; '.join(told)}. " if told else ""
    return text + axes.handling(series)
