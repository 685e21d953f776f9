"""Flow sets, raw frames and schedules as a benchmark writes them. The Rust core gives them their meaning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from flowgauge._core import Recording

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


class Packet(Protocol):
    """Bytes, or whatever turns into them: a scapy packet does."""

    def __bytes__(self) -> bytes: ...


@dataclass(frozen=True)
class Frames:
    """Frames as they are, without FCS: sent byte for byte, each a flow of its own, in this order and then again.

    `probe`: the first 18 bytes of each frame's UDP payload become a probe, so that loss and delay are known; a UDP checksum that was
    right stays right. Frames have at least 14 bytes (with `probe`: 18 bytes of UDP payload) and fit the port; else UsageError.

    >>> Frames.of(bytes(60), bytes(range(100))).count
    2
    """

    frames: Sequence[bytes] | Recording
    probe: bool = False

    @staticmethod
    def of(*packets: Packet, probe: bool = False) -> Frames:
        """Of bytes or scapy packets: `Frames.of(Ether() / IP(dst="10.0.0.1") / UDP(dport=7) / bytes(18), probe=True)`."""
        return Frames(tuple(bytes(packet) for packet in packets), probe)

    @staticmethod
    def from_capture(path: str | Path, *, probe: bool = False) -> Frames:
        """Of a pcap or pcapng file. Raises CaptureFileError; of a file that breaks off, what is whole is taken."""
        from flowgauge._core import read_capture

        return Frames(read_capture(str(path)), probe)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.frames)


@dataclass(frozen=True)
class FlowOrder:
    """In which order a stream walks its flows.

    `kind`: "sequential" (one frame each, from the start again), "blocks" (one frame each for `block` flows, that `repeats` times, then
    the next block) or "random" (each frame's flow drawn by itself, the same for the same seed).

    >>> FlowOrder.blocks(2000, 10)
    FlowOrder(kind='blocks', block=2000, repeats=10, seed=0)
    """

    kind: str = "sequential"
    block: int = 1
    repeats: int = 1
    seed: int = 0

    @staticmethod
    def blocks(block: int, repeats: int) -> FlowOrder:
        """Blocks of flows, each walked so many times (Agilio: 2 000 flows, 10 times)."""
        return FlowOrder("blocks", block, repeats)

    @staticmethod
    def random(seed: int) -> FlowOrder:
        """At random."""
        return FlowOrder("random", seed=seed)


@dataclass(frozen=True)
class Schedule:
    """When frames or messages leave. Rates are exact fractions, so that nothing drifts or truncates.

    `kind`: "cbr", "poisson", "burst", "recorded" (at `times_ns` after the start, again each `gap_ns`) or "max" (as fast as possible).
    `rate`: events per second.
    """

    kind: str
    rate: Fraction | None = None
    burst: int = 1
    gap_ns: int = 0
    seed: int = 0
    times_ns: Sequence[int] = ()

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
    def recorded(times_ns: Iterable[int], *, speed: float | Fraction = 1) -> Schedule:
        """At the times of a capture, counted from its first frame, `speed` times as fast; then from the start again, a mean gap later.

        A frame that was stamped earlier than the one before it leaves together with that one.

        >>> Schedule.recorded([100, 200, 150, 400], speed=2)
        Schedule(kind='recorded', rate=None, burst=1, gap_ns=200, seed=0, times_ns=(0, 50, 50, 150))
        """
        ordered = list(accumulate(times_ns, max))
        scale = Fraction(speed).limit_denominator(10**9)
        times = tuple((at - ordered[0]) * scale.denominator // scale.numerator for at in ordered)
        gap = times[-1] // (len(times) - 1) if len(times) > 1 else 0
        return Schedule("recorded", gap_ns=times[-1] + gap, times_ns=times)

    @staticmethod
    def max() -> Schedule:
        """As fast as possible."""
        return Schedule("max")
