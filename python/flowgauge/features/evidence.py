"""Shows what went wrong: the rules, each frame sent, what was expected, what came, byte differences marked, the flow dump."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flowgauge import _core
from flowgauge.features.frames import shown

WIDTH = 16
"""Bytes in a line of a dump."""
MOST = 4
"""So many wrong frames are shown; the others are counted."""


def summary(frame: bytes) -> str:
    """A frame in one line: its layers with their values that are not 0."""
    layers, rest = _core.frame_layers(frame)
    parts = [
        " ".join((kind, *(f"{name}={shown(name, value)}" for name, value in values if _tells(name, value))))
        for kind, values in layers
    ]
    return " / ".join([*parts, f"{rest} bytes"])


def _tells(name: str, value: int) -> bool:
    """Whether a value is worth a reader's time: not where it is 0, or says what layer follows."""
    return value != 0 and name not in ("eth_type", "ip_proto")


def dump(frame: bytes, other: bytes | None = None) -> Iterator[str]:
    """The bytes, 16 to a line. Those that differ from `other` are underlined by carets; only lines with one are then shown."""
    for at in range(0, max(len(frame), len(other or b"")), WIDTH):
        part = frame[at : at + WIDTH]
        if other is None:
            yield f"{at:04x}  {part.hex(' ')}"
            continue
        against = other[at : at + WIDTH]
        if part == against:
            continue
        yield f"{at:04x}  {part.hex(' ')}".rstrip()
        marks = [
            "^^" if part[n : n + 1] != against[n : n + 1] else "  "
            for n in range(max(len(part), len(against)))
        ]
        yield f"      {' '.join(marks)}".rstrip()


def missing(port: int, expected: bytes) -> Iterator[str]:
    """A frame that did not come."""
    yield f"expected at port {port}, never came: {summary(expected)}"
    yield from _indented(dump(expected))


def surplus(port: int, found: bytes) -> Iterator[str]:
    """A frame that should not have come."""
    yield f"came at port {port}, not expected: {summary(found)}"
    yield from _indented(dump(found))


def different(port: int, expected: bytes, found: bytes) -> Iterator[str]:
    """A frame that came changed."""
    yield f"expected at port {port}: {summary(expected)}"
    yield from _indented(dump(expected, found))
    yield f"received at port {port}: {summary(found)}"
    yield from _indented(dump(found, expected))


def section(title: str, lines: Sequence[str]) -> Iterator[str]:
    """Lines under a title; nothing when there are none."""
    if lines:
        yield f"{title}:"
        yield from _indented(lines)


def _indented(lines: Iterator[str] | Sequence[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)
