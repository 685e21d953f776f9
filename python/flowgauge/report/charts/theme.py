"""Colours and proportions of all charts. Colours are CSS variables, so that one chart serves light, dark and print.

Series colours keep apart for readers with colour deficiencies (after Okabe and Ito) and stand at least 3:1 against
their background; series differ by shape or dash as well.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

LIGHT: Mapping[str, str] = {
    "--s1": "#2f6fb0", "--s2": "#c2500f", "--s3": "#0f7d5f", "--s4": "#a0508c", "--s5": "#8a6a00", "--s6": "#4b5563",
    "--q1": "#9db4d6", "--q2": "#7f9dca", "--q3": "#6487bd", "--q4": "#4c71ae", "--q5": "#385b9b", "--q6": "#284784",
    "--q7": "#1b3469", "--q8": "#10224b",
    "--bar": "#8fb3d9", "--bar-edge": "#2f6fb0", "--ink": "#1c2430", "--muted": "#5a6675", "--grid": "#e3e7ec",
    "--paper": "#ffffff", "--flag": "#b3261e",
}  # fmt: skip
DARK: Mapping[str, str] = {
    "--s1": "#6fb1f2", "--s2": "#f39a5c", "--s3": "#4fc7a1", "--s4": "#dd94c9", "--s5": "#dfbf4a", "--s6": "#aab4c0",
    "--q1": "#46618f", "--q2": "#5475a8", "--q3": "#648abf", "--q4": "#78a0d3", "--q5": "#8fb5e2", "--q6": "#a8c9ee",
    "--q7": "#c3dcf6", "--q8": "#e0eefc",
    "--bar": "#375f8c", "--bar-edge": "#6fb1f2", "--ink": "#e6eaf0", "--muted": "#a3adba", "--grid": "#2c3542",
    "--paper": "#151b23", "--flag": "#ff8a80",
}  # fmt: skip

SERIES = [f"var(--s{n})" for n in range(1, 7)]
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def ramp(count: int) -> list[str]:
    """That many ordered colours, evenly taken from the sequential ramp.

    >>> ramp(3)
    ['var(--q1)', 'var(--q5)', 'var(--q8)']
    """
    if count <= 1:
        return ["var(--q5)"]
    return [f"var(--q{1 + int(i * 7 / (count - 1) + 0.5)})" for i in range(count)]


def config() -> dict[str, Any]:
    """The Vega-Lite configuration of every chart."""
    text: dict[str, Any] = {"labelColor": "var(--muted)", "titleColor": "var(--muted)", "labelFontSize": 11}
    return {
        "font": FONT,
        "background": "transparent",
        "view": {"stroke": None},
        "axis": text | {
            "titleFontSize": 11, "titleFontWeight": "normal", "domainColor": "var(--muted)", "tickColor": "var(--muted)",
            "gridColor": "var(--grid)", "labelOverlap": True, "titlePadding": 6, "tickSize": 4,
        },
        "axisX": {"grid": False, "labelAngle": 0},
        "legend": text | {
            "titleFontSize": 11, "titleFontWeight": "normal", "orient": "top", "direction": "horizontal", "titleOrient": "left",
            "symbolSize": 90, "offset": 6, "columnPadding": 14, "labelLimit": 320,
        },
        "title": {"color": "var(--ink)", "fontSize": 12, "fontWeight": 600, "anchor": "start", "offset": 8},
        "header": {"labelColor": "var(--ink)", "titleColor": "var(--muted)"},
        "concat": {"spacing": 26},
        "bar": {"color": "var(--bar)"},
        "point": {"filled": True, "size": 46},
        "range": {"category": SERIES},
    }  # fmt: skip


def resolve(spec: Mapping[str, Any], colors: Mapping[str, str] = LIGHT) -> dict[str, Any]:
    """The chart with its colour names replaced by colours, for renderers that know no CSS."""
    text = json.dumps(spec)
    for name, color in colors.items():
        text = text.replace(f"var({name})", color)
    found: dict[str, Any] = json.loads(text)
    return found
