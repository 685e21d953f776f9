"""Texts that people read, kept under tests/golden. `UPDATE_GOLDEN=1 pytest` writes them anew; read the difference."""

from __future__ import annotations

import os
import re
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "golden"


def check(name: str, text: str) -> None:
    """Compare with the kept text; durations and rates are masked, since they differ from run to run."""
    text = re.sub(r"\d+(\.\d+)? (s|min|h)\b( \d+ (s|min)\b)?", "<time>", text)
    text = re.sub(r"[\d.e+]+ trials/min", "<rate> trials/min", text)
    file = FOLDER / name
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(text)
    assert text == file.read_text(), f"{file} differs; UPDATE_GOLDEN=1 writes it anew"
