"""Quantities with their units, as people write them."""

from __future__ import annotations

import re

_UNITS_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


def duration_ns(text: str) -> int:
    """A duration with its unit, in ns. Raises ValueError.

    >>> duration_ns("1.5ms")
    1500000
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ns|us|ms|s)", text)
    if match is None:
        raise ValueError(text)
    return round(float(match[1]) * _UNITS_NS[match[2]])
