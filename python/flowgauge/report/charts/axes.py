"""Axes that chart kinds share: times read as µs, ms or s, whatever the scale; selections that do not catch the scroll wheel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor, log10
from typing import Any

import altair as alt

from flowgauge.fields import FIELDS
from flowgauge.report.charts import theme
from flowgauge.report.format import header, heading

TIME = (
    "datum.value == 0 ? '0' : abs(datum.value) >= 1e6 ? format(datum.value / 1e6, ',~g') + ' s' : abs(datum.value) >= 1e3"
    " ? format(datum.value / 1e3, ',~g') + ' ms' : format(datum.value, '~g') + ' µs'"
)
"""Vega expression of a label for a value in microseconds."""


COUNT = "datum.value == 0 ? '0' : format(datum.value, '~s')"
"""Vega expression of a label for a count or a rate: 0, 500, 20k, 1.5M."""


def unit_of(name: str) -> str:
    """Unit of a parameter or figure by the field table, "" when it has none."""
    known = FIELDS.get(name)
    return known.unit if known else ""


def value_axis(name: str, unit: str, **more: Any) -> alt.Axis:
    """The axis of a figure: ratios in percent, times with their unit at each label, everything else with SI prefixes."""
    if unit == "us":
        return alt.Axis(title=more.pop("title", header(name)), labelExpr=TIME, **more)
    if name.endswith("_ratio"):
        return alt.Axis(title=more.pop("title", header(name)), format="~%", **more)
    return alt.Axis(title=more.pop("title", heading(name, unit)), labelExpr=COUNT, **more)


def number_axis(name: str) -> alt.Axis:
    """The axis of a numeric parameter."""
    return alt.Axis(title=heading(name, unit_of(name)), format=",~r", tickCount=8)


def decades(values: Iterable[float | None], room: float = 1.0) -> tuple[float, float]:
    """Limits of a logarithmic axis: 1, 2 or 5 times a power of ten around the values; `room` widens them first.

    >>> decades([23, 870])
    (20.0, 1000.0)
    """
    known = [v for v in values if v is not None and v > 0]
    low, high = min(known) / room, max(known) * room
    steps = (1.0, 2.0, 5.0, 10.0)
    below, above = 10.0 ** floor(log10(low)), 10.0 ** floor(log10(high))
    return max(s * below for s in steps if s * below <= low * 1.0001), min(
        s * above for s in steps if s * above >= high * 0.9999
    )


def log_ticks(low: float, high: float) -> list[float]:
    """Labelled places of a logarithmic axis: powers of ten, with 2 and 5 between them when there is room.

    >>> log_ticks(20, 1000), log_ticks(1, 1e6)
    ([20.0, 50.0, 100.0, 200.0, 500.0, 1000.0], [1.0, 10.0, 100.0, 1000.0, 10000.0, 100000.0, 1000000.0])
    """
    steps = (1.0, 2.0, 5.0) if high / low <= 150 else (1.0,)
    exponents = range(floor(log10(low)) - 1, floor(log10(high)) + 2)
    return [v for e in exponents for s in steps if low * 0.999 <= (v := s * 10.0**e) <= high * 1.001]


def scale(values: Iterable[float | None], log: bool, zero: bool = True) -> alt.Scale:
    """A linear scale from zero, or a logarithmic one that ends at 1, 2 or 5 times a power of ten."""
    if log:
        return alt.Scale(type="log", domain=list(decades(values)), nice=False)
    return alt.Scale(type="linear", zero=zero, nice=True)


def ticks(scale: alt.Scale, count: int = 5) -> dict[str, Any]:
    """Axis options: labelled places of a logarithmic scale, about `count` even ones otherwise."""
    found = scale.to_dict()
    if found["type"] == "log" and "domain" in found:
        return {"values": log_ticks(*found["domain"])}
    return {"tickCount": count}


def zoom(name: str = "zoom") -> alt.Parameter:
    """Drag to move, Shift and wheel to zoom, double click to return: the plain wheel scrolls the page."""
    return alt.selection_interval(bind="scales", name=name, zoom="wheel![event.shiftKey]")


def handling(series: int) -> str:
    """How a reader handles a chart with that many series, for its caption."""
    legend = "Click the legend to single one out; " if series > 1 else ""
    text = legend + "drag to move, Shift and wheel to zoom, double click to return."
    return text[0].upper() + text[1:]


def sized(chart: Any, width: int, height: int, title: str = "") -> Any:
    """The chart with its size and, if there is one, its heading."""
    more: dict[str, Any] = {"title": title} if title else {}
    return chart.properties(width=width, height=height, **more)


class Datasets:
    """The data of one chart, kept by name: layers share them, and building a chart does not copy them."""

    def __init__(self) -> None:
        self.values: dict[str, list[dict[str, Any]]] = {}

    def add(self, records: list[dict[str, Any]]) -> alt.NamedData:
        """Keep records; the result stands for them in a chart."""
        name = f"data{len(self.values)}"
        self.values[name] = records
        return alt.NamedData(name=name)


def finish(chart: Any, data: Datasets) -> dict[str, Any]:
    """The chart as an object: with its data and the theme, without the schema's address (nothing is fetched)."""
    spec: dict[str, Any] = chart.to_dict()
    spec.pop("$schema", None)
    return spec | {"datasets": data.values, "config": theme.config()}


def panels(
    charts: Sequence[Any], data: Datasets, width: int, shared: Sequence[str] = ("color",)
) -> dict[str, Any]:
    """Charts side by side as one object, with these scales in common; selections of one name are one selection.

    `width` of a panel with its axes, in pixels, lets a page decide how many stand side by side. Put together here and not
    by Altair, whose `concat` copies every part several times.
    """
    params: dict[str, dict[str, Any]] = {}
    made = []
    for chart in charts:
        spec: dict[str, Any] = chart.to_dict()
        for param in spec.pop("params", ()):
            known = params.setdefault(param["name"], param | {"views": []})
            known["views"] += param.get("views", ())
        made.append({k: v for k, v in spec.items() if k not in ("$schema", "config")})
    return {
        "concat": made,
        "columns": 3,
        "resolve": {"scale": dict.fromkeys(shared, "shared")},
        "datasets": data.values,
        "config": theme.config(),
        "usermeta": {"panel": width},
    } | ({"params": list(params.values())} if params else {})
