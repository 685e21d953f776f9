"""A comparison's tables as cells of text: what the terminal, Markdown and HTML print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flowgauge.compare.join import Line, Table
from flowgauge.compare.significance import MISSING_VALUE, Verdict
from flowgauge.compare.text import difference_text, missing_text, ratio_text, verdict_text
from flowgauge.fields import FIELDS, words
from flowgauge.report.format import figure_text, heading, scalar_text, superscript


@dataclass(frozen=True)
class Cell:
    """Text, footnote numbers, and whether it is a number (and so stands right)."""

    text: str
    marks: Sequence[int] = ()
    number: bool = True


@dataclass(frozen=True)
class Layout:
    """Which columns a table has.

    `present`: the runs that have any value in it; `verdicts`: the later runs that need a column for verdicts, because
    they differ between rows.
    """

    table: Table
    labels: Sequence[str]
    differences: bool
    present: frozenset[int]
    verdicts: frozenset[int]


def layout(table: Table, labels: Sequence[str], differences: bool = True) -> Layout:
    """The columns of a table; `differences` False leaves them out where room is scarce."""
    if words(table.figure):
        differences = False
    present = frozenset(n for n in range(len(labels)) if any(line.figures[n] for line in table.lines))
    judged = present - {0} if not words(table.figure) else ()
    verdicts = frozenset(n for n in judged if _reason(table, n) is None)
    return Layout(table, labels, differences, present, verdicts)


def _reason(table: Table, run: int) -> str | None:
    """Why no row says anything on significance, None when some row does or reasons vary."""
    found = {(line.against[run - 1].verdict, line.against[run - 1].reason) for line in table.lines}
    reasons = {reason for verdict, reason in found if verdict is Verdict.NONE} - {MISSING_VALUE}
    told = any(verdict is not Verdict.NONE for verdict, _ in found)
    return None if told or len(reasons) > 1 else next(iter(reasons), MISSING_VALUE)


def remarks(table: Table, labels: Sequence[str]) -> list[str]:
    """What concerns the whole table: why nothing is said on significance, points of one run alone."""
    told = list(table.remarks)
    for n in range(1, 1 if words(table.figure) else len(labels)):
        reason = _reason(table, n) if table.lines else None
        if reason and reason != MISSING_VALUE:
            told.append(f"{labels[n]}: no significance stated: {reason}")
    missing = missing_text(table, labels)
    return [*told, missing] if missing else told


def head(layout: Layout) -> list[Cell]:
    """Column headers: parameters, then per run its value, and against the first run difference, ratio and verdict."""
    cells = [Cell(heading(k, FIELDS[k].unit if k in FIELDS else ""), number=False) for k in layout.table.keys]
    for n, label in enumerate(layout.labels):
        if n not in layout.present:
            continue
        cells.append(Cell(label, layout.table.wide[n], number=not words(layout.table.figure)))
        if n:
            cells += [Cell("difference")] if layout.differences else []
            cells += [Cell("ratio")] if not words(layout.table.figure) else []
            cells += [Cell("verdict", number=False)] if n in layout.verdicts else []
    return cells


def body(layout: Layout) -> Iterator[list[Cell]]:
    """One list of cells per point, in the order of `head`."""
    for line in layout.table.lines:
        yield _cells(layout, line)


def marked(cell: Cell) -> str:
    """Text with its footnotes raised."""
    return cell.text + superscript(list(cell.marks))


def _cells(layout: Layout, line: Line) -> list[Cell]:
    cells = [Cell(scalar_text(line.point[k], k), number=False) for k in layout.table.keys]
    for n, figure in enumerate(line.figures):
        if n not in layout.present:
            continue
        cells.append(Cell(figure_text(figure), line.marks[n], number=not words(layout.table.figure)))
        if n:
            found = line.against[n - 1]
            cells += [Cell(difference_text(found, layout.table.figure))] if layout.differences else []
            cells += [Cell(ratio_text(found))] if not words(layout.table.figure) else []
            cells += [Cell(verdict_text(found), number=False)] if n in layout.verdicts else []
    return cells
