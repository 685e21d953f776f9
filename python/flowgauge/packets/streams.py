"""From the options of `flowgauge generate` to streams: what is sent, when, and how long."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

from flowgauge import _core
from flowgauge.errors import UsageError
from flowgauge.flows import FlowSet, Frames, Schedule
from flowgauge.packets.flow_text import parse_flows
from flowgauge.packets.limits import MOST_FRAMES, check_ends, check_number
from flowgauge.packets.rate_text import parse_rate
from flowgauge.testbed.interface import Stream, late_limit_ns

FCS = 4


@dataclass(frozen=True)
class Wanted:
    """One stream as its options describe it. None: not said."""

    flows: str | None = None
    flow_count: int | None = None
    pcap: str | None = None
    speed: float | None = None
    loop: int | None = None
    probe: bool = False
    size: int = 64
    rate: str | None = None
    poisson: bool = False
    burst: int | None = None
    late: str = "catch_up"
    count: int | None = None
    duration: float | None = None
    seed: int = 1


@dataclass(frozen=True)
class Planned:
    """A stream, and what people are told of it. `notes`: what was found in its capture."""

    stream: Stream
    title: str
    notes: tuple[str, ...] = ()

    def layer_2_bytes(self, sent: int) -> int:
        """Bytes of the first `sent` frames, FCS counted."""
        flows = self.stream.flows
        if isinstance(flows, FlowSet):
            return sent * self.stream.frame_size
        rounds, rest = divmod(sent, flows.count)
        part = sum(len(flows.frames[i]) for i in range(rest))
        return rounds * total_bytes(flows) + part + sent * FCS


def total_bytes(frames: Frames) -> int:
    """Bytes of all frames, without FCS."""
    given = frames.frames
    return given.total_bytes if isinstance(given, _core.Recording) else sum(map(len, given))


def plan(wanted: Wanted, link_mbps: int | None, sink: int | None, position: int = 0) -> Planned:
    """The stream. Raises UsageError and CaptureFileError."""
    _check(wanted)
    flows, title, notes = _recorded(wanted) if wanted.pcap else _made(wanted)
    schedule, when = _schedule(wanted, flows, link_mbps)
    count = wanted.count
    if isinstance(flows, Frames) and count is None and wanted.duration is None and wanted.loop != 0:
        count = flows.count * (wanted.loop or 1)
        if count > MOST_FRAMES:
            raise UsageError(f"--loop {wanted.loop}: more than {MOST_FRAMES} frames; 0 sends until stopped")
    stream = Stream(
        flows,
        wanted.size,
        schedule,
        source=0,
        sink=sink,
        duration_s=wanted.duration,
        count=count,
        late=wanted.late,
        name=f"stream {position + 1}",
    )
    return Planned(stream, f"{title}, {when}", notes)


def _check(wanted: Wanted) -> None:
    """Options that exclude each other, or values that make no sense."""
    if wanted.flows is not None and wanted.pcap is not None:
        raise UsageError("--flows and --pcap exclude each other: a stream is made from one of them")
    needs_pcap = {"--speed": wanted.speed, "--loop": wanted.loop, "--probe": wanted.probe or None}
    for option, value in needs_pcap.items():
        if value is not None and wanted.pcap is None:
            raise UsageError(f"{option} is for frames of a capture: it needs --pcap FILE")
    if wanted.speed is not None:
        if wanted.rate is not None:
            raise UsageError("--speed and --rate exclude each other: --speed scales the capture's own times")
        check_number("--speed", wanted.speed, 1e-6, 1e6)
    if wanted.pcap is not None and wanted.flow_count is not None:
        raise UsageError("--flow-count is for --flows: a capture has as many flows as frames")
    ends = {"--count": wanted.count, "--duration": wanted.duration, "--loop": wanted.loop}
    said = [option for option, value in ends.items() if value is not None]
    if len(said) > 1:
        raise UsageError(f"{' and '.join(said)} exclude each other: say once when to end")
    check_ends(wanted.count, wanted.duration)
    check_number("--seed", wanted.seed, 0, 2**63 - 1)
    if wanted.burst is not None:
        check_number("--burst", wanted.burst, 1, 1_000_000)
    late_limit_ns(wanted.late)
    if wanted.poisson and wanted.burst is not None:
        raise UsageError("--poisson and --burst exclude each other")
    if (wanted.poisson or wanted.burst is not None) and wanted.rate in (None, "max"):
        raise UsageError("--poisson and --burst need a --rate: the mean of the whole stream")


def _made(wanted: Wanted) -> tuple[FlowSet, str, tuple[str, ...]]:
    flows = parse_flows(wanted.flows or "", wanted.flow_count, seed=wanted.seed)
    many = f"{flows.count} flows" if flows.count > 1 else "1 flow"
    return flows, f"{many} of {wanted.size}-byte frames", ()


def _recorded(wanted: Wanted) -> tuple[Frames, str, tuple[str, ...]]:
    assert wanted.pcap is not None
    recording = _core.read_capture(None if wanted.pcap == "-" else wanted.pcap)
    notes = []
    if recording.broken:
        notes.append(
            f"{wanted.pcap}: {recording.broken}; the {len(recording)} whole frames before it are sent"
        )
    if recording.cut:
        notes.append(
            f"{wanted.pcap}: {recording.cut} frames were cut by the capture, and are sent as they are"
        )
    frames = Frames(recording, wanted.probe)
    return frames, f"{len(recording)} frames of {wanted.pcap}", tuple(notes)


def _schedule(wanted: Wanted, flows: FlowSet | Frames, link_mbps: int | None) -> tuple[Schedule, str]:
    if isinstance(flows, Frames) and wanted.rate is None:
        assert isinstance(flows.frames, _core.Recording)
        speed = 1 if wanted.speed is None else wanted.speed
        when = "at its own times" if speed == 1 else f"{speed:g} times as fast as captured"
        return Schedule.recorded(flows.frames.times_ns, speed=speed), when
    size: Fraction | int = wanted.size
    if isinstance(flows, Frames):
        size = Fraction(total_bytes(flows), flows.count) + FCS
    rate = parse_rate(wanted.rate or "max", size, link_mbps)
    if rate is None:
        return Schedule.max(), "as fast as possible"
    rate = rate.limit_denominator(10**9)
    if not rate:
        raise UsageError(f"--rate {wanted.rate}: less than a frame in 30 years")
    said = f"{float(rate):.10g} pps"
    if wanted.poisson:
        return Schedule.poisson(rate, wanted.seed), f"{said}, Poisson"
    if wanted.burst is not None:
        gap_ns = round(wanted.burst * 10**9 / rate)
        return Schedule.bursts(wanted.burst, gap_ns), f"{said} in bursts of {wanted.burst}"
    return Schedule.cbr(rate), f"{said}, constant"


def parse_stream(text: str, defaults: Wanted) -> Wanted:
    """A stream as `--stream` describes it: the other options without their dashes, with spaces between them.

    >>> parse_stream("flows=udp_dst=7 rate=10k poisson", Wanted(size=128))
    Wanted(flows='udp_dst=7', flow_count=None, pcap=None, speed=None, loop=None, probe=False, size=128, rate='10k', poisson=True, \
burst=None, late='catch_up', count=None, duration=None, seed=1)
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--stream {text!r}: {error}") from None
    given: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        read = _READERS.get(key)
        if read is None or (bool(equals) == (read is bool)):
            flags = [name for name, reader in _READERS.items() if reader is bool]
            values = [f"{name}=..." for name, reader in _READERS.items() if reader is not bool]
            raise UsageError(
                f"--stream {text!r}: {word!r} is not understood; allowed: {', '.join(values + flags)}"
            )
        try:
            given[key.replace("-", "_")] = True if read is bool else read(value)
        except ValueError:
            raise UsageError(f"--stream {text!r}: {key} is {value!r}; expected a number") from None
    if given.keys() & _ENDS:
        # Its own end is instead of the others'.
        defaults = replace(defaults, count=None, duration=None, loop=None)
    return replace(defaults, **given)


_ENDS = frozenset({"count", "duration", "loop"})

_READERS: Mapping[str, Callable[[str], Any]] = {
    "flows": str,
    "flow-count": int,
    "pcap": str,
    "speed": float,
    "loop": int,
    "probe": bool,
    "size": int,
    "rate": str,
    "poisson": bool,
    "burst": int,
    "late": str,
    "count": int,
    "duration": float,
    "seed": int,
}
assert {key.replace("-", "_") for key in _READERS} == {field.name for field in fields(Wanted)}


def all_wanted(texts: Sequence[str], options: Wanted) -> list[Wanted]:
    """Every stream: those of `--stream`, with the other options as their defaults, or the one that these describe."""
    if not texts:
        return [options]
    if options.flows is not None or options.pcap is not None:
        raise UsageError("with --stream, say flows and captures in each stream: --stream 'flows=udp_dst=7'")
    return [parse_stream(text, options) for text in texts]
