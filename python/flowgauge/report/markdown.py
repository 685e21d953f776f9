"""A report as Markdown, for issues, wikis and papers' drafts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from flowgauge.fields import FIELDS
from flowgauge.report import summary
from flowgauge.report.explain import explain
from flowgauge.report.format import (
    figure_text,
    header,
    heading,
    plural,
    point_text,
    scalar_text,
    superscript,
    unit_text,
)
from flowgauge.report.rundata import Run
from flowgauge.report.tables import Failure, Finding, Section, Table, sections


def render(run: Run) -> str:
    """The report as one Markdown text."""
    return "\n".join(_lines(run)).rstrip() + "\n"


def grid(head: Sequence[str], rows: Iterable[Sequence[str]], numbers_from: int) -> Iterator[str]:
    """A Markdown table; columns from `numbers_from` on stand right."""
    yield "| " + " | ".join(map(escape, head)) + " |"
    yield "|" + "|".join("---" if n < numbers_from else "--:" for n in range(len(head))) + "|"
    for row in rows:
        yield "| " + " | ".join(map(escape, row)) + " |"


def escape(text: str) -> str:
    """Text that stays in its cell.

    >>> escape("a|b")
    'a\\\\|b'
    """
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")


def _lines(run: Run) -> Iterator[str]:
    yield from (f"# {summary.title(run)}", "", summary.paragraph(run), "")
    if run.published:
        yield from (*(f"- {d}" for d in run.published.get("defects") or ()), "")
    notes = (run.published or {}).get("notes") or {}
    for section in sections(run):
        yield from (f"## {section.benchmark}", "")
        for table in section.tables:
            yield from _table(table)
        if not section.tables:
            yield from ("No figures: no trial was completed.", "")
        for point, text in section.evidence:
            yield from (f"### {point_text(point)}", "", "```", *text.splitlines(), "```", "")
        for failure in section.failures:
            yield f"- {_failure(failure)}"
        for finding in section.findings:
            yield f"- {_finding(finding, section, notes)}"
        if section.failures or section.findings:
            yield ""
    skipped = run.document.get("skipped") or ()
    if skipped:
        yield from (
            "## Not measured",
            "",
            *(f"- {s.get('benchmark')}: {s.get('reason')}" for s in skipped),
            "",
        )


def _table(table: Table) -> Iterator[str]:
    if not table.keys:
        for row in table.rows:
            for name, figure in row.cells.items():
                unit = "" if name.endswith("_ratio") else f" {unit_text(figure.unit)}".rstrip()
                note = f" ({figure.note})" if figure.note else ""
                marks = superscript([*row.marks, *row.cell_marks.get(name, [])])
                yield f"{header(name)}: **{figure_text(figure)}**{unit}{marks}{note}  "
        yield ""
        return
    head = [heading(k, FIELDS[k].unit if k in FIELDS else "") for k in table.keys]
    head += [heading(n, "" if n.endswith("_ratio") else table.units[n]) for n in table.names]
    head += ["detail"] if table.details else []
    rows = []
    for row in table.rows:
        keys = [scalar_text(row.point[k], k) for k in table.keys]
        keys[-1] += superscript(row.marks)
        rows.append(
            [
                *keys,
                *(
                    figure_text(row.cells.get(n)) + superscript(row.cell_marks.get(n, []))
                    for n in table.names
                ),
                *([row.detail] if table.details else []),
            ]
        )
    yield from grid(head, rows, len(head) if table.details else len(table.keys))
    yield from ("", f"{superscript(table.marks)} concerns the whole table.", "") if table.marks else ("",)


def _finding(finding: Finding, section: Section, notes: Mapping[str, str]) -> str:
    known = explain(finding.name, notes)
    point, texts = next(iter(finding.places.items()))
    text = texts[0] if texts else (known.meaning if known else "failed")
    others = len(finding.places) - 1
    where = point_text(point) + (f", and {plural(others, 'more point')}" if others else "")
    advice = finding.advice or (known.remedy if known else "")
    told = f"{superscript([finding.number])} **{finding.name}**: {text}"
    told += f" (at {where})" if point else ""
    return told + (f" → {advice}" if advice else "")


def _failure(failure: Failure) -> str:
    shown = filter(
        None, (point_text({k: v for k, v in p.items() if v is not None}) for p in failure.points[:3])
    )
    points = "; ".join(shown)
    more = f" and {len(failure.points) - 3} more points" if len(failure.points) > 3 else ""
    place = f" (at {points}{more})" if points else ""
    return f"**{plural(failure.count, 'trial')} {failure.status}**: {failure.reason}{place}"
