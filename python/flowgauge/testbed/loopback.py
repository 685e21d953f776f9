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
from flowgauge.duts.cores import core_plan, on_cores
from flowgauge.duts.lease import Lease
from flowgauge.errors import FlowgaugeError, SetupError
from flowgauge.flows import Schedule
from flowgauge.testbed.interface import Loopback

SIZES = (64, 512, 1518)
MAX_AGE = timedelta(days=1)
TRIAL_NS = 100_000_000
ECHO_S, ECHO_PER_S = 0.3, 1000
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
    # A size without a lossless rate means that the host was too busy just now: not worth keeping for a day.
    if all(measured.max_pps.values()):
        with suppress(OSError):
            _write(path, {**_read(path), key: asdict(measured)})
    return measured


def measure(backend: str) -> Loopback:
    """Measure now, in a few seconds. Raises SetupError and its kinds."""
    with joined_ports(backend) as ports:
        rates, delay_ns, spread_ns = _core.measure_loopback(
            ports, SIZES, core=core_plan().worker, trial_ns=TRIAL_NS
        )
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Loopback(backend, dict(rates), delay_ns, spread_ns, now, own_echo_ns())


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


def own_echo_ns() -> float | None:
    """Median round trip of an echo between two ends of our own channel; None when it could not be measured."""
    with on_cores(core_plan().dut):
        switch = _core.Switch([], versions=["1.3"], datapath_id=1)
    try:
        host, port = switch.address
        with on_cores(core_plan().channel):
            channel = _core.Channel(
                "connect", host, port, netns=None, versions=["1.3"], spin_us=core_plan().channel_spin_us
            )
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
