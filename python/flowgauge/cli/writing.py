"""What commands that make a text can write, and where they put it."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path

from flowgauge.errors import UsageError


class Format(StrEnum):
    """What a report or a comparison can be written as."""

    HTML = "html"
    MD = "md"
    CSV = "csv"
    JSON = "json"


def write(text: str, output: Path | None) -> None:
    """To the terminal (None or "-"), or to a file whose name is then printed. Raises UsageError when it can't be written."""
    if output is None or str(output) == "-":
        sys.stdout.write(text)
        return
    from flowgauge.results.durable import replace_text

    try:
        replace_text(output, text)
    except OSError as error:
        raise UsageError(f"{output}: can't be written: {error.strerror or error}") from error
    print(output)
