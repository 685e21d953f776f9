"""`flowgauge clean`: removes what crashed runs left behind, and says what."""

from __future__ import annotations

import os

from rich.console import Console
from rich.markup import escape

from flowgauge.duts.cleanup import clean as remove


def clean(console: Console | None = None) -> int:
    """Remove leftovers of this user's crashed runs; the exit code is 3 if something could not be removed."""
    console = console or Console(highlight=False)
    cleaned = remove()
    for title, things in cleaned.removed.items():
        console.print(
            f"removed what {escape(title)} left: {escape(', '.join(things)) or 'nothing but its lease'}"
        )
    for title, reason in cleaned.failed.items():
        console.print(f"[red]not removed:[/] {escape(title)}: {escape(reason)}")
    for title in cleaned.in_use:
        console.print(f"in use, left alone: {escape(title)}")
    if not cleaned.removed and not cleaned.failed:
        console.print("nothing was left behind")
    if os.geteuid() != 0:
        console.print("(runs of root leave things that only root sees: sudo flowgauge clean)")
    return 3 if cleaned.failed else 0
