"""The page that sets published tables beside simulated ones, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flowgauge.fields import FIELDS
from flowgauge.published.alien import DEFECTS
from flowgauge.report.format import heading, number_text, scalar_text
from flowgauge.reproduction.judge import Cell, Result, Row
from flowgauge.reproduction.tables import LIMIT

HEAD = """# ALIEN's tables, reproduced

ALIEN's switches are gone; their tables are printed (`published:alien`). Here each table stands beside what Flowgauge measures on a
*model* of the device (`flowgauge models show netfpga`, `ezappliance`) with the very benchmarks that measure real switches, and with
the flaws of the source's procedure, which are options: `flowgauge run alien-as-published --dut sim:netfpga`.

A model has at most 15 parameters over all tables. They were fitted to the **odd** rows (`tools/fit_alien.py`); the **even** rows judge
them. A row's deviation is that of the first figure of its table; a table's is the median of the absolute deviations of its judged rows.
Rows whose notes say that they show something else than the device (unpaced, overload_ramp, value_suspect, size_shifted, label_mismatch,
table_conflict, ratio_mismatch) are neither fitted nor judged, and listed apart.

This page is written by `tools/reproduction.py`; a test compares it with a new run.
"""

DEFECTS_HEAD = """
## What is known to be wrong with the source, and how it is reproduced

| defect | option |
|---|---|
| Load labels are about 1000 times too high, gaps are cut to whole milliseconds | `alien_gaps` |
| Flow-add times are whole gaps between two probes | `probes`, `until_probe` |
| Probes that miss go to the controller while entries are installed | `punt` |
| The last frame is not awaited: every ratio is (n-1)/n (Table 1-2) | `await_last = false` |
| 1 Mbit is 1024 * 1024 bit | `binary_mbit`, part of `alien_gaps` |
"""

COLOURS = ((0.05, "#1a7f37"), (0.10, "#4d7c0f"), (0.25, "#b45309"), (float("inf"), "#b91c1c"))
"""Deviation up to -> colour."""


def render(results: Sequence[Result]) -> str:
    """The whole page."""
    parts = [HEAD, "\n".join(_summary(results)), DEFECTS_HEAD, *(f"- {text}" for text in DEFECTS)]
    parts += ["\n".join(_table(result)) for result in results]
    return "\n".join(parts) + "\n"


def _summary(results: Sequence[Result]) -> Iterator[str]:
    yield "| table | benchmark | model | median deviation | judged figure | judged rows | left out |"
    yield "|---|---|---|--:|---|--:|--:|"
    for result in results:
        table, out = result.table, sum(r.role == "left out" for r in result.rows)
        yield (
            f"| [{table.number}](#{_anchor(result)}) | {table.benchmark} | {table.model} | "
            f"{_coloured(result.median_deviation(), sign=False)} | {table.figures[0].title} | {len(result.judged())} | {out} |"
        )
    yield f"\nThe limit is {LIMIT:.0%}."


def _anchor(result: Result) -> str:
    text = _title(result).lower().replace(":", "").replace(",", "")
    return text.replace(" ", "-")


def _title(result: Result) -> str:
    return f"Table {result.table.number}: {result.table.title}"


def _table(result: Result) -> Iterator[str]:
    table = result.table
    yield f"\n## {_title(result)}\n"
    yield f"{table.text}\n"
    shown = [
        f"{figure.title} {deviation:.1%}"
        for n, figure in enumerate(table.figures)
        if (deviation := result.median_deviation(n)) is not None
    ]
    yield f"Median deviation of the judged rows: {', '.join(shown)}.\n"
    keys = list(result.rows[0].point)
    apart = [row for row in result.rows if row.role == "left out"]
    yield from _rows(result, keys, [row for row in result.rows if row.role != "left out"])
    if apart:
        yield "\nLeft out:\n"
        yield from _rows(result, keys, apart)


def _rows(result: Result, keys: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    names = [heading(k, FIELDS[k].unit if k in FIELDS else "") for k in keys]
    for figure in result.table.figures:
        unit = f", {figure.unit}" if figure.unit else ""
        names += [f"{figure.title}{unit}: printed", "simulated", "deviation"]
    yield "| row | " + " | ".join([*names, "row is", "notes"]) + " |"
    yield "|--:|" + "--:|" * len(names) + "---|---|"
    for row in rows:
        cells = [scalar_text(row.point[k], k) for k in keys]
        for cell in row.cells:
            cells += [_number(cell.printed), _number(cell.simulated), _deviation(cell)]
        yield f"| {row.number} | " + " | ".join([*cells, row.role, ", ".join(_notes(row))]) + " |"


def _notes(row: Row) -> list[str]:
    """Those that do not hold for the whole table."""
    return [n for n in row.notes if n not in ("load_label_1000x", "ratio_artefact", "probe_quantised")]


def _deviation(cell: Cell) -> str:
    return _coloured(cell.deviation) if cell.deviation is not None else ""


def _coloured(deviation: float | None, *, sign: bool = True) -> str:
    if deviation is None:
        return ""
    colour = next(c for limit, c in COLOURS if abs(deviation) <= limit)
    text = f"{deviation:+.1%}" if sign else f"{deviation:.1%}"
    return f'<span style="color:{colour}">{text}</span>'


def _number(value: float | None) -> str:
    return "" if value is None else number_text(value)
