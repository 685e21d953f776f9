"""What `flowgauge capture` does: opens ports and file, shows the rates, and says what came."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from flowgauge import _core
from flowgauge.duts.cores import core_plan
from flowgauge.errors import CaptureWriteError, UsageError
from flowgauge.packets.limits import check_core, check_ends
from flowgauge.packets.port_text import check_once, parse_port
from flowgauge.packets.rate_text import bits_per_second, frames_per_second, frames_text, nanoseconds
from flowgauge.packets.watch import Seconds, Show, interrupts, shown
from flowgauge.testbed.interface import Latency
from flowgauge.testbed.openers import open_port

LOOK_S = 0.02


@dataclass(frozen=True)
class Request:
    """The command line as it was given."""

    ports: Sequence[str]
    read: str | None
    netns: str | None
    write: str | None
    form: str | None
    count: int | None
    duration_s: float | None
    snaplen: int
    probes: bool
    queue_mib: int
    core: int | None
    json: bool
    quiet: bool
    queues: int | None = None


def run(request: Request) -> int:
    """The whole command; returns the exit code. Raises UsageError, SetupError, CaptureWriteError and their kinds."""
    if request.read is not None:
        return judge(request)
    if not request.ports:
        raise UsageError(
            "say where to capture: --port af_packet:eth0", advice="--read FILE judges a capture file."
        )
    check_ends(request.count, request.duration_s)
    check_core(request.core)
    check_once(request.ports)
    wirings = [parse_port(text, request.netns, queues=request.queues) for text in request.ports]
    for text, wiring in zip(request.ports, wirings, strict=True):
        if wiring.backend in ("ring", "pcap"):
            raise UsageError(
                f"--port {text}: nothing arrives there", advice="--read FILE judges a capture file."
            )
    with ExitStack() as stack:
        handles = []
        for wiring in wirings:
            handles.append(open_port(wiring, core_plan()))
            stack.callback(handles[-1].close)
        file, form = _file(request)
        captured = _core.Capture(
            handles,
            file,
            form=form,
            snaplen=request.snaplen,
            count=request.count,
            duration_ns=None if request.duration_s is None else round(request.duration_s * 1e9),
            probes=request.probes,
            core=request.core,
            queue_bytes=request.queue_mib << 20,
        )
        _lead(captured, request)
        found = captured.finish()
    return _end(request, found)


def _file(request: Request) -> tuple[int | None, str]:
    """A descriptor to write to, and the format."""
    if request.write is None:
        return None, "pcapng"
    named = "pcap" if request.write.endswith((".pcap", ".cap")) else "pcapng"
    form = request.form or named
    if request.write == "-":
        if sys.stdout.isatty():
            raise UsageError(
                "--write -: a capture is nothing for a terminal", advice="For example: -w - | tshark -r -"
            )
        return os.dup(sys.stdout.fileno()), form
    try:
        return os.open(request.write, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), form
    except OSError as error:
        raise CaptureWriteError(f"{request.write}: can't be written: {error.strerror or error}") from error


def _lead(captured: _core.Capture, request: Request) -> None:
    with interrupts() as stop, shown(quiet=request.quiet or request.json) as show:
        rates = _Rates(captured, show)
        while not captured.wait(LOOK_S):
            if stop.is_set():
                captured.stop()
            rates.look()


class _Rates:
    """Shows the rates of the last second."""

    def __init__(self, captured: _core.Capture, show: Show) -> None:
        self._captured, self._show = captured, show
        self._seconds = Seconds()
        self._before: Mapping[str, int] = dict.fromkeys(captured.progress(), 0)

    def look(self) -> None:
        """Once a second."""
        if not self._seconds.over():
            return
        now = self._captured.progress()
        seconds = (now["elapsed_ns"] - self._before["elapsed_ns"]) / 1e9
        if seconds > 0:
            pps = frames_per_second((now["frames"] - self._before["frames"]) / seconds)
            bps = bits_per_second(8 * (now["bytes"] - self._before["bytes"]) / seconds)
            self._show(
                f"{now['elapsed_ns'] / 1e9:6.1f} s  {frames_text(now['frames'])} ({pps}, {bps})"
                f"  dropped {now['dropped']}  lost {now['lost']}"
            )
        self._before = now


def _end(request: Request, found: Mapping[str, Any]) -> int:
    """Say what came, on standard output unless the file is there; raise what went wrong."""
    result = _result(request, found)
    lines = summary(result, broken=found["write_error"] is not None)
    text = json.dumps(result, indent=2) if request.json else "\n".join(lines)
    print(text, file=sys.stderr if request.write == "-" else sys.stdout)
    if found["error"] is not None:
        raise found["error"]
    if found["write_error"] is not None:
        raise CaptureWriteError(
            f"{request.write}: can't be written any more: {found['write_error']}",
            advice=f"It holds {frames_text(found['frames'] - found['lost'])}, all of them whole.",
        )
    return 0


def _result(request: Request, found: Mapping[str, Any]) -> dict[str, Any]:
    ports = zip(found["ports"], found["stamps"], strict=True)
    return {
        "seconds": found["elapsed_ns"] / 1e9,
        "frames": found["frames"],
        "bytes": found["bytes"],
        "dropped": found["dropped"],
        "lost": found["lost"],
        "file": request.write,
        "file_bytes": found["written"] if request.write is not None else None,
        "ports": [
            {"port": name, "frames": frames, "dropped": dropped, "stamps": stamps}
            for (name, frames, dropped), stamps in ports
        ],
        "probes": [_in_order(request, _probes(s)) for s in found["probes"]] if request.probes else None,
    }


def _in_order(request: Request, stream: dict[str, Any]) -> dict[str, Any]:
    """Between queues, which are read in turn, there is no order: nothing is known of it."""
    return {**stream, "reordered": None} if (request.queues or 1) > 1 else stream


def _probes(stream: Mapping[str, Any]) -> dict[str, Any]:
    delays = {key: _distribution(stream[key]) for key in ("latency", "variation")}
    return {
        **{k: v for k, v in stream.items() if k not in delays},
        **{f"{k}_ns": v for k, v in delays.items()},
    }


def _distribution(values: Mapping[str, Any] | None) -> dict[str, float | None] | None:
    if values is None or not values["count"]:
        return None
    latency = Latency(**values)
    percentiles = {f"p{p}": latency.percentile_ns(p) for p in (50, 99)}
    return {"min": latency.min_ns, "mean": latency.mean_ns, **percentiles, "max": latency.max_ns}


def judge(request: Request) -> int:
    """The probes of a capture file. Raises CaptureFileError."""
    if request.ports or request.write is not None:
        raise UsageError("--read is of a file: leave --port and --write out")
    name = request.read
    found = _core.judge_capture(None if name == "-" else name)
    streams = [_probes(stream) for stream in found["probes"]]
    result = {key: found[key] for key in ("frames", "bytes", "broken")} | {"probes": streams}
    if found["broken"]:
        print(f"note: {name}: {found['broken']}", file=sys.stderr)
    if request.json:
        print(json.dumps(result, indent=2))
    else:
        print("\n".join([amount(found), *judged(streams)]))
    return 0


def amount(result: Mapping[str, Any]) -> str:
    """How much came."""
    return f"{frames_text(result['frames'])}, {result['bytes']} bytes"


def summary(result: Mapping[str, Any], *, broken: bool = False) -> list[str]:
    """The result in lines. `broken`: the file could not be written any more."""
    seconds = result["seconds"]
    rate = f": {frames_per_second(result['frames'] / seconds)}" if seconds > 0 else ""
    lines = [f"{amount(result)} in {seconds:.3f} s{rate}"]
    for port in result["ports"]:
        frames = frames_text(port["frames"])
        lines.append(
            f"  {port['port']}: {frames}, {port['dropped']} dropped before us; {port['stamps']} stamps"
        )
    if result["lost"]:
        why = "could not be written to its end" if broken else "did not keep pace"
        lines.append(f"warning: missing in the file, which {why}: {frames_text(result['lost'])}")
    if result["file"]:
        name = "standard output" if result["file"] == "-" else result["file"]
        lines.append(f"{name}: {result['file_bytes']} bytes")
    return lines + (judged(result["probes"]) if result["probes"] is not None else [])


def judged(streams: Sequence[Mapping[str, Any]]) -> list[str]:
    """What became of each stream of probes, in lines."""
    if not streams:
        return ["no probes"]
    lines = []
    for stream in streams:
        names = ("received", "lost", "duplicated", "reordered")
        counts = ", ".join(f"{name} {stream[name]}" for name in names if stream[name] is not None)
        lines.append(f"probes of trial {stream['nonce']}, stream {stream['stream'] + 1}: {counts}")
        for name, key in (("delay", "latency_ns"), ("variation from frame to frame", "variation_ns")):
            if stream[key] is not None:
                known = ", ".join(f"{n} {nanoseconds(stream[key][n])}" for n in ("min", "p50", "p99", "max"))
                lines.append(f"  {name}: {known}")
    return lines
