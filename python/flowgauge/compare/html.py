"""A comparison as one self-contained page: charts side by side as in the ALIEN figures, tables beneath."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from flowgauge.compare import Comparison, rows
from flowgauge.compare.charts import build
from flowgauge.compare.join import Group, Table
from flowgauge.compare.text import NOTHING_SHARED, note_text, outcome, title
from flowgauge.report.format import plural, unit_text
from flowgauge.report.html.page import Page
from flowgauge.report.summary import joined

LONG = 10
"""Tables with more rows start closed."""


def render(comparison: Comparison) -> str:
    """The comparison as one HTML text."""
    labels = comparison.labels
    page = Page(f"{joined(labels[1:])} against {labels[0]}")
    page.add("caveats", "Caveats", _list(comparison.caveats))
    page.add("differences", "The runs differ in", _differences(comparison))
    for group in comparison.groups:
        page.add(group.benchmark, _name(group.benchmark), "".join(_group(page, comparison, group)))
    if not comparison.groups:
        page.add("nothing", "Nothing in common", f"<p>{NOTHING_SHARED}</p>")
    return page.html(_intro(comparison), escape(f"Baseline: {labels[0]}"))


def _intro(comparison: Comparison) -> str:
    labels = comparison.labels
    told = [(labels[n], outcome(comparison.groups, n)) for n in range(1, len(labels))]
    return "".join(f'<p class="lead"><strong>{escape(a)}</strong>: {escape(b)}</p>' for a, b in told if b)


def _name(benchmark: str) -> str:
    text = benchmark.replace("_", " ")
    return text[0].upper() + text[1:]


def _list(texts: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(t)}</li>' for t in texts)}</ul>" if texts else ""


def _differences(comparison: Comparison) -> str:
    if not comparison.differences:
        return ""
    head = "".join(f"<th scope=col>{escape(label)}</th>" for label in ("", *comparison.labels))
    lines = "".join(
        f'<tr><td class="key">{escape(d.key)}</td>'
        + "".join(f"<td>{escape(v)}</td>" for v in d.values)
        + "</tr>"
        for d in comparison.differences
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>'


def _group(page: Page, comparison: Comparison, group: Group) -> Iterator[str]:
    if group.notes:
        items = "".join(
            f'<li id="{escape(group.benchmark)}-{n.number}"><span class="number">{n.number}</span>{escape(note_text(n))} '
            f'<span class="where">At {plural(len(n.points), "point")}.</span></li>'
            for n in group.notes
        )
        yield f'<div class="findings"><h3>Reasons for caution</h3><ol>{items}</ol></div>'
    drawn = build(comparison, group)
    if drawn:
        yield f'<div class="charts">{"".join(page.chart(c) for c in drawn)}</div>'
    for table in group.tables:
        yield _table(table, comparison.labels, group.benchmark)


def _table(table: Table, labels: Sequence[str], anchor: str) -> str:
    unit = f" ({unit_text(table.unit)})" if table.unit and not table.figure.endswith("_ratio") else ""
    heading = escape(title(table) + unit)
    remarks = "".join(f'<p class="tablenote">{escape(t)}.</p>' for t in rows.remarks(table, labels))
    if not table.lines:
        return f"<h3>{heading}</h3>{remarks}"
    layout = rows.layout(table, labels)
    head = "".join(_cell(c, anchor, "th scope=col", "th") for c in rows.head(layout))
    lines = "".join(
        f"<tr>{''.join(_cell(c, anchor, 'td', 'td') for c in line)}</tr>" for line in rows.body(layout)
    )
    body = f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>{remarks}'
    if len(table.lines) > LONG:
        return f"<details><summary>{heading}: {len(table.lines)} points</summary>{body}</details>"
    return f"<h3>{heading}</h3>{body}"


def _cell(cell: rows.Cell, anchor: str, opening: str, closing: str) -> str:
    links = ",".join(f'<a href="#{escape(anchor)}-{n}">{n}</a>' for n in cell.marks)
    mark = f"<sup>{links}</sup>" if links else ""
    bold = " bad" if cell.text.startswith(("differ,", "intervals apart")) else ""
    kind = f' class="{"number" if cell.number else "key"}{bold}"'
    return f"<{opening}{kind}>{escape(cell.text)}{mark}</{closing}>"
