"""Tables in the terminal: per benchmark the figures of each point, and beneath them the reasons for caution.

A table that is wider than the terminal is broken into several, each with the parameters in front; nothing is cut off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from flowgauge.fields import FIELDS, words
from flowgauge.model import Figure
from flowgauge.report import summary
from flowgauge.report.explain import explain
from flowgauge.report.format import (
    figure_text,
    header,
    plural,
    point_text,
    scalar_text,
    superscript,
    unit_text,
)
from flowgauge.report.rundata import Run, load_run
from flowgauge.report.tables import Failure, Finding, Row, Section, Table, sections


def print_run(run_dir: Path | str | Run, console: Console | None = None) -> None:
    """Print the tables of a run. Raises RunDirectoryError when it is none."""
    run = run_dir if isinstance(run_dir, Run) else load_run(run_dir)
    console = console or Console()
    for part in render(run, console.width):
        console.print(part)


def render(run: Run, width: int) -> Iterator[RenderableType]:
    """What is printed, part by part, for a terminal of that many columns."""
    yield Text(summary.title(run), style="bold")
    yield Text(summary.paragraph(run))
    if run.published:
        yield Text("Known defects:", style="yellow")
        for defect in run.published.get("defects") or ():
            yield _bullet(str(defect))
    found = sections(run)
    notes = (run.published or {}).get("notes") or {}
    for section in found:
        yield Text()
        yield Text(section.benchmark, style="bold cyan")
        for table in section.tables:
            yield from table_parts(table, width)
        if not section.tables:
            yield Text("no figures: no trial was completed", style="dim")
        for point, text in section.evidence:
            yield Text.assemble("\n", (point_text(point), "bold"))
            yield Padding(Text(text), (0, 0, 0, 2), expand=False)
        for failure in section.failures:
            yield _failure(failure)
        for finding in section.findings:
            yield _finding(finding, section, notes)
    for skipped in run.document.get("skipped") or ():
        yield Text.assemble(
            "\n", (f"{skipped.get('benchmark')}: not measured: ", "yellow"), str(skipped.get("reason"))
        )
    if not found:
        yield Text("Nothing was measured.", style="dim")


def table_parts(table: Table, width: int) -> Iterator[RenderableType]:
    """A table, in as many pieces as the width asks for."""
    if not table.keys:
        yield from _singles(table)
        return
    cells = {name: [_cell(row, name) for row in table.rows] for name in table.names}
    keys = [_key_column(table, n, key) for n, key in enumerate(table.keys)]
    room = width - sum(_width(head, texts) + 2 for head, texts in keys)
    details = [row.detail for row in table.rows] if table.details else None
    for names in _pieces(table, cells, room):
        last = table.names[-1] in names
        yield _piece(keys, [(_head(n, table.units[n]), cells[n]) for n in names], details if last else None)
    if table.marks:
        yield Text(f"{superscript(table.marks)} concerns the whole table", style="dim")


def _pieces(table: Table, cells: Mapping[str, list[Text]], room: int) -> Iterator[list[str]]:
    piece: list[str] = []
    used = 0
    for name in table.names:
        wide = _width(_head(name, table.units[name]), cells[name]) + 2
        if piece and used + wide > room:
            yield piece
            piece, used = [], 0
        piece.append(name)
        used += wide
    if piece:
        yield piece


def _piece(
    keys: list[tuple[Text, list[Text]]],
    columns: list[tuple[Text, list[Text]]],
    details: list[str] | None = None,
) -> RichTable:
    made = RichTable(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for head, _ in keys:
        made.add_column(head, no_wrap=True)
    for head, _ in columns:
        made.add_column(head, justify="left" if details is not None else "right", no_wrap=True)
    rows = list(zip(*(texts for _, texts in (*keys, *columns)), strict=True))
    if details is not None:
        made.add_column("detail", overflow="fold", ratio=1)
        rows = [(*row, Text(detail, style="dim")) for row, detail in zip(rows, details, strict=True)]
    for cells in rows:
        made.add_row(*cells)
    return made


def _key_column(table: Table, n: int, key: str) -> tuple[Text, list[Text]]:
    texts = []
    for row in table.rows:
        text = Text(scalar_text(row.point[key], key))
        if n == len(table.keys) - 1:
            text.append(superscript(row.marks), style="red")
        texts.append(text)
    return _head(key, FIELDS[key].unit if key in FIELDS else ""), texts


def _head(name: str, unit: str) -> Text:
    """Header above, unit beneath, so that columns stay narrow."""
    shown = "" if name.endswith("_ratio") else unit_text(unit)
    return Text.assemble(header(name), "\n", (shown, "dim not bold"))


def _cell(row: Row, name: str) -> Text:
    figure = row.cells.get(name)
    text = Text(figure_text(figure), style=_style(figure))
    return text.append(superscript(row.cell_marks.get(name, [])), style="red")


STYLES = {
    "passed": "green",
    "failed": "bold red",
    "refused": "yellow",
    "not applicable": "dim",
    "optional": "dim",
}
"""Of figures that are words."""


def _style(figure: Figure | None) -> str:
    if figure is None or figure.value is None:
        return "dim"
    return STYLES.get(words(figure.name).get(figure.value, ""), "")


def _width(head: Text, texts: list[Text]) -> int:
    return max(*(len(line) for line in head.plain.split("\n")), *(t.cell_len for t in texts), 0)


def _singles(table: Table) -> Iterator[RenderableType]:
    for row in table.rows:
        for name, figure in row.cells.items():
            unit = "" if name.endswith("_ratio") else f" {unit_text(figure.unit)}"
            text = Text.assemble(f"{header(name)}: ", (figure_text(figure), "bold"), unit.rstrip())
            text.append(superscript([*row.marks, *row.cell_marks.get(name, [])]), style="red")
            yield text.append(f" ({figure.note})", style="dim") if figure.note else text


def _finding(finding: Finding, section: Section, notes: Mapping[str, str]) -> RenderableType:
    known = explain(finding.name, notes)
    head = Text.assemble((superscript([finding.number]) + " ", "red"), (finding.name, "red"), ": ")
    first_point, first_texts = next(iter(finding.places.items()))
    head.append(first_texts[0] if first_texts else (known.meaning if known else "failed"))
    others = len(finding.places) - 1
    where = point_text(first_point)
    if others and where:
        where += f", and {plural(others, 'more point')}"
    lines: list[RenderableType] = [head]
    if where:
        lines.append(Padding(Text(f"at {where}", style="dim"), (0, 0, 0, 2), expand=False))
    advice = finding.advice or (known.remedy if known else "")
    if advice:
        lines.append(Padding(Text(f"→ {advice}"), (0, 0, 0, 2), expand=False))
    return Group(*lines)


def _failure(failure: Failure) -> Text:
    points = "; ".join(
        filter(None, (point_text({k: v for k, v in p.items() if v is not None}) for p in failure.points[:3]))
    )
    more = f" and {len(failure.points) - 3} more points" if len(failure.points) > 3 else ""
    head = (f"{plural(failure.count, 'trial')} {failure.status}: ", "red")
    return Text.assemble(head, failure.reason, (f" (at {points}{more})" if points else "", "dim"))


def _bullet(text: str) -> RenderableType:
    return Padding(Text(f"- {text}"), (0, 0, 0, 2), expand=False)
