"""How values become text for a person. Exports for machines (csv, json) never come through here."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor, isfinite, log10

from flowgauge.fields import FIELDS
from flowgauge.model import Figure, Scalar

MISSING = "—"
_SUPERSCRIPT = str.maketrans("0123456789,", "⁰¹²³⁴⁵⁶⁷⁸⁹˒")


def header(name: str) -> str:
    """What a reader calls a column; names that the field table lacks lose their underscores.

    >>> header("delay_p99_us"), header("queue_places")
    ('delay p99', 'queue places')
    """
    known = FIELDS.get(name)
    return known.header if known else name.replace("_", " ")


def meaning(name: str) -> str:
    """One sentence on a column, empty when the field table lacks it."""
    known = FIELDS.get(name)
    return known.text if known else ""


def unit_text(unit: str) -> str:
    """A unit as a reader writes it.

    >>> unit_text("us/entry")
    'µs/entry'
    """
    return "µs" + unit[2:] if unit == "us" or unit.startswith("us/") else unit


def heading(name: str, unit: str) -> str:
    """Header and unit of a column; ratios are printed in percent, so they need none.

    >>> heading("delay_p99_us", "us"), heading("loss_ratio", "")
    ('delay p99 (µs)', 'loss')
    """
    return f"{header(name)} ({unit_text(unit)})" if unit else header(name)


def number_text(value: float | None, digits: int = 4) -> str:
    """A number with that many significant digits, all digits of integers and of large numbers, "—" for None.

    >>> number_text(None), number_text(0), number_text(61.2483), number_text(1681487), number_text(2e-7)
    ('—', '0', '61.25', '1,681,487', '2e-07')
    """
    if value is None:
        return MISSING
    if not isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    places = digits - 1 - floor(log10(abs(value)))
    if places > 9:
        return f"{value:.{digits - 1}g}"
    text = f"{value:,.{max(0, places)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def ratio_text(value: float | None, digits: int = 4) -> str:
    """A ratio in percent; what is not exactly all or nothing never reads as 100 % or 0 %.

    >>> ratio_text(0.0123), ratio_text(1.0), ratio_text(0.9999996)
    ('1.23 %', '100 %', '99.99996 %')
    """
    if value is None:
        return MISSING
    text = number_text(100 * value, digits)
    while text == "100" and value < 1 and digits < 12:
        digits += 1
        text = number_text(100 * value, digits)
    return f"{text} %"


def time_text(us: float | None, digits: int = 3) -> str:
    """Microseconds with the unit that suits them.

    >>> time_text(2323), time_text(115394325), time_text(0.5)
    ('2.32 ms', '115 s', '0.5 µs')
    """
    if us is None:
        return MISSING
    for factor, unit in ((1e6, "s"), (1e3, "ms")):
        if abs(us) >= factor:
            return f"{_rounded(us / factor, digits)} {unit}"
    return f"{_rounded(us, digits)} µs"


def _rounded(value: float, digits: int) -> str:
    return number_text(float(f"{value:.{digits}g}"), digits)


def scalar_text(value: Scalar, name: str = "") -> str:
    """A parameter or metric as text: numbers by their field's digits, ratios in percent."""
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    known = FIELDS.get(name)
    if known and value in known.words:
        return known.words[value]
    digits = known.digits if known else 4
    return ratio_text(value, digits) if name.endswith("_ratio") else number_text(value, digits)


def interval_text(figure: Figure) -> str:
    """`[low, high]` for a 95 % interval, `(low … high)` for an observed range, empty when there is neither.

    >>> interval_text(Figure("delay_mean_us", 5, "us", low=4, high=6.5, interval="t"))
    '[4, 6.5]'
    """
    if figure.low is None or figure.high is None or figure.interval == "none":
        return ""
    low, high = scalar_text(figure.low, figure.name), scalar_text(figure.high, figure.name)
    if figure.value is not None and low == high == scalar_text(figure.value, figure.name):
        return ""
    return f"({low} … {high})" if figure.interval == "range" else f"[{low}, {high}]"


def figure_text(figure: Figure | None) -> str:
    """Value and interval in one cell, without the unit."""
    if figure is None:
        return MISSING
    return " ".join(filter(None, (scalar_text(figure.value, figure.name), interval_text(figure))))


def point_text(point: Mapping[str, Scalar]) -> str:
    """A point in words.

    >>> point_text({"rate_mbps": 10, "frame_size": 100})
    'rate 10 Mbit/s, frame size 100 B'
    """
    parts = []
    for key, value in point.items():
        known = FIELDS.get(key)
        unit = f" {unit_text(known.unit)}" if known and known.unit and value is not None else ""
        parts.append(f"{header(key)} {scalar_text(value, key)}{unit}")
    return ", ".join(parts)


def superscript(numbers: list[int]) -> str:
    """Footnote marks.

    >>> superscript([1, 12])
    '¹˒¹²'
    """
    return ",".join(map(str, numbers)).translate(_SUPERSCRIPT)


def plural(count: int, noun: str, many: str | None = None) -> str:
    """A count with its noun.

    >>> plural(1, "trial"), plural(2, "entry", "entries")
    ('1 trial', '2 entries')
    """
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def duration_text(seconds: float) -> str:
    """A time span in whole seconds, in its two largest units.

    >>> duration_text(171), duration_text(12.3), duration_text(7300)
    ('2 min 51 s', '12 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
