"""Delay bars, and beneath them loss and message count, against frame size: one panel per rate.

After the figures of the ALIEN deliverable (delay posts on the left axis, throughput and packets as lines on the right
one, one figure per rate). Loss and count have a strip of their own here, so that no axis carries two quantities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
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

WIDTH, BARS, STRIP, PANEL = 252, 150, 62, 385
WIDE = 440
"""Width of a panel that stands alone."""


def build(run: Run, benchmark: str, chart: DelayLoss) -> Chart | None:
    """The chart, None when the run has no delays or no such parameters."""
    keys = [chart.x, *([chart.panel] if chart.panel else [])]
    found, section = rows(run, benchmark, keys, (*chart.delay, chart.loss))
    delay = first_with_values(found, chart.delay)
    if delay is None:
        return None
    names = {"delay": delay, "mean": chart.mean, "upper": chart.upper, "loss": chart.loss}
    names["count"] = first_with_values(found, chart.count) or ""
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
    """Panels of these records.

    `names`: which figure is the `delay`, `mean`, `upper`, `loss` and `count`; records hold its value as `v_delay` and its
    text as `t_delay`. With `series` (values of the records' "run") bars stand side by side, in a colour per run.
    """
    tops = [r[k] for r in records for k in ("v_delay", "v_mean", "v_upper") if r.get(k) is not None]
    log = wants_log(tops, chart.y_scale)
    low, high = axes.decades(tops, room=1.15) if log else (0.0, max(tops, default=1.0) * 1.12 or 1.0)
    scale = alt.Scale(type="log" if log else "linear", domain=[low, high], nice=False)
    drawing = _Drawing(chart, names, tuple(series), sorted({r[chart.x] for r in records}), scale, low)
    found = sorted({r[chart.panel] for r in records}) if chart.panel else [None]
    heads = [panel_title(chart.panel, value) if chart.panel else "" for value in found]
    title, caption = chart.title or _title(chart, names), _caption(names, log, len(found) > 1)
    if len(found) == 1:
        return Chart(title, caption, axes.finish(drawing.panel(records, heads[0], WIDE), drawing.data))
    made = [
        drawing.panel([r for r in records if r[str(chart.panel)] == value], head, WIDTH)
        for value, head in zip(found, heads, strict=True)
    ]
    return Chart(title, caption, axes.panels(made, drawing.data, PANEL))


@dataclass(frozen=True)
class _Drawing:
    """What all panels of a chart have in common. `low` is where bars begin."""

    chart: DelayLoss
    names: Mapping[str, str]
    series: tuple[str, ...]
    sizes: list[Any]
    scale: alt.Scale
    low: float
    data: axes.Datasets = field(default_factory=axes.Datasets)

    def panel(self, records: list[Record], title: str, width: int) -> Any:
        """Bars, and the strip beneath if there is loss or a count."""
        data = self.data.add(records)
        largest = max((r.get("v_count") or 0 for r in records), default=0)
        strips: dict[str, Callable[[alt.Chart], alt.Chart]] = {
            "loss": self._loss,
            "count": partial(self._count, largest=largest),
        }
        bars = axes.sized(self._bars(data), width, BARS, title)
        found = [make(self._base(data, labels=True)) for k, make in strips.items() if k in self.names]
        if not found:
            return bars
        strip = alt.layer(*found).resolve_scale(y="independent")
        return alt.vconcat(bars, axes.sized(strip, width, STRIP), spacing=8)

    def _base(self, data: alt.NamedData, labels: bool) -> alt.Chart:
        axis = (
            alt.Axis(title=axis_title(self.chart.x))
            if labels
            else alt.Axis(labels=False, title=None, ticks=False)
        )
        scale = alt.Scale(domain=self.sizes, paddingInner=0.3)
        tips = [alt.Tooltip("run:N")] if self.series else []
        tips += [alt.Tooltip("place:N", title="point")]
        tips += [alt.Tooltip(f"t_{k}:N", title=header(n)) for k, n in self.names.items()]
        x = alt.X(f"{self.chart.x}:O", sort=self.sizes, scale=scale, axis=axis)
        base = alt.Chart(data)
        return base.encode(x=x, tooltip=[*tips, alt.Tooltip("checks:N", title="checks")])

    def _color(self) -> dict[str, Any]:
        """Colours of runs in a comparison."""
        if not self.series:
            return {}
        scale = alt.Scale(domain=list(self.series), range=theme.SERIES[: len(self.series)])
        return {"color": alt.Color("run:N", sort=list(self.series), scale=scale, title=None)}

    def _y(self, name: str) -> alt.Y:
        axis = axes.value_axis(self.names["delay"], "us", **axes.ticks(self.scale))
        return alt.Y(f"{name}:Q", scale=self.scale, axis=axis)

    def _bars(self, data: alt.NamedData) -> Any:
        offset: dict[str, Any] = (
            {"xOffset": alt.XOffset("run:N", sort=list(self.series))} if self.series else {}
        )
        plain: dict[str, Any] = {} if self.series else {"color": "var(--bar)"}
        size: dict[str, Any] = {} if self.series else {"size": 14}
        base = self._base(data, labels=False).encode(**offset)
        bars = base.mark_bar(cornerRadiusEnd=1.5, **plain).encode(
            y=self._y("v_delay"), y2=alt.datum(self.low)
        )
        layers = [bars.encode(**self._color())]
        if "upper" in self.names:
            rule = base.mark_rule(color="var(--ink)", strokeWidth=1, opacity=0.55)
            rule = rule.transform_filter("isValid(datum.v_upper) && isValid(datum.v_delay)")
            layers.append(rule.encode(y=self._y("v_delay"), y2="v_upper:Q"))
        if "mean" in self.names:
            tick = base.mark_tick(color="var(--ink)", thickness=2, **size).transform_filter(
                "isValid(datum.v_mean)"
            )
            layers.append(tick.encode(y=self._y("v_mean")))
        return alt.layer(*layers, *self._words(base))

    def _words(self, base: alt.Chart) -> list[alt.Chart]:
        """Footnote numbers above what they concern, and "none" where nothing was received."""
        flags = base.mark_text(color="var(--flag)", baseline="bottom", dy=-1, fontSize=14, fontWeight=600)
        flags = flags.transform_calculate(
            top="max(datum.v_delay || 0, datum.v_upper || 0, datum.v_mean || 0)"
        )
        flags = flags.transform_filter(f"datum.marks != '' && datum.top > {self.low}")
        none = base.mark_text(color="var(--muted)", baseline="bottom", text="none", fontSize=9, dy=-2)
        none = none.transform_filter("!isValid(datum.v_delay)").encode(y=alt.datum(self.low))
        return [flags.encode(y=self._y("top"), text="marks:N"), none]

    def _loss(self, base: alt.Chart) -> alt.Chart:
        plain: dict[str, Any] = {} if self.series else {"color": "var(--s2)"}
        title: dict[str, Any] = {} if self.series else {"titleColor": "var(--s2)"}
        axis = alt.Axis(title="loss", format="%", values=[0, 0.5, 1], **title)
        line: alt.Chart = base.mark_line(point=alt.OverlayMarkDef(size=34, **plain), strokeWidth=1.6, **plain)
        return line.encode(y=alt.Y("v_loss:Q", scale=alt.Scale(domain=[0, 1]), axis=axis), **self._color())

    def _count(self, base: alt.Chart, largest: float) -> alt.Chart:
        plain: dict[str, Any] = {} if self.series else {"color": "var(--s3)"}
        title: dict[str, Any] = {} if self.series else {"titleColor": "var(--s3)"}
        name = header(self.names["count"])
        axis = alt.Axis(title=name, labelExpr=axes.COUNT, tickCount=3, grid=False, orient="right", **title)
        scale = alt.Scale(domain=[0, 1.08 * largest or 10])
        points = alt.OverlayMarkDef(shape="square", size=26, **plain)
        line: alt.Chart = base.mark_line(point=points, strokeDash=[4, 3], strokeWidth=1.4, **plain)
        return line.encode(y=alt.Y("v_count:Q", scale=scale, axis=axis), **self._color())


def _title(chart: DelayLoss, names: Mapping[str, str]) -> str:
    loss = " and loss" if "loss" in names else ""
    return f"{header(names['delay']).capitalize()}{loss} against {header(chart.x)}"


def _caption(names: Mapping[str, str], log: bool, panels: bool) -> str:
    parts = [f"Bars: {header(names['delay'])}"]
    if "mean" in names:
        parts.append(f"tick: {header(names['mean'])}")
    if "upper" in names:
        parts.append(f"line up to {header(names['upper'])}")
    text = "; ".join(parts) + (" (logarithmic axis)." if log else ".")
    beneath = ["loss (solid, left)"] if "loss" in names else []
    beneath += [f"{header(names['count'])} frames (dashed, right)"] if "count" in names else []
    text += f" Beneath: {' and '.join(beneath)}." if beneath else ""
    if panels:
        text += " Delay axes are the same in all panels" + (
            "; counts have their own." if "count" in names else "."
        )
    return text + " Raised numbers refer to the reasons for caution above."
