"""What `flowgauge generate` does: opens ports, plans streams, sends, shows the rates, and says what came of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from flowgauge import _core
from flowgauge.duts.cores import CorePlan, core_plan
from flowgauge.errors import UsageError
from flowgauge.packets.limits import check_core
from flowgauge.packets.port_text import parse_port
from flowgauge.packets.rate_text import bits_per_second, frames_per_second, frames_text, nanoseconds
from flowgauge.packets.spread import spread
from flowgauge.packets.streams import Planned, Wanted, all_wanted, plan
from flowgauge.packets.watch import Seconds, Show, interrupts, shown
from flowgauge.testbed.interface import Reception, Stream, TesterState
from flowgauge.testbed.openers import open_port
from flowgauge.testbed.transmission import LiveTransmission, spec

RING_SLOTS = 1 << 13
LOOK_S = 0.02


@dataclass(frozen=True)
class Request:
    """The command line as it was given."""

    port: str
    receive: str | None
    netns: str | None
    options: Wanted
    streams: Sequence[str]
    core: int | None
    json: bool
    quiet: bool
    queues: int | None = None
    receive_queues: int | None = None

    @property
    def plan(self) -> CorePlan:
        """A worker for each queue, if there are cores enough."""
        return core_plan(queues=max(self.queues or 1, self.receive_queues or 1))


def run(request: Request) -> int:
    """The whole command; returns the exit code. Raises UsageError, CaptureFileError, SetupError and their kinds."""
    wanted = all_wanted(request.streams, request.options)
    with ExitStack() as stack:
        handles = _open(request)
        for handle in handles:
            stack.callback(handle.close)
        receives = request.receive is not None or len(handles) > 1
        sink = len(handles) - 1 if receives else None
        planned = [plan(one, handles[0].link_mbps(), sink, i) for i, one in enumerate(wanted)]
        planned = spread(planned, handles[0].queues)
        names = [handle.describe() for handle in handles]
        transmission = _start(handles, [one.stream for one in planned], request)
        stack.callback(transmission.abandon)
        for one in planned:
            _tell(request, one)
        stopped = _lead(transmission, request)
        transmission.abandon()
    error: Exception | None = transmission.outcome["error"]
    result = _result(planned, transmission, names, sink, stopped)
    if request.json:
        print(json.dumps(result, indent=2))
    else:
        print("\n".join(summary(result)))
    if error is not None:
        raise error
    return 0


def _open(request: Request) -> list[_core.Port]:
    """The port that sends, and the one that receives if there is one."""
    check_core(request.core)
    cores = request.plan
    sender = parse_port(request.port, request.netns, receive=False, queues=request.queues)
    if sender.backend == "ring":
        if request.receive is not None:
            raise UsageError("--port ring has its other end in this process; leave --receive out")
        if max(request.queues or 1, request.receive_queues or 1) > 1:
            raise UsageError("--port ring has one queue; leave --queues out")
        return list(_core.ring_pair(RING_SLOTS))
    if request.receive is None:
        return [open_port(sender, cores)]
    queues = request.queues if request.receive_queues is None else request.receive_queues
    receiver = parse_port(request.receive, request.netns, option="--receive", queues=queues)
    if receiver.backend in ("ring", "pcap"):
        raise UsageError(f"--receive {request.receive}: nothing arrives there")
    if sender.backend == "dpdk" and receiver == sender:
        # DPDK opens a device once; what it sends comes back to it.
        return [open_port(sender, cores)]
    first = open_port(sender, cores)
    try:
        return [first, open_port(receiver, cores)]
    except BaseException:
        first.close()
        raise


def _tell(request: Request, planned: Planned) -> None:
    """What will be sent, on standard error."""
    for note in planned.notes:
        print(f"note: {note}", file=sys.stderr)
    if not (request.quiet or request.json):
        print(f"{planned.stream.name}: {planned.title}", file=sys.stderr)


def _start(ports: Sequence[_core.Port], streams: Sequence[Stream], request: Request) -> LiveTransmission:
    workers = request.plan.workers if request.core is None else (request.core,)
    started = _core.Transmission(
        ports,
        [spec(stream, len(ports)) for stream in streams],
        # Without a receiver there is nothing to wait for.
        drain_ns=None if any(stream.sink is not None for stream in streams) else 0,
        core=None,
        cores=workers,
        connection=None,
    )
    return LiveTransmission(streams, started, lambda _channel: None)


def _lead(transmission: LiveTransmission, request: Request) -> bool:
    """Until all is sent, or somebody stops it; whether somebody did."""
    with interrupts() as stop, shown(quiet=request.quiet or request.json) as show:
        rates = _Rates(transmission, show)
        while not transmission.core.wait(LOOK_S):
            if stop.is_set():
                transmission.core.stop()
            rates.look()
        return stop.is_set()


class _Rates:
    """Shows the rates of the last second."""

    def __init__(self, transmission: LiveTransmission, show: Show) -> None:
        self._transmission, self._show = transmission, show
        self._seconds = Seconds()
        self._before: tuple[int, int, int] = (0, 0, 0)

    def look(self) -> None:
        """Once a second."""
        if not self._seconds.over():
            return
        progress = self._transmission.progress()
        now = progress.elapsed_ns, sum(progress.sent), sum(progress.received)
        seconds = (now[0] - self._before[0]) / 1e9
        if seconds > 0:
            receives = any(stream.sink is not None for stream in self._transmission.streams)
            sent, received = (
                (new - old) / seconds for new, old in zip(now[1:], self._before[1:], strict=True)
            )
            line = f"{now[0] / 1e9:6.1f} s  sent {now[1]} ({frames_per_second(sent)})"
            self._show(line + (f"  received {now[2]} ({frames_per_second(received)})" if receives else ""))
        self._before = now


def _result(
    planned: Sequence[Planned],
    transmission: LiveTransmission,
    names: Sequence[str],
    sink: int | None,
    stopped: bool,
) -> dict[str, Any]:
    """Everything that is known, for `--json`. What is not known is null."""
    receptions = [transmission.reception(i) for i in range(len(planned))]
    tester = transmission.tester
    streams = [_stream(one, found) for one, found in zip(planned, receptions, strict=True)]
    return {
        "port": names[0],
        "receive_port": None if sink is None else names[sink],
        "stopped_early": stopped,
        "streams": streams,
        "together": together(streams),
        "tester": _tester(tester, sink),
    }


def _stream(planned: Planned, found: Reception) -> dict[str, Any]:
    seconds = found.elapsed_ns / 1e9
    per_second: Callable[[float], float | None] = lambda n: n / seconds if seconds > 0 else None  # noqa: E731
    known = planned.stream.sink is not None and found.probed
    gaps = dict(found.gap_error_ns)
    late = gaps.pop("late_frames", None)
    # The largest error's bucket reaches beyond it.
    gaps = {name: min(error, gaps["max"]) for name, error in gaps.items()}
    return {
        "name": planned.stream.name,
        "what": planned.title,
        "requested": found.requested,
        "sent": found.sent,
        "not_offered": found.requested - found.sent,
        "seconds": seconds,
        "offered_pps": per_second(found.sent),
        "offered_l2_bps": per_second(8 * planned.layer_2_bytes(found.sent)),
        "gap_error_ns": gaps or None,
        "late_frames": None if late is None else int(late),
        "received": found.received if known else None,
        "lost": found.lost if known else None,
        "duplicated": found.duplicated if known else None,
        "reordered": found.reordered if known else None,
        "latency_ns": _latency(found) if known else None,
    }


def together(streams: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What all streams did together; their rates are from the start to the last one's end."""
    seconds = max(stream["seconds"] for stream in streams)
    sums: dict[str, Any] = {"seconds": seconds}
    for key in ("requested", "sent", "not_offered", "received", "lost", "duplicated", "reordered"):
        known = [stream[key] for stream in streams if stream[key] is not None]
        sums[key] = sum(known) if known else None
    bits = sum(stream["seconds"] * (stream["offered_l2_bps"] or 0) for stream in streams)
    rates = {"offered_pps": sums["sent"] / seconds, "offered_l2_bps": bits / seconds} if seconds > 0 else {}
    return {**sums, "offered_pps": None, "offered_l2_bps": None, **rates}


def _latency(found: Reception) -> dict[str, float | None] | None:
    latency = found.latency
    if latency.count == 0:
        return None
    percentiles = {f"p{p:g}".replace(".", ""): latency.percentile_ns(p) for p in (50, 99, 99.9)}
    return {"min": latency.min_ns, "mean": latency.mean_ns, **percentiles, "max": latency.max_ns}


def _tester(state: TesterState, sink: int | None) -> dict[str, Any]:
    return {
        "tx_errors": state.tx_errors,
        "rx_dropped": None if sink is None else state.rx_dropped,
        "foreign": None if sink is None else state.foreign[sink],
        "stalls_over_100us": state.stalls_over_100us,
        "stall_max_ns": state.stall_max_ns,
        "involuntary_switches": state.involuntary_switches,
        "timestamps": state.timestamps,
    }


def summary(result: Mapping[str, Any]) -> list[str]:
    """The result in lines."""
    lines = []
    for stream in result["streams"]:
        lines.append(_sent(stream["name"], stream))
        lines += [f"  {line}" for line in (*_departures(stream), *_arrivals(stream))]
    if len(result["streams"]) > 1:
        lines.append(_sent("together", result["together"]))
        lines += [f"  {line}" for line in _counts(result["together"])]
    tester = result["tester"]
    if tester["tx_errors"]:
        lines.append(f"warning: the port refused {frames_text(tester['tx_errors'])}")
    if tester["rx_dropped"]:
        lines.append(f"warning: our receive side dropped {frames_text(tester['rx_dropped'])}")
    if result["receive_port"] and tester["foreign"]:
        lines.append(f"{frames_text(tester['foreign'])} arrived without a probe of ours")
    if result["stopped_early"]:
        lines.append("stopped")
    return lines


def _sent(name: str, stream: Mapping[str, Any]) -> str:
    rate = ""
    if stream["offered_pps"] is not None:
        pps, bps = frames_per_second(stream["offered_pps"]), bits_per_second(stream["offered_l2_bps"])
        rate = f": {pps}, {bps} (layer 2)"
    return f"{name}: sent {frames_text(stream['sent'])} in {stream['seconds']:.3f} s{rate}"


def _departures(stream: Mapping[str, Any]) -> list[str]:
    lines = []
    gaps = stream["gap_error_ns"]
    if gaps:
        errors = ", ".join(
            f"{name} {nanoseconds(gaps[name])}" for name in ("p50", "p99", "max") if name in gaps
        )
        lines.append(f"departures off schedule: {errors}; {stream['late_frames']} late")
    if stream["not_offered"]:
        lines.append(f"warning: {frames_text(stream['not_offered'])} due did not leave")
    return lines


def _counts(stream: Mapping[str, Any]) -> list[str]:
    if stream["received"] is None:
        return []
    return [", ".join(f"{name} {stream[name]}" for name in ("received", "lost", "duplicated", "reordered"))]


def _arrivals(stream: Mapping[str, Any]) -> list[str]:
    delays = stream["latency_ns"]
    if not delays:
        return _counts(stream)
    known = ", ".join(f"{name} {nanoseconds(delays[name])}" for name in ("min", "p50", "p99", "max"))
    return [*_counts(stream), f"delay: {known}"]
