"""Figures against a parameter, with their intervals: time over number of entries, rate over size, and the like."""

from __future__ import annotations

from typing import Any

import altair as alt

from flowgauge.report.charts import Chart, axes, theme
from flowgauge.report.charts.records import LOG_FROM, Record, base_record, panel_title, rows, shown, wants_log
from flowgauge.report.charts.vocabulary import LineInterval
from flowgauge.report.format import header, scalar_text
from flowgauge.report.rundata import Run

WIDTH, HEIGHT = 620, 280
PANEL_WIDTH, PANEL_HEIGHT = 270, 190
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
    return Chart(title, _caption(intervals), draw(records, chart, unit, ordered=bool(chart.color)))


def draw(records: list[Record], chart: LineInterval, unit: str, ordered: bool = False) -> dict[str, Any]:
    """The chart of records with `x`, `y`, `low`, `high`, `series`, `shown`."""
    series = list(dict.fromkeys(r["series"] for r in records))
    pick = alt.selection_point(fields=["series"], bind="legend", name="pick")
    panels = sorted({r[chart.panel] for r in records}) if chart.panel else [None]
    made = [_panel(records, chart, unit, series, ordered, n, panel, pick) for n, panel in enumerate(panels)]
    if not chart.panel:
        return axes.finish(made[0])
    return axes.finish(axes.concat(made, color="shared", shape="shared"), panel=370)


def _panel(
    records: list[Record],
    chart: LineInterval,
    unit: str,
    series: list[str],
    ordered: bool,
    index: int,
    panel: Any,
    pick: alt.Parameter,
) -> Any:
    mine = [r for r in records if chart.panel is None or r[chart.panel] == panel]
    bounds = [r.get(k) for r in records for k in ("y", "low", "high")]
    x_log = wants_log([r[chart.x] for r in records], chart.x_scale, LOG_X_FROM)
    y_log = wants_log(bounds, chart.y_scale, LOG_Y_FROM if not x_log else LOG_FROM)
    y_scale = axes.scale(bounds, y_log)
    legend: Any = alt.Undefined if len(series) > 1 else None
    base = alt.Chart(alt.InlineData(values=mine)).encode(
        x=alt.X(
            f"{chart.x}:Q",
            scale=alt.Scale(type="log" if x_log else "linear", zero=not x_log, nice=False, padding=14),
            axis=axes.number_axis(chart.x),
        ),
        color=alt.Color("series:N", sort=series, title=None, scale=_range(series, ordered), legend=legend),
        opacity=alt.when(pick).then(alt.value(1)).otherwise(alt.value(0.12)),
    )
    axis = axes.value_axis(
        chart.y[0], unit, **({"title": _axis_title(chart, unit)} if len(chart.y) > 1 else {})
    )
    y = alt.Y("y:Q", scale=y_scale, axis=axis)
    tips = [alt.Tooltip("place:N", title="point"), alt.Tooltip("series:N", title="figure")]
    tips += [alt.Tooltip("shown:N", title="value"), alt.Tooltip("checks:N", title="checks")]
    shape = alt.Shape(
        "series:N",
        sort=series,
        title=None,
        scale=alt.Scale(domain=series, range=_shapes(series)),
        legend=legend,
    )
    layers: list[alt.Chart] = []
    if any(r.get("low") is not None for r in mine):
        valid = "isValid(datum.low) && isValid(datum.high)"
        ends = alt.Y("low:Q", scale=y_scale, axis=axis)
        layers.append(base.mark_area(fillOpacity=0.14).transform_filter(valid).encode(y=ends, y2="high:Q"))
        layers.append(base.mark_rule(strokeWidth=1.3).transform_filter(valid).encode(y=ends, y2="high:Q"))
    layers.append(base.mark_line(strokeWidth=1.6).encode(y=y))
    layers.append(
        base.mark_point(filled=True, size=52)
        .encode(y=y, shape=shape, tooltip=tips)
        .add_params(pick, axes.zoom(f"zoom{index}"))
    )
    flags = base.mark_text(baseline="bottom", dy=-5, fontSize=14, fontWeight=600).transform_filter(
        "datum.marks != ''"
    )
    layers.append(flags.encode(y=y, text="marks:N", color=alt.value("var(--flag)"), tooltip=tips))
    size = (PANEL_WIDTH, PANEL_HEIGHT) if chart.panel else (WIDTH, HEIGHT)
    return axes.sized(alt.layer(*layers), *size, panel_title(chart.panel, panel) if chart.panel else "")


def _range(series: list[str], ordered: bool) -> alt.Scale:
    colors = (
        theme.ramp(len(series))
        if ordered and len(series) > 3
        else [theme.SERIES[i % 6] for i in range(len(series))]
    )
    return alt.Scale(domain=series, range=colors)


def _shapes(series: list[str]) -> list[str]:
    return [theme.SHAPES[i % len(theme.SHAPES)] for i in range(len(series))]


def _axis_title(chart: LineInterval, unit: str) -> str:
    return "time" if unit == "us" else " / ".join(header(n) for n in chart.y)


def _joined(names: list[str]) -> str:
    text = names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
    return text[0].upper() + text[1:]


def _caption(intervals: set[str]) -> str:
    kinds = {
        "t": "95 % interval of the mean (Student's t)",
        "order": "95 % interval of the median (order statistics)",
        "range": "observed range (fewer than 6 trials)",
    }
    told = [kinds[k] for k in sorted(intervals) if k in kinds]
    text = f"Bands and bars: {'; '.join(told)}. " if told else ""
    return (
        text
        + "Click the legend to single out a line; drag to move, Shift and wheel to zoom, double click to return."
    )
