"""What the tester itself can do: its ports joined to each other, without a DUT.

Ring: two joined ring ports. AF_PACKET and AF_XDP: a veth pair between two namespaces of our own. DPDK: a virtio-user port and a vhost
port on one socket, both ends in our worker, so that its limit is rather too low. Control: echoes between two ends of our own channel over
loopback. Cached per host, backend and version of the tool; measured again when older than a day. The delay is taken several times, and
only kept when the quietest two agree: what other work on the host does to one would colour a whole day's figures.
"""

from __future__ import annotations

import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from flowgauge import _core, cache
from flowgauge.duts import netns
from flowgauge.duts.cores import core_plan, on_cores
from flowgauge.duts.interface import PortWiring
from flowgauge.duts.lease import Lease
from flowgauge.errors import FlowgaugeError, SetupError
from flowgauge.flows import Schedule
from flowgauge.testbed.interface import Loopback
from flowgauge.testbed.openers import open_port

SIZES = (64, 512, 1518)
MAX_AGE = timedelta(days=1)
TRIAL_NS = 100_000_000
ECHO_S, ECHO_PER_S = 0.3, 1000
MTU = 1500
DELAYS = 5
"""How often the delay is taken at most."""
AGREE, AGREE_NS = 1.25, 200
"""Two delays agree when the longer is within this factor of the shorter, and so much more."""
RING_SLOTS = 4096
SETTLE_S = 0.5
"""How long two vhost-user ends take to come to terms after they have met."""

Pair = tuple[_core.Port, _core.Port]


def cached(backend: str) -> Loopback | None:
    """The tester's limits on a backend: from the cache, or measured now; None when that fails."""
    path, key = cache_file(), cache_key(backend)
    if (found := _fresh(cache.read(path).get(key))) is not None:
        return found
    try:
        measured, steady = measure_steadily(backend)
    except FlowgaugeError:
        return None
    # A size without a lossless rate, too, means that the host was too busy just now: not worth keeping for a day.
    if steady and all(measured.max_pps.values()):
        cache.write(path, {**cache.read(path), key: asdict(measured)})
    return measured


def measure(backend: str) -> Loopback:
    """Measure now, in a few seconds. Raises SetupError and its kinds."""
    return measure_steadily(backend)[0]


def measure_steadily(backend: str) -> tuple[Loopback, bool]:
    """As `measure`, and whether the host was quiet enough for the delay to repeat."""
    with joined_ports(backend) as ports:

        def once(sizes: Sequence[int]) -> tuple[list[tuple[int, float]], float, float]:
            return _core.measure_loopback(ports, sizes, core=core_plan().worker, trial_ns=TRIAL_NS)

        rates = once(SIZES)[0]
        (delay_ns, spread_ns), steady = quietest(lambda: once(())[1:])
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Loopback(backend, dict(rates), delay_ns, spread_ns, now, own_echo_ns()), steady


def quietest(take: Callable[[], tuple[float, float]]) -> tuple[tuple[float, float], bool]:
    """The shortest delay, with its spread, of those taken until the shortest two agree, and whether they do.

    >>> disturbed = iter([(15000, 9000), (1200, 300), (4000, 900), (1150, 200)])
    >>> quietest(lambda: next(disturbed))
    ((1150, 200), True)
    >>> worse_and_worse = iter([(1000, 1), (2000, 1), (4000, 1), (8000, 1), (16000, 1)])
    >>> quietest(lambda: next(worse_and_worse))
    ((1000, 1), False)
    """
    taken = [take()]
    while len(taken) < DELAYS:
        taken = sorted([*taken, take()])
        if taken[1][0] <= AGREE * taken[0][0] + AGREE_NS:
            return taken[0], True
    return taken[0], False


def joined_ports(backend: str) -> AbstractContextManager[Pair]:
    """Two tester ports of a backend, each the other's cable end. Raises SetupError and its kinds."""
    if backend not in JOINED:
        raise SetupError(f"no backend is called {backend!r}; there are: {', '.join(JOINED)}")
    return JOINED[backend]()


@contextmanager
def _rings() -> Iterator[Pair]:
    with _closing(*_core.ring_pair(RING_SLOTS)) as ports:
        yield ports


@contextmanager
def _veth(backend: str) -> Iterator[Pair]:
    lease = Lease.take("loop-back measurement")
    try:
        a, b = netns.add(lease, "loop-a"), netns.add(lease, "loop-b")
        netns.veth(((a, "fg-a"), (b, "fg-b")), MTU)
        wiring = [PortWiring(n, backend, f"fg-{end}", ns) for n, (end, ns) in enumerate((("a", a), ("b", b)))]
        with _opened(wiring) as ports:
            yield ports
    finally:
        lease.end()


@contextmanager
def _vhost() -> Iterator[Pair]:
    lease = Lease.take("loop-back measurement")
    try:
        socket = lease.directory(Path(tempfile.gettempdir())) / "loop.sock"
        rings = "queues=1,packed_vq=1,queue_size=1024"
        wiring = [
            PortWiring(0, "dpdk", f"net_vhost90,iface={socket},queues=1", options={"link_wait_s": 0.0}),
            PortWiring(1, "dpdk", f"net_virtio_user90,path={socket},{rings}"),
        ]
        with _opened(wiring) as ports:
            time.sleep(SETTLE_S)
            yield ports
    finally:
        lease.end()


@contextmanager
def _opened(wirings: Sequence[PortWiring]) -> Iterator[Pair]:
    plan = core_plan()
    with ExitStack() as stack:
        ports = []
        for wiring in wirings:
            ports.append(open_port(wiring, plan))
            stack.callback(ports[-1].close)
        yield ports[0], ports[1]


@contextmanager
def _closing(a: _core.Port, b: _core.Port) -> Iterator[Pair]:
    with ExitStack() as stack:
        for port in (a, b):
            stack.callback(port.close)
        yield a, b


JOINED: Mapping[str, Callable[[], AbstractContextManager[Pair]]] = {
    "ring": _rings,
    "af_packet": lambda: _veth("af_packet"),
    "af_xdp": lambda: _veth("af_xdp"),
    "dpdk": _vhost,
}
"""Backend -> two joined ports of it."""


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
    """Where the limits are kept."""
    return cache.folder() / "loopback.json"


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
