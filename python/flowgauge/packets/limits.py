"""What numbers on a command line may be, and what is said of others."""

from __future__ import annotations

import os

from flowgauge.errors import UsageError

MOST_FRAMES = 2**63 - 1
LONGEST_S = 10**9


def check_ends(count: int | None, duration_s: float | None) -> None:
    """When to end. Raises UsageError."""
    if count is not None:
        check_number("--count", count, 1, MOST_FRAMES)
    if duration_s is not None and not 0 < duration_s <= LONGEST_S:
        raise UsageError(f"--duration is above 0 and at most {LONGEST_S} seconds, not {duration_s:g}")


def check_number(option: str, value: float, least: float, most: float) -> None:
    """A number between two others, both allowed. Raises UsageError."""
    if not least <= value <= most:
        raise UsageError(f"{option} is at least {least} and at most {most}, not {value}")


def check_core(core: int | None) -> None:
    """A core that this process may use. Raises UsageError."""
    usable = sorted(os.sched_getaffinity(0))
    if core is not None and core not in usable:
        raise UsageError(
            f"--core {core}: this process may not run there; allowed: {', '.join(map(str, usable))}"
        )
