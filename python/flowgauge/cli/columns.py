"""Names and texts in two columns, as wide as the terminal."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Mapping

import typer


def print_rows(rows: Mapping[str, str], further: int = 0, indent: str = "") -> None:
    """Names and what they mean. Texts are wrapped; their further lines are indented by `further`."""
    width = max(map(len, rows), default=0) + 2
    room = max(40, _columns() - width - len(indent))
    for name, text in rows.items():
        first, *rest = _wrapped(text, room, further)
        typer.echo(f"{indent}{name:<{width}}{first}".rstrip())
        for line in rest:
            typer.echo(f"{indent}{'':<{width}}{line}".rstrip())


def print_text(text: str) -> None:
    """A paragraph."""
    typer.echo(textwrap.fill(text, _columns()))


def _wrapped(text: str, room: int, further: int) -> list[str]:
    lines = []
    for line in text.splitlines():
        lines += textwrap.wrap(line, room, subsequent_indent=" " * further, drop_whitespace=True) or [""]
    return lines or [""]


def _columns() -> int:
    return shutil.get_terminal_size((100, 24)).columns
