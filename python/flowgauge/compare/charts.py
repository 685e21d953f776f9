"""Charts of a comparison: the same kinds as in a report, with one colour per run."""

from __future__ import annotations

from typing import Any

from flowgauge.compare import Comparison
from flowgauge.compare.join import Group, Table
from flowgauge.report.charts import Chart, delay_loss, lines
from flowgauge.report.charts.vocabulary import DelayLoss, LineInterval
from flowgauge.report.format import figure_text, header, point_text, superscript, unit_text

DELAYS = ("delay_median_us", "delay_mean_us")
LINES = ("activation_us", "barrier_us", "per_entry_us")
MOST_LINES = 3


def build(comparison: Comparison, group: Group) -> list[Chart]:
    """Delay and loss panels where there are delays over frame sizes, lines over another number elsewhere."""
    by_name = {t.figure: t for t in group.tables if t.lines}
    delay = next((by_name[n] for n in DELAYS if n in by_name and "frame_size" in by_name[n].keys), None)
    if delay:
        return [_panels(comparison, delay, by_name.get("loss_ratio"))]
    found = [t for t in by_name.values() if t.keys and (t.figure in LINES or "entries" not in t.keys)]
    charts = [_lines(comparison, t) for t in found[:MOST_LINES]]
    return [c for c in charts if c is not None]


def _panels(comparison: Comparison, delay: Table, loss: Table | None) -> Chart:
    losses = {line.point: line.figures for line in loss.lines} if loss else {}
    names = {"delay": delay.figure} | ({"loss": "loss_ratio"} if loss else {})
    records: list[dict[str, Any]] = []
    for line in delay.lines:
        for n, (label, figure) in enumerate(zip(comparison.labels, line.figures, strict=True)):
            lost = losses.get(line.point, [None] * len(comparison.labels))[n]
            if figure is None:
                continue
            records.append(
                _base(label, line.point, line.marks[n])
                | {"v_delay": figure.value, "t_delay": f"{figure_text(figure)} {unit_text(figure.unit)}"}
                | {"v_loss": lost.value if lost else None, "t_loss": figure_text(lost)}
            )
    panel = "rate_mbps" if "rate_mbps" in delay.keys else None
    return delay_loss.panels(records, DelayLoss(kind="delay_loss", panel=panel), names, comparison.labels)


def _lines(comparison: Comparison, table: Table) -> Chart | None:
    x = next(
        (k for k in table.keys if all(isinstance(line.point[k], (int, float)) for line in table.lines)), None
    )
    if x is None or len({line.point[x] for line in table.lines}) < 2:
        return None
    records = [
        _base(label, line.point, line.marks[n])
        | {"series": label, "y": figure.value, "shown": f"{figure_text(figure)} {unit_text(figure.unit)}"}
        | ({"low": figure.low, "high": figure.high} if figure.interval != "none" else {})
        for line in table.lines
        for n, (label, figure) in enumerate(zip(comparison.labels, line.figures, strict=True))
        if figure is not None and figure.value is not None
    ]
    if not records:
        return None
    others = [k for k in table.keys if k != x]
    spec = lines.draw(records, LineInterval(kind="line_interval", x=x, y=(table.figure,)), table.unit)
    caption = (
        "One line per run."
        if not others
        else f"One line per run; points differ in {', '.join(map(header, others))} too."
    )
    title = f"{header(table.figure)} over {header(x)}"
    return Chart(title[0].upper() + title[1:], caption, spec)


def _base(label: str, point: Any, marks: list[int]) -> dict[str, Any]:
    return dict(point) | {
        "run": label,
        "place": point_text(point),
        "marks": superscript(marks),
        "checks": f"see {', '.join(map(str, marks))}" if marks else "none beside those of the whole table",
    }
