"""The formats of a report, each in a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from flowgauge.errors import UnknownNameError
from flowgauge.report.rundata import Run

FORMATS: Mapping[str, str] = {
    "html": "flowgauge.report.html",
    "md": "flowgauge.report.markdown",
    "csv": "flowgauge.report.csv_export",
    "json": "flowgauge.report.json_export",
}
"""Format -> module with `render(run) -> str`; imported when asked for, so that a table needs no charts."""


def render(run: Run, form: str) -> str:
    """A run in one of `FORMATS`. Raises UnknownNameError for another format."""
    return exporter(form)(run)


def exporter(form: str) -> Callable[[Run], str]:
    """The function that makes a format. Raises UnknownNameError."""
    if form not in FORMATS:
        raise UnknownNameError(f"no report format {form!r}", advice=f"there are: {', '.join(FORMATS)}")
    found: Callable[[Run], str] = import_module(FORMATS[form]).render
    return found
