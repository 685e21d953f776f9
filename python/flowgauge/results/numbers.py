"""How values become JSON: floats with 9 significant digits, what is not a number as null, NumPy scalars as plain ones.

Nine digits keep a nanosecond in a second and spare the reader the noise of binary fractions.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from enum import Enum
from typing import Any

DIGITS = 9


def plain(value: Any) -> Any:
    """The value as JSON knows it: mappings, lists, text, booleans, integers, rounded floats and null.

    >>> plain({"delay_us": 1 / 3, "missing": float("nan"), "points": (1, 2.0)})
    {'delay_us': 0.333333333, 'missing': None, 'points': [1, 2.0]}
    """
    if value is None or (isinstance(value, (bool, int)) and not isinstance(value, Enum)):
        return value
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (Sequence, set, frozenset)) and not isinstance(value, (bytes, bytearray)):
        return [plain(v) for v in value]
    if hasattr(value, "tolist"):  # NumPy scalars and arrays
        return plain(value.tolist())
    return str(value)


def to_line(value: Any) -> str:
    """One line of JSON, with its newline."""
    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def to_text(value: Any) -> str:
    """Indented JSON, for files that a person may open."""
    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False, indent=2) + "\n"
