"""Numbers as a person reads them in a terminal."""

from __future__ import annotations

from flowgauge.report.format import duration_text


def duration(seconds: float) -> str:
    """A duration in its two largest units.

    >>> [duration(s) for s in (0.25, 8.04, 59.7, 75, 3600, 100_000)]
    ['0.2 s', '8.0 s', '1 min 0 s', '1 min 15 s', '1 h 0 min', '27 h 46 min']
    """
    return f"{seconds:.1f} s" if seconds < 10 else duration_text(seconds)


def counted(n: int, what: str) -> str:
    """A number with its noun.

    >>> counted(1, "trial"), counted(3, "trial")
    ('1 trial', '3 trials')
    """
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
