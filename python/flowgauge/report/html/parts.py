"""Pieces of a page: tables, findings, facts. All text is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from flowgauge.fields import FIELDS
from flowgauge.report.explain import explain
from flowgauge.report.format import (
    MISSING,
    header,
    interval_text,
    meaning,
    plural,
    point_text,
    scalar_text,
    unit_text,
)
from flowgauge.report.summary import flatten
from flowgauge.report.tables import Failure, Finding, Row, Section, Table

LONG = 14
"""Tables with more rows start closed; charts show the same figures."""
MOST_PLACES = 40
"""Places of a finding that are listed one by one."""


def figures_table(table: Table, section: str) -> str:
    """A table of figures; long ones start closed, figures of the benchmark as a whole stand in a line."""
    if not table.keys:
        return _singles(table, section)
    head = "".join(_head(key, FIELDS[key].unit if key in FIELDS else "", "") for key in table.keys)
    head += "".join(
        _head(name, "" if name.endswith("_ratio") else table.units[name], "number") for name in table.names
    )
    rows, before = "", None
    for row in table.rows:
        rows += _row(row, table, section, before)
        before = row
    body = f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    notes = _table_notes(table, section)
    if len(table.rows) <= LONG:
        return body + notes
    return f"<details><summary>Table of all {len(table.rows)} points</summary>{body}{notes}</details>"


def _singles(table: Table, section: str) -> str:
    items = ""
    for row in table.rows:
        for name, figure in row.cells.items():
            marks = [*row.marks, *row.cell_marks.get(name, ())]
            unit = (
                ""
                if name.endswith("_ratio") or not figure.unit
                else f' <span class="unit">{escape(unit_text(figure.unit))}</span>'
            )
            interval = (
                f' <span class="interval">{escape(interval_text(figure))}</span>'
                if interval_text(figure)
                else ""
            )
            note = f"<p>{escape(figure.note)}</p>" if figure.note else ""
            items += (
                f'<div><dt title="{escape(meaning(name))}">{escape(header(name))}</dt>'
                f"<dd>{escape(scalar_text(figure.value, name))}{unit}{interval}{_sup(marks, section)}</dd>{note}</div>"
            )
    return f'<dl class="singles">{items}</dl>'


def _head(name: str, unit: str, kind: str) -> str:
    title = f' title="{escape(meaning(name))}"' if meaning(name) else ""
    sub = f'<span class="unit">{escape(unit_text(unit))}</span>' if unit else ""
    return f'<th class="{kind}" scope="col"{title}>{escape(header(name))}{sub}</th>'


def _row(row: Row, table: Table, section: str, before: Row | None) -> str:
    cells = ""
    same = before is not None
    for n, key in enumerate(table.keys):
        text = escape(scalar_text(row.point[key], key))
        same = same and before is not None and before.point[key] == row.point[key]
        again = " again" if same and n < len(table.keys) - 1 else ""
        mark = _sup(row.marks, section) if n == len(table.keys) - 1 else ""
        cells += f'<td class="key{again}">{text}{mark}</td>'
    for name in table.names:
        cells += _cell(row, name, section, mark_here=not table.keys and name == table.names[0])
    group = (
        before is not None and len(table.keys) > 1 and before.point[table.keys[0]] != row.point[table.keys[0]]
    )
    return f"<tr{' class=group' if group else ''}>{cells}</tr>"


def _cell(row: Row, name: str, section: str, mark_here: bool) -> str:
    figure = row.cells.get(name)
    if figure is None:
        return '<td class="number missing">' + MISSING + "</td>"
    marks = [*(row.marks if mark_here else ()), *row.cell_marks.get(name, ())]
    interval = interval_text(figure)
    sub = f'<span class="interval">{escape(interval)}</span>' if interval else ""
    told = [
        t
        for t in (
            figure.note,
            plural(figure.count, "trial or sample", "trials or samples") if figure.count else "",
        )
        if t
    ]
    title = f' title="{escape("; ".join(told))}"' if told else ""
    missing = " missing" if figure.value is None else ""
    return f'<td class="number{missing}"{title}>{escape(scalar_text(figure.value, name))}{_sup(marks, section)}{sub}</td>'


def _sup(numbers: Iterable[int], section: str) -> str:
    links = ",".join(f'<a href="#{escape(section)}-{n}">{n}</a>' for n in numbers)
    return f"<sup>{links}</sup>" if links else ""


def _table_notes(table: Table, section: str) -> str:
    kinds = {f.interval for r in table.rows for f in r.cells.values() if f.low is not None}
    told = []
    if table.marks:
        told.append(f"{_sup(table.marks, section)} concerns the whole table")
    if kinds & {"t", "order"}:
        told.append("[low, high]: 95 % interval")
    if "range" in kinds:
        told.append("(low … high): observed range, fewer than 6 trials")
    notes = {f.note for r in table.rows for f in r.cells.values() if f.note}
    if len(table.rows) == 1 or len(notes) == 1:
        told += [escape(n) for n in sorted(notes)]
    return f'<p class="tablenote">{"; ".join(told)}.</p>' if told else ""


def findings(section: Section, notes: Mapping[str, str]) -> str:
    """The failing checks of a benchmark: what each means, what to do, where it failed and what was found there."""
    if not section.findings:
        return ""
    items = "".join(_finding(f, section, notes) for f in section.findings)
    return f'<div class="findings"><h3>Reasons for caution</h3><ol>{items}</ol></div>'


def _finding(finding: Finding, section: Section, notes: Mapping[str, str]) -> str:
    known = explain(finding.name, notes)
    meaning_text = f" {escape(known.meaning)}" if known else ""
    advice = finding.advice or (known.remedy if known else "")
    places = [(p, t) for p, texts in finding.places.items() for t in texts or [""]]
    own = [(p, _own(t, known.meaning if known else "")) for p, t in places]
    detail = [(p, t) for p, t in own if t]
    where = _where(finding, section)
    text = (
        f'<li id="{escape(section.benchmark)}-{finding.number}"><span class="number">{finding.number}</span>'
    )
    text += f"<strong>{escape(finding.name)}</strong>{':' if meaning_text else ''}{meaning_text}"
    text += f" <em>{escape(_sentence(advice))}</em>" if advice else ""
    text += f' <span class="where">{escape(where)}</span>'
    if len(detail) <= 2:
        text += "".join(f" {escape(_sentence(t))}" for t in dict.fromkeys(t for _, t in detail))
    else:
        lines = "".join(f"<li>{escape(_place(p))}{escape(t)}</li>" for p, t in detail[:MOST_PLACES])
        more = f"<li>and {len(detail) - MOST_PLACES} more</li>" if len(detail) > MOST_PLACES else ""
        text += f"<details><summary>What was found</summary><ul>{lines}{more}</ul></details>"
    return text + "</li>"


def _own(text: str, meaning_text: str) -> str:
    """What a text adds to the meaning that stands above it."""
    return text.removeprefix(meaning_text).strip().removeprefix("Here:").strip()


def _place(point: Mapping[str, object]) -> str:
    return point_text(point) + ": " if point else ""  # type: ignore[arg-type]


def _where(finding: Finding, section: Section) -> str:
    total = max((len(t.rows) for t in section.tables), default=0)
    count = len(finding.places)
    if total and count >= total:
        return "At every point." if total > 1 else ""
    if count == 1:
        place = point_text(next(iter(finding.places)))
        return f"At {place}." if place else ""
    return f"At {count} of {total} points." if total else f"At {count} points."


def _sentence(text: str) -> str:
    text = text[0].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else text + "."


def failures(found: list[Failure], trials: int) -> str:
    """Trials that gave no result, with their reasons."""
    if not found:
        return ""
    lines = "".join(
        f"<li><strong>{plural(f.count, 'trial')} {escape(f.status)}</strong>: {escape(f.reason)}. "
        f'<span class="where">{escape(_points(f))}</span></li>'
        for f in found
    )
    return f'<div class="findings"><h3>Without a result (of {plural(trials, "trial")})</h3><ul>{lines}</ul></div>'


def _points(failure: Failure) -> str:
    shown = "; ".join(
        filter(None, (point_text({k: v for k, v in p.items() if v is not None}) for p in failure.points[:4]))
    )
    more = f" and {len(failure.points) - 4} more points" if len(failure.points) > 4 else ""
    return f"At {shown}{more}." if shown else ""


def facts(value: Mapping[str, object]) -> str:
    """A nested object as a table of two columns."""
    if not value:
        return ""
    rows = "".join(f"<tr><td>{escape(k)}</td><td>{escape(v)}</td></tr>" for k, v in flatten(value))
    return f'<table class="facts"><tbody>{rows}</tbody></table>' if rows else ""
