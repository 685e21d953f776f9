"""Numbers as a person reads them in a terminal."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """A duration in its two largest units.

    >>> [duration(s) for s in (0.25, 8.04, 59.7, 75, 3600, 100_000)]
    ['0.2 s', '8.0 s', '1 min 0 s', '1 min 15 s', '1 h 0 min', '27 h 46 min']
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def counted(n: int, what: str) -> str:
    """A number with its noun.

    >>> counted(1, "trial"), counted(3, "trial")
    ('1 trial', '3 trials')
    """
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
