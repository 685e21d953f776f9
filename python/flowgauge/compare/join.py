"""Puts the figures of several runs side by side, point by point.

Points join on the parameters that all runs have for a figure (ALIEN's control channel delay has no echo rate, ours
has). A run that has several values for such a point can't be joined there, and that is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from flowgauge.compare.significance import Comparison, compare
from flowgauge.model import Check, Figure, Point, Scalar
from flowgauge.report.rundata import Run
from flowgauge.report.tables import failing

MINOR_UNITS = ("frames",)
MINOR_ENDS = ("_std_us", "throughput_ratio", "wanted")
"""Counters, spreads and what repeats another figure stand in a comparison only when everything is asked for."""


@dataclass
class Note:
    """A failing check (or a note on a published value) of one run. `points`: how many points it touches."""

    number: int
    label: str
    check: Check
    points: set[Point] = field(default_factory=set)


@dataclass
class Line:
    """One point: each run's figure (None: it has none), each later run against the first, and note numbers by run."""

    point: Point
    figures: list[Figure | None]
    against: list[Comparison]
    marks: list[list[int]]


@dataclass
class Table:
    """One figure of one benchmark over the points that the first run and another have.

    `missing`: by run, how many points have no counterpart; `wide`: by run, notes that concern its whole column.
    """

    figure: str
    unit: str
    keys: tuple[str, ...]
    lines: list[Line]
    missing: list[int]
    remarks: list[str]
    wide: list[list[int]] = field(default_factory=list)


@dataclass
class Group:
    """One benchmark."""

    benchmark: str
    tables: list[Table]
    notes: list[Note]


def group(runs: Sequence[Run], benchmark: str, everything: bool = False) -> Group:
    """The tables of one benchmark; `everything` keeps counters and spreads."""
    notes: dict[tuple[str, str], Note] = {}
    tables = []
    for name in _names(runs, benchmark, everything):
        table = _table(runs, benchmark, name, _keys(runs, benchmark, name), notes)
        if table.lines or table.remarks:
            tables.append(table)
    return Group(benchmark, tables, list(notes.values()))


def groups(runs: Sequence[Run], everything: bool = False) -> list[Group]:
    """All benchmarks that the first run and another have figures of."""
    names = list(dict.fromkeys(b for run in runs for b in run.benchmarks()))
    shared = [n for n in names if runs[0].figures.get(n) and any(run.figures.get(n) for run in runs[1:])]
    return [g for g in (group(runs, n, everything) for n in shared) if g.tables]


def values(run: Run, benchmark: str, figure: Figure) -> list[float]:
    """What the valid trials at a figure's point measured for it."""
    found = []
    for trial in run.trials_of(benchmark):
        value = trial.metrics.get(figure.name)
        if trial.status == "ok" and trial.point == figure.at and isinstance(value, (int, float)):
            found.append(float(value))
    return found


def _names(runs: Sequence[Run], benchmark: str, everything: bool) -> list[str]:
    """Figures that the first run and another have, in order."""
    by_run = [{f.name: f.unit for f in run.figures.get(benchmark, ())} for run in runs]
    names = list(dict.fromkeys(n for found in by_run for n in found))
    shared = [n for n in names if n in by_run[0] and any(n in found for found in by_run[1:])]
    if everything:
        return shared
    units = {n: u for found in by_run for n, u in found.items()}
    return [n for n in shared if units[n] not in MINOR_UNITS and not n.endswith(MINOR_ENDS)]


def _keys(runs: Sequence[Run], benchmark: str, name: str) -> tuple[str, ...]:
    """The parameters to join on: those common to all runs that have the figure."""
    sets: list[tuple[str, ...]] = []
    for run in runs:
        keys = [tuple(f.at) for f in run.figures.get(benchmark, ()) if f.name == name]
        if keys:
            sets.append(max(keys, key=lambda k: len(k)))
    first = sets[0] if sets else ()
    return tuple(k for k in first if all(k in other for other in sets))


def _index(
    run: Run, benchmark: str, name: str, keys: tuple[str, ...]
) -> tuple[dict[tuple[Scalar, ...], Figure], bool]:
    """Figures by their values of `keys`, and whether some were left out because several share a key."""
    found: dict[tuple[Scalar, ...], list[Figure]] = {}
    for figure in run.figures.get(benchmark, ()):
        if figure.name == name and all(k in figure.at for k in keys):
            found.setdefault(tuple(figure.at[k] for k in keys), []).append(figure)
    return {k: f[0] for k, f in found.items() if len(f) == 1}, any(len(f) > 1 for f in found.values())


def _table(
    runs: Sequence[Run], benchmark: str, name: str, keys: tuple[str, ...], notes: dict[tuple[str, str], Note]
) -> Table:
    indexes, remarks = [], []
    for run in runs:
        index, several = _index(run, benchmark, name, keys)
        indexes.append(index)
        if several:
            extra = {k for f in run.figures[benchmark] if f.name == name for k in f.at} - set(keys)
            remarks.append(
                f"{run.label} varies {', '.join(sorted(extra))} as well and can't be joined where it has several values"
            )
    places = dict.fromkeys(k for index in indexes for k in index)
    shared = [k for k in places if k in indexes[0] and any(k in index for index in indexes[1:])]
    missing = [sum(k not in shared for k in index) for index in indexes]
    unit = next((f.unit for index in indexes for f in index.values()), "")
    table = Table(name, unit, keys, [], missing, remarks)
    for place in shared:
        table.lines.append(
            _line(runs, benchmark, Point(**dict(zip(keys, place, strict=True))), place, indexes, notes)
        )
    _widen(table, runs)
    return table


def _line(
    runs: Sequence[Run],
    benchmark: str,
    point: Point,
    place: tuple[Scalar, ...],
    indexes: Sequence[Mapping[tuple[Scalar, ...], Figure]],
    notes: dict[tuple[str, str], Note],
) -> Line:
    figures = [index.get(place) for index in indexes]
    samples = [values(r, benchmark, f) if f else [] for r, f in zip(runs, figures, strict=True)]
    against = [
        compare(figures[0], f, samples[0], s, published=bool(runs[0].published or run.published))
        for run, f, s in zip(runs[1:], figures[1:], samples[1:], strict=True)
    ]
    marks = []
    for run, figure in zip(runs, figures, strict=True):
        numbers = []
        for check in failing(figure.checks if figure else ()):
            note = notes.setdefault((run.label, check.name), Note(len(notes) + 1, run.label, check))
            note.points.add(point)
            numbers.append(note.number)
        marks.append(numbers)
    return Line(point, figures, against, marks)


def _widen(table: Table, runs: Sequence[Run]) -> None:
    """A note on every value of a run (of print: on nearly every one) is said once for its column."""
    for n, run in enumerate(runs):
        held = [set(line.marks[n]) for line in table.lines if line.figures[n] is not None]
        needed = (0.9 if run.published else 1.0) * len(held)
        wide = [
            m for m in sorted(set().union(*held)) if len(held) > 1 and sum(m in h for h in held) >= needed
        ]
        table.wide.append(wide)
        for line in table.lines:
            line.marks[n] = [m for m in line.marks[n] if m not in wide]
