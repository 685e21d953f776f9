"""Words that all formats of a comparison share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from flowgauge.compare.join import Group, Note, Table
from flowgauge.compare.significance import MISSING_VALUE, Comparison, Verdict
from flowgauge.fields import words
from flowgauge.report.format import MISSING, header, number_text, plural, scalar_text

NOTHING_SHARED = "The runs have no benchmark with figures in common, so there is nothing to compare."


def difference_text(found: Comparison, figure: str) -> str:
    """The difference with its sign; ratios in percentage points.

    >>> difference_text(Comparison(-3.25, 0.9, Verdict.NONE, ""), "delay_mean_us")
    '-3.25'
    """
    if found.difference is None:
        return MISSING
    sign = "+" if found.difference > 0 else ""
    if figure.endswith("_ratio"):
        return f"{sign}{number_text(100 * found.difference, 3)} pp"
    return sign + scalar_text(found.difference, figure)


def ratio_text(found: Comparison) -> str:
    """The ratio to the baseline.

    >>> ratio_text(Comparison(1.0, 1.2345, Verdict.NONE, ""))
    '1.23'
    """
    if found.ratio is None:
        return MISSING
    return f"{found.ratio:.2e}" if 0 < abs(found.ratio) < 0.001 else number_text(found.ratio, 3)


def verdict_text(found: Comparison) -> str:
    """The verdict with its p value, or the reason why there is none."""
    if found.verdict is Verdict.NONE:
        return MISSING if found.reason == MISSING_VALUE else found.reason
    if found.p is None:
        return str(found.verdict)
    return f"{found.verdict}, p {'< 0.001' if found.p < 0.001 else f'{found.p:.2g}'}"


def outcome(groups: Sequence[Group], run: int) -> str:
    """One sentence: how many of the comparable figures of that later run (1, 2, ...) differ from the baseline."""
    tables = [t for g in groups for t in g.tables]
    against = [line.against[run - 1] for t in tables if not words(t.figure) for line in t.lines]
    found = Counter(a.verdict for a in against if a.reason != MISSING_VALUE)
    tested = found[Verdict.DIFFER] + found[Verdict.NOT_SHOWN]
    parts = [_words_differ(t, run) for t in tables if words(t.figure)]
    if tested:
        parts.append(
            f"{found[Verdict.DIFFER]} of {plural(tested, 'figure')} with 6 or more trials on both sides differ (Welch's t, "
            f"p < 0.05; about {number_text(tested * 0.05, 2)} would by chance alone)"
        )
    by_interval = found[Verdict.APART] + found[Verdict.OVERLAP]
    if by_interval:
        parts.append(f"{found[Verdict.APART]} of {by_interval} have 95 % intervals that do not overlap")
    if found[Verdict.NONE]:
        parts.append(f"for {plural(found[Verdict.NONE], 'figure')} no significance can be stated")
    return "; ".join(parts) + "." if parts else ""


def _words_differ(table: Table, run: int) -> str:
    """How many figures that are words differ."""
    pairs = [(line.figures[0], line.figures[run]) for line in table.lines]
    shared = [(a.value, b.value) for a, b in pairs if a is not None and b is not None]
    return f"{sum(a != b for a, b in shared)} of {plural(len(shared), header(table.figure))} differ"


def note_text(note: Note) -> str:
    """A note with its run and its reach."""
    advice = f" → {note.check.advice}" if note.check.advice else ""
    return f"{note.label}, {note.check.name}: {note.check.text}{advice}"


def missing_text(table: Table, labels: Sequence[str]) -> str:
    """Points that only one run has."""
    told = [
        f"{plural(n, 'point')} only in {label}" for n, label in zip(table.missing, labels, strict=True) if n
    ]
    return "; ".join(told)


def title(table: Table) -> str:
    """Heading of a table."""
    return header(table.figure)
