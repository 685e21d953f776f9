"""A comparison as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from flowgauge.compare import Comparison, rows
from flowgauge.compare.join import Group
from flowgauge.compare.text import NOTHING_SHARED, note_text, outcome, title
from flowgauge.report.format import superscript, unit_text
from flowgauge.report.markdown import grid


def render(comparison: Comparison) -> str:
    """The comparison as one Markdown text."""
    return "\n".join(_lines(comparison)).rstrip() + "\n"


def _lines(comparison: Comparison) -> Iterator[str]:
    labels = comparison.labels
    yield from (f"# {' against '.join((*labels[1:], labels[0]))}", "")
    if comparison.caveats:
        yield from ("## Caveats", "", *(f"- {c}" for c in comparison.caveats), "")
    if comparison.differences:
        yield from ("## The runs differ in", "")
        yield from grid(["", *labels], ([d.key, *d.values] for d in comparison.differences), 1 + len(labels))
        yield ""
    for n in range(1, len(labels)):
        text = outcome(comparison.groups, n)
        if text:
            yield from (f"**{labels[n]} against {labels[0]}**: {text}", "")
    if not comparison.groups:
        yield NOTHING_SHARED
    for group in comparison.groups:
        yield from _group(group, labels)


def _group(group: Group, labels: list[str]) -> Iterator[str]:
    yield from (f"## {group.benchmark}", "")
    for table in group.tables:
        unit = f" ({unit_text(table.unit)})" if table.unit and not table.figure.endswith("_ratio") else ""
        yield from (f"### {title(table)}{unit}", "")
        if table.lines:
            layout = rows.layout(table, labels)
            head = [rows.marked(c) for c in rows.head(layout)]
            yield from grid(
                head, ([rows.marked(c) for c in line] for line in rows.body(layout)), len(table.keys)
            )
            yield ""
        for text in rows.remarks(table, labels):
            yield from (text + ".", "")
    for note in group.notes:
        yield f"- {superscript([note.number])} {note_text(note)}"
    if group.notes:
        yield ""
