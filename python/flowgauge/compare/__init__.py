"""Two or more runs, or runs and published results, side by side.

`sources` finds them, `context` says how they differ, `join` puts figures side by side, `significance` says what may be
concluded; one small file per format writes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from flowgauge.compare.context import Difference, caveats, differences
from flowgauge.compare.join import Group, groups
from flowgauge.errors import UnknownNameError
from flowgauge.report.rundata import Run

FORMATS = ("html", "md", "csv", "json")


@dataclass(frozen=True)
class Comparison:
    """A comparison, ready to be written. The first run is the baseline."""

    runs: Sequence[Run]
    caveats: Sequence[str]
    differences: Sequence[Difference]
    groups: Sequence[Group]

    @property
    def labels(self) -> list[str]:
        """Names of the runs, in order."""
        return [run.label for run in self.runs]


def build(runs: Sequence[Run], everything: bool = False) -> Comparison:
    """Compare runs; `everything` keeps counters and spreads as well."""
    return Comparison(runs, caveats(runs), differences(runs), groups(runs, everything))


def render(comparison: Comparison, form: str) -> str:
    """A comparison in one of `FORMATS`. Raises UnknownNameError for another."""
    modules = {"html": "html", "md": "markdown", "csv": "csv_export", "json": "json_export"}
    if form not in modules:
        raise UnknownNameError(
            f"no format {form!r} for comparisons", advice=f"there are: {', '.join(FORMATS)}"
        )
    text: str = import_module(f"flowgauge.compare.{modules[form]}").render(comparison)
    return text
