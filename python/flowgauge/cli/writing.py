"""Where commands that make a text put it."""

from __future__ import annotations

import sys
from pathlib import Path

from flowgauge.errors import UsageError


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
