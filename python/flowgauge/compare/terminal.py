"""A comparison in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from flowgauge.compare import Comparison, rows
from flowgauge.compare.context import Difference
from flowgauge.compare.join import Group, Table
from flowgauge.compare.text import NOTHING_SHARED, note_text, outcome, title
from flowgauge.report.format import superscript, unit_text

MOST_DIFFERENCES = 20
"""Settings listed in the terminal; the other formats list all."""


def print_comparison(comparison: Comparison, console: Console | None = None) -> None:
    """Print a comparison."""
    console = console or Console()
    for part in render(comparison):
        console.print(part)


def render(comparison: Comparison) -> Iterator[RenderableType]:
    """What is printed, part by part."""
    labels = short_labels(comparison.labels)
    yield Text("Comparison", style="bold")
    for n, (short, label) in enumerate(zip(labels, comparison.labels, strict=True)):
        name = f"{short}: {label}" if short != label else label
        yield _bullet(name + (" (baseline)" if n == 0 else ""))
    if comparison.caveats:
        yield Text("Caveats", style="bold yellow")
        for caveat in comparison.caveats:
            yield _bullet(caveat)
    if comparison.differences:
        yield _differences(comparison.differences, labels)
    for n in range(1, len(labels)):
        text = outcome(comparison.groups, n)
        if text:
            yield Text.assemble((f"{labels[n]} against {labels[0]}: ", "bold"), text)
    if not comparison.groups:
        yield Text(NOTHING_SHARED, style="yellow")
    for group in comparison.groups:
        yield from _group(group, labels, comparison.labels)


def short_labels(labels: Sequence[str]) -> list[str]:
    """Letters for labels that are too long for a column header.

    >>> short_labels(["ovs", "published:alien/netfpga"])
    ['ovs', 'B']
    """
    return [label if len(label) <= 14 else chr(ord("A") + n % 26) for n, label in enumerate(labels)]


def _differences(found: Sequence[Difference], labels: Sequence[str]) -> RenderableType:
    table = RichTable(
        title="The runs differ in", title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0)
    )
    for head in ("", *labels):
        table.add_column(head, overflow="fold")
    for difference in found[:MOST_DIFFERENCES]:
        table.add_row(difference.key, *difference.values)
    if len(found) > MOST_DIFFERENCES:
        table.add_row(f"and {len(found) - MOST_DIFFERENCES} more", *("" for _ in labels))
    return table


def _group(group: Group, labels: Sequence[str], full: Sequence[str]) -> Iterator[RenderableType]:
    yield Text.assemble("\n", (group.benchmark, "bold cyan"))
    for table in group.tables:
        unit = f" ({unit_text(table.unit)})" if table.unit and not table.figure.endswith("_ratio") else ""
        yield Text.assemble((title(table), "bold"), unit)
        yield _table(table, labels)
        for text in rows.remarks(table, labels):
            yield Text(text, style="dim")
    for note in group.notes:
        yield Text.assemble((superscript([note.number]) + " ", "red"), note_text(note))


def _table(table: Table, labels: Sequence[str]) -> RenderableType:
    made = RichTable(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    layout = rows.layout(table, labels, differences=len(labels) == 2)
    for cell in rows.head(layout):
        made.add_column(_text(cell), justify="right" if cell.number else "left", overflow="fold")
    for line in rows.body(layout):
        made.add_row(*(_text(cell) for cell in line))
    return made


def _text(cell: rows.Cell) -> Text:
    style = "bold" if cell.text.startswith(("differ", "intervals apart")) else ""
    return Text(cell.text, style=style).append(superscript(list(cell.marks)), style="red")


def _bullet(text: str) -> RenderableType:
    return Padding(Text(f"- {text}"), (0, 0, 0, 2), expand=False)
