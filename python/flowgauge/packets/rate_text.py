"""Rates as people write them on a command line; rates and times as they read them."""

from __future__ import annotations

import re
from fractions import Fraction

from flowgauge.errors import UsageError

PREAMBLE_AND_GAP = 20
"""Bytes that a frame takes on an Ethernet link besides its own: preamble, start delimiter, inter-frame gap."""
SCALES = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9}

_RATE = re.compile(r"(\d+(?:\.\d+)?)\s*([kKMG]?)\s*(pps|bps|bit/s|%|)")


def parse_rate(text: str, frame_size: Fraction | int, link_mbps: int | None) -> Fraction | None:
    """Frames per second; None: as fast as possible. Raises UsageError.

    "10000", "10k", "1.5Mpps": frames per second. "10Mbps", "1Gbps": bits of frames (layer 2, FCS counted) per second. "line", "50%": of
    what the link carries, with preamble and gap. "max": as fast as possible.

    >>> parse_rate("1.5Mpps", 64, None), parse_rate("10Mbps", 1250, None), parse_rate("max", 64, None)
    (Fraction(1500000, 1), Fraction(1000, 1), None)
    >>> float(parse_rate("line", 64, 10_000))
    14880952.38095238
    """
    words = text.strip()
    if words == "max":
        return None
    if words == "line":
        words = "100%"
    found = _RATE.fullmatch(words)
    if found is None or not Fraction(found[1]):
        raise UsageError(
            f"--rate {text}: expected a rate above zero",
            advice='Frames per second: 10000, 10k, 1.5Mpps. Bits per second: 10Mbps, 1Gbps. Of the link: line, 50%. Or "max".',
        )
    number, unit = Fraction(found[1]) * SCALES[found[2]], found[3]
    if unit in ("", "pps"):
        return number
    if unit == "%":
        if link_mbps is None:
            raise UsageError(
                f"--rate {text}: the port's link has no speed (veth, ring and files have none)",
                advice="Say frames or bits per second: 10kpps, 100Mbps.",
            )
        return number / 100 * link_mbps * 10**6 / (8 * (frame_size + PREAMBLE_AND_GAP))
    return number / (8 * frame_size)


def frames_per_second(pps: float) -> str:
    """As a person reads it.

    >>> [frames_per_second(n) for n in (0, 999.4, 12_345, 1_488_095.2)]
    ['0 pps', '999 pps', '12.35 kpps', '1.488 Mpps']
    """
    return _scaled(pps, "pps")


def bits_per_second(bps: float) -> str:
    """As a person reads it.

    >>> bits_per_second(9_876_543_210)
    '9.877 Gbps'
    """
    return _scaled(bps, "bps")


def frames_text(n: int) -> str:
    """As a person reads it.

    >>> frames_text(1), frames_text(20_000)
    ('1 frame', '20000 frames')
    """
    return "1 frame" if n == 1 else f"{n} frames"


def nanoseconds(ns: float) -> str:
    """As a person reads it.

    >>> [nanoseconds(n) for n in (12, 8_400, 1_250_000, 2e9)]
    ['12 ns', '8.4 us', '1.25 ms', '2 s']
    """
    for scale, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if ns >= scale:
            return f"{ns / scale:.3g} {unit}"
    return f"{ns:.0f} ns"


def _scaled(value: float, unit: str) -> str:
    for scale, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= scale:
            return f"{value / scale:.4g} {prefix}{unit}"
    return f"{value:.0f} {unit}"
