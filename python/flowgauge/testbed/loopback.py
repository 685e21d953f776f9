"""What the tester itself can do: its ports joined to each other, without a DUT.

Ring: two joined ring ports. AF_PACKET: a veth pair between two namespaces of our own. Control: echoes between two ends of our own
channel over loopback. Cached per host, backend and version of the tool; measured again when older than a day.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from flowgauge import _core
from flowgauge.duts import netns
from flowgauge.duts.cores import core_plan
from flowgauge.duts.lease import Lease
from flowgauge.errors import FlowgaugeError, SetupError
from flowgauge.flows import FlowSet, Schedule
from flowgauge.testbed.interface import Loopback, Reception, Stream
from flowgauge.testbed.transmission import LiveTransmission, spec

SIZES = (64, 512, 1518)
MAX_AGE = timedelta(days=1)
RATE_S, DELAY_S, ECHO_S = 0.25, 0.5, 0.3
DELAY_PPS, ECHO_PER_S = 10_000, 1000
DRAIN_S = 0.02
ATTEMPTS = 6
BACK_OFF = 0.85
"""After a loss, the next attempt offers that share of what came back."""
MTU = 1500
RING_SLOTS = 4096

Pair = tuple[_core.Port, _core.Port]


def cached(backend: str) -> Loopback | None:
    """The tester's limits on a backend: from the cache, or measured now; None when that fails."""
    path, key = cache_file(), cache_key(backend)
    known = _read(path)
    if (found := _fresh(known.get(key))) is not None:
        return found
    try:
        measured = measure(backend)
    except FlowgaugeError:
        return None
    with suppress(OSError):
        _write(path, {**_read(path), key: asdict(measured)})
    return measured


def measure(backend: str) -> Loopback:
    """Measure now, in about two seconds. Raises SetupError and its kinds."""
    with joined_ports(backend) as ports:
        delay_ns, spread_ns = own_delay(ports)
        rates = {size: highest_rate(ports, size) for size in SIZES}
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Loopback(backend, rates, delay_ns, spread_ns, now, own_echo_ns())


@contextmanager
def joined_ports(backend: str) -> Iterator[Pair]:
    """Two tester ports of a backend, each the other's cable end."""
    if backend == "ring":
        ports = _core.ring_pair(RING_SLOTS)
        try:
            yield ports
        finally:
            for port in ports:
                port.close()
    elif backend == "af_packet":
        with _veth_ports() as ports:
            yield ports
    else:
        raise SetupError(f"no backend is called {backend!r}; there are: ring, af_packet")


@contextmanager
def _veth_ports() -> Iterator[Pair]:
    lease = Lease.take("loop-back measurement")
    try:
        a, b = netns.add(lease, "loop-a"), netns.add(lease, "loop-b")
        netns.veth(((a, "fg-a"), (b, "fg-b")), MTU)
        ports = (_core.open_af_packet("fg-a", a), _core.open_af_packet("fg-b", b))
        try:
            yield ports
        finally:
            for port in ports:
                port.close()
    finally:
        lease.end()


def own_delay(ports: Pair) -> tuple[float, float]:
    """Median of the tester's own delay, and the half-width of its 5..95 % range, in ns."""
    latency = _run(ports, 64, Schedule.cbr(DELAY_PPS), DELAY_S).latency
    low, middle, high = (latency.percentile_ns(p) for p in (5, 50, 95))
    if low is None or middle is None or high is None:
        raise SetupError("nothing came back from the tester's own loop-back")
    return middle, (high - low) / 2


def highest_rate(ports: Pair, size: int) -> float:
    """Frames per second that come back without a loss: first as many as possible, then less until none is lost."""
    schedule = Schedule.max()
    rate = 0.0
    for _ in range(ATTEMPTS):
        result = _run(ports, size, schedule, RATE_S)
        rate = result.received / (result.elapsed_ns / 1e9) if result.elapsed_ns else 0.0
        if result.lost == 0 or rate == 0:
            break
        schedule = Schedule.cbr(rate * BACK_OFF)
    return rate


def own_echo_ns() -> float | None:
    """Median round trip of an echo between two ends of our own channel; None when it could not be measured."""
    switch = _core.Switch([], versions=["1.3"], datapath_id=1, cores=list(core_plan().dut))
    try:
        host, port = switch.address
        channel = _core.Channel("connect", host, port, netns=None, versions=["1.3"], spin_us=50)
        try:
            connection = channel.wait_connected(5)
            play = connection.echo(Schedule.cbr(ECHO_PER_S), round(ECHO_S * 1e9))
            play.wait(ECHO_S + 1)
            result = play.finish()
        finally:
            channel.close()
    finally:
        switch.stop()
    answered = result["reply_ns"] >= 0
    return float(np.median((result["reply_ns"] - result["sent_ns"])[answered])) if answered.any() else None


def _run(ports: Pair, size: int, schedule: Schedule, seconds: float) -> Reception:
    flows = FlowSet({"ipv4_dst": "198.19.0.1", "udp_dst": 7})
    stream = Stream(flows, size, schedule, source=0, sink=1, duration_s=seconds)
    core = _core.Transmission(
        ports,
        [spec(stream, 2)],
        drain_ns=round(DRAIN_S * 1e9),
        core=core_plan().worker,
        connection=None,
    )
    transmission = LiveTransmission([stream], core, lambda channel: None)
    transmission.wait()
    return transmission.reception(0)


def cache_file() -> Path:
    """$XDG_CACHE_HOME/flowgauge/loopback.json (~/.cache)."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "flowgauge" / "loopback.json"


def cache_key(backend: str) -> str:
    """Host, cores, backend and version: what the limits depend on."""
    cores = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    return f"{platform.node()} cores {cores} {platform.release()} {backend} {_core.__version__}"


def _fresh(entry: Any) -> Loopback | None:
    try:
        found = Loopback(**{**entry, "max_pps": {int(k): float(v) for k, v in entry["max_pps"].items()}})
        age = datetime.now(UTC) - datetime.fromisoformat(found.measured_at)
    except (TypeError, KeyError, ValueError, AttributeError):
        return None
    return found if timedelta(0) <= age < MAX_AGE else None


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _write(path: Path, data: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(f".{os.getpid()}.{time.monotonic_ns()}")
    aside.write_text(json.dumps(data, indent=1))
    aside.rename(path)
