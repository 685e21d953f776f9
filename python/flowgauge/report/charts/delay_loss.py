"""Delay bars, and beneath them loss and message count, against frame size: one panel per rate.

After the figures of the ALIEN deliverable (delay posts on the left axis, throughput and packets as lines on the right
one, one figure per rate). Loss and count have a strip of their own here, so that no axis carries two quantities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from flowgauge.report.charts import Chart, axes, theme
from flowgauge.report.charts.records import (
    Record,
    axis_title,
    base_record,
    first_with_values,
    panel_title,
    rows,
    shown,
    value,
    wants_log,
)
from flowgauge.report.charts.vocabulary import DelayLoss
from flowgauge.report.format import header
from flowgauge.report.rundata import Run

WIDTH, BARS, STRIP = 252, 150, 62


def build(run: Run, benchmark: str, chart: DelayLoss) -> Chart | None:
    """The chart, None when the run has no delays or no such parameters."""
    keys = [chart.x, *([chart.panel] if chart.panel else [])]
    found, section = rows(run, benchmark, keys, (*chart.delay, chart.loss))
    delay = first_with_values(found, chart.delay)
    if delay is None:
        return None
    names = {"delay": delay, "mean": chart.mean, "upper": chart.upper, "loss": chart.loss}
    names |= {"count": first_with_values(found, chart.count) or ""}
    if delay == chart.mean:
        del names["mean"]
    names = {k: n for k, n in names.items() if any(value(r, n) is not None for r in found)}
    records = [
        base_record(row, section, names.values())
        | {f"v_{k}": value(row, n) for k, n in names.items()}
        | {f"t_{k}": shown(row, n) for k, n in names.items()}
        for row in found
    ]
    return panels(records, chart, names)


def panels(
    records: list[Record], chart: DelayLoss, names: Mapping[str, str], series: Sequence[str] = ()
) -> Chart:
    """Panels of these records; with `series` (values of their "run"), bars stand side by side per run."""
    tops = [r[k] for r in records for k in ("v_delay", "v_mean", "v_upper") if r.get(k) is not None]
    log = wants_log(tops, chart.y_scale)
    low, high = axes.decades(tops, room=1.15) if log else (0.0, max(tops, default=1.0) * 1.12 or 1.0)
    scale = alt.Scale(type="log" if log else "linear", domain=[low, high], nice=False)
    sizes = sorted({r[chart.x] for r in records})
    made = []
    for panel in sorted({r[chart.panel] for r in records}) if chart.panel else [None]:
        mine = [r for r in records if chart.panel is None or r[chart.panel] == panel]
        title = panel_title(chart.panel, panel) if chart.panel else ""
        made.append(_panel(mine, chart, names, scale, low, sizes, title, series))
    spec = axes.finish(axes.concat(made, color="shared"), panel=385)
    return Chart(chart.title or _title(chart, names), _caption(names, log, bool(chart.panel)), spec)


def _panel(
    records: list[Record],
    chart: DelayLoss,
    names: Mapping[str, str],
    scale: alt.Scale,
    low: float,
    sizes: list[Any],
    title: str,
    series: Sequence[str],
) -> alt.VConcatChart:
    bars = _bars(records, chart, names, scale, low, sizes, series)
    strip = _strip(records, chart, names, sizes, series)
    return alt.vconcat(
        axes.sized(bars, WIDTH, BARS, title),
        axes.sized(strip, WIDTH, STRIP),
        spacing=8,
    )


def _tips(names: Mapping[str, str]) -> list[alt.Tooltip]:
    tips = [alt.Tooltip("place:N", title="point")]
    tips += [alt.Tooltip(f"t_{k}:N", title=header(n)) for k, n in names.items()]
    return [*tips, alt.Tooltip("checks:N", title="checks")]


def _x(chart: DelayLoss, sizes: list[Any], labels: bool) -> alt.X:
    axis = alt.Axis(title=axis_title(chart.x)) if labels else alt.Axis(labels=False, title=None, ticks=False)
    return alt.X(f"{chart.x}:O", sort=sizes, scale=alt.Scale(domain=sizes, paddingInner=0.3), axis=axis)


def _bars(
    records: list[Record],
    chart: DelayLoss,
    names: Mapping[str, str],
    scale: alt.Scale,
    low: float,
    sizes: list[Any],
    series: Sequence[str],
) -> Any:
    offset: dict[str, Any] = {"xOffset": alt.XOffset("run:N", sort=list(series))} if series else {}
    color: dict[str, Any] = {"color": run_color(series)} if series else {}
    tips = _tips(names) if not series else [alt.Tooltip("run:N"), *_tips(names)]
    base = alt.Chart(alt.InlineData(values=records)).encode(x=_x(chart, sizes, labels=False), **offset)
    y = alt.Y("v_delay:Q", scale=scale, axis=axes.value_axis(names["delay"], "us", **axes.ticks(scale)))
    width: dict[str, Any] = {} if series else {"size": 14}
    look: dict[str, Any] = {} if series else {"color": "var(--bar)"}
    bar = base.mark_bar(**look, cornerRadiusEnd=1.5).encode(y=y, y2=alt.datum(low), tooltip=tips, **color)
    layers: list[alt.Chart] = [bar]
    if "upper" in names and any(r.get("v_upper") is not None for r in records):
        layers.append(
            base.mark_rule(color="var(--ink)", strokeWidth=1, opacity=0.55)
            .transform_filter("isValid(datum.v_upper) && isValid(datum.v_delay)")
            .encode(y=alt.Y("v_delay:Q", scale=scale), y2="v_upper:Q", tooltip=tips)
        )
    if "mean" in names and any(r.get("v_mean") is not None for r in records):
        layers.append(
            base.mark_tick(color="var(--ink)", thickness=2, **width)
            .transform_filter("isValid(datum.v_mean)")
            .encode(y=alt.Y("v_mean:Q", scale=scale), tooltip=tips)
        )
    flags = base.mark_text(
        color="var(--flag)", baseline="bottom", dy=-1, fontSize=14, fontWeight=600, clip=False
    )
    top = alt.Y("top:Q", scale=scale)
    layers.append(
        flags.transform_calculate(top="max(datum.v_delay || 0, datum.v_upper || 0, datum.v_mean || 0)")
        .transform_filter(f"datum.marks != '' && datum.top > {low}")
        .encode(y=top, text="marks:N", tooltip=tips)
    )
    layers.append(
        base.mark_text(color="var(--muted)", baseline="bottom", text="none", fontSize=9, dy=-2)
        .transform_filter("!isValid(datum.v_delay)")
        .encode(y=alt.datum(low), tooltip=tips)
    )
    return alt.layer(*layers)


def run_color(series: Sequence[str]) -> alt.Color:
    """Colours of runs in a comparison."""
    return alt.Color(
        "run:N", sort=list(series), scale=alt.Scale(domain=list(series), range=theme.SERIES), title="run"
    )


def _strip(
    records: list[Record], chart: DelayLoss, names: Mapping[str, str], sizes: list[Any], series: Sequence[str]
) -> Any:
    tips = _tips(names) if not series else [alt.Tooltip("run:N"), *_tips(names)]
    base = alt.Chart(alt.InlineData(values=records)).encode(x=_x(chart, sizes, labels=True), tooltip=tips)
    loss_axis = alt.Axis(title="loss", titleColor="var(--s2)", format="%", values=[0, 0.5, 1])
    loss_y = alt.Y("v_loss:Q", scale=alt.Scale(domain=[0, 1]), axis=loss_axis)
    group: dict[str, Any] = {"color": run_color(series)} if series else {}
    plain: dict[str, Any] = {} if series else {"color": "var(--s2)"}
    loss = base.mark_line(point=alt.OverlayMarkDef(size=34, **plain), strokeWidth=1.6, **plain).encode(
        y=loss_y, **group
    )
    if "count" not in names:
        return alt.layer(loss)
    plain = {} if series else {"color": "var(--s3)"}
    count_axis = alt.Axis(
        title=header(names["count"]), titleColor="var(--s3)", labelExpr=axes.COUNT, tickCount=3, grid=False
    )
    count_y = alt.Y(
        "v_count:Q",
        scale=alt.Scale(domain=[0, 1.08 * max((r.get("v_count") or 0 for r in records), default=0) or 1]),
        axis=count_axis,
    )
    count = base.mark_line(
        point=alt.OverlayMarkDef(shape="square", size=26, **plain),
        strokeDash=[4, 3],
        strokeWidth=1.4,
        **plain,
    ).encode(y=count_y, **group)
    return alt.layer(loss, count).resolve_scale(y="independent")


def _title(chart: DelayLoss, names: Mapping[str, str]) -> str:
    return f"{header(names['delay']).capitalize()} and loss against {header(chart.x)}"


def _caption(names: Mapping[str, str], log: bool, panels: bool) -> str:
    parts = [f"Bars: {header(names['delay'])}"]
    if "mean" in names:
        parts.append(f"tick: {header(names['mean'])}")
    if "upper" in names:
        parts.append(f"line up to {header(names['upper'])}")
    text = "; ".join(parts) + (" (logarithmic axis)." if log else ".")
    text += " Beneath: loss (solid, left)"
    text += f" and {header(names['count'])} frames (dashed, right)." if "count" in names else "."
    if panels:
        text += " Delay axes are the same in all panels; counts have their own."
    return text + " Raised numbers refer to the reasons for caution above."
