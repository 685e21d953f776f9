"""Flow sets and schedules as a benchmark writes them. The Rust core gives them their meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

Value = int | str
"""A number, or an address as text ("10.0.0.1", "02:00:00:00:00:01", "2001:db8::1")."""


@dataclass(frozen=True)
class Increment:
    """`start + i * step`, wrapping within the low `bits` bits (None: the whole field)."""

    start: Value
    step: int = 1
    bits: int | None = None


@dataclass(frozen=True)
class Cycle:
    """The values in turn."""

    values: tuple[Value, ...]


@dataclass(frozen=True)
class Random:
    """Random bits where `mask` is set (None: all), the bits of `base` elsewhere; the same for the same seed."""

    seed: int
    base: Value = 0
    mask: int | None = None


Pattern = Value | Increment | Cycle | Random


@dataclass(frozen=True)
class FlowSet:
    """A family of `count` header values: field name -> fixed value or pattern.

    The same flow set is installed as flow entries and sent as frames. `first` and `count` select a part.

    >>> flows = FlowSet({"ipv4_dst": Increment("10.0.0.1"), "udp_dst": 7}, count=100)
    >>> flows.last()
    FlowSet(fields={'ipv4_dst': Increment(start='10.0.0.1', step=1, bits=None), 'udp_dst': 7}, count=1, first=99)
    """

    fields: Mapping[str, Pattern] = field(default_factory=dict)
    count: int = 1
    first: int = 0

    def last(self) -> FlowSet:
        """Only the last flow."""
        return replace(self, first=self.first + self.count - 1, count=1)


@dataclass(frozen=True)
class Schedule:
    """When frames or messages leave. Rates are exact fractions, so that nothing drifts or truncates.

    `kind`: "cbr", "poisson", "burst" or "max" (as fast as possible). `rate`: events per second.
    """

    kind: str
    rate: Fraction | None = None
    burst: int = 1
    gap_ns: int = 0
    seed: int = 0

    @staticmethod
    def cbr(rate: float | Fraction) -> Schedule:
        """Constant rate in frames (or messages) per second."""
        return Schedule("cbr", Fraction(rate).limit_denominator(10**9))

    @staticmethod
    def l2_mbps(mbps: float | Fraction, frame_size: int, *, binary: bool = False) -> Schedule:
        """Constant layer-2 bit rate: `mbps` * 10^6 / (8 * frame_size) frames per second.

        `binary` takes 1 Mbit as 1024 * 1024 bit, as ALIEN's formula does.

        >>> Schedule.l2_mbps(100, 1500).rate
        Fraction(25000, 3)
        """
        bits = 1024 * 1024 if binary else 10**6
        return Schedule("cbr", Fraction(mbps).limit_denominator(10**9) * bits / (8 * frame_size))

    @staticmethod
    def poisson(rate: float | Fraction, seed: int) -> Schedule:
        """Exponential gaps with that mean rate."""
        return Schedule("poisson", Fraction(rate).limit_denominator(10**9), seed=seed)

    @staticmethod
    def bursts(frames: int, gap_ns: int) -> Schedule:
        """`frames` back to back, then a gap."""
        return Schedule("burst", burst=frames, gap_ns=gap_ns)

    @staticmethod
    def max() -> Schedule:
        """As fast as possible."""
        return Schedule("max")
