"""Axes that chart kinds share: times read as µs, ms or s, whatever the scale; selections that do not catch the scroll wheel."""

from __future__ import annotations

import warnings
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


def sized(chart: Any, width: int, height: int, title: str = "") -> Any:
    """The chart with its size and, if there is one, its heading."""
    more: dict[str, Any] = {"title": title} if title else {}
    return chart.properties(width=width, height=height, **more)


def concat(charts: Sequence[Any], **shared: Any) -> Any:
    """Panels side by side (how many fit is decided where they are shown), with these scales in common."""
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message="Automatically deduplicated"
        )  # one selection serves all panels
        return alt.concat(*charts, columns=3).resolve_scale(**shared)


def finish(chart: Any, panel: int = 0) -> dict[str, Any]:
    """The chart as an object: without the schema's address (nothing is fetched), with the theme.

    `panel`: width of a panel with its axes, in pixels, so that a page can decide how many stand side by side.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message="Automatically deduplicated"
        )  # one selection serves all panels
        spec: dict[str, Any] = chart.to_dict()
    spec.pop("$schema", None)
    return spec | {"config": theme.config()} | ({"usermeta": {"panel": panel}} if panel else {})
