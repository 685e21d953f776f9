"""Which thread runs on which core.

The tester's workers, which transmit and receive, spin on the last cores that this process may use, one each. Where ports have several
queues there are more of them: one for each queue of each port, if that takes no more than half of the cores; fewer workers have equal
shares, with a queue of each port if they can. A DUT that polls by itself (a PMD thread of Open vSwitch) gets the core before them. The
channel thread, the DUT's other threads and everything else share the rest: they look for work for a moment and then sleep. So at most
cores - 1 threads of ours spin, and none where somebody else does.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

MANY = 8
"""From so many cores on, there may be a worker for each port."""


@dataclass(frozen=True)
class CorePlan:
    """Cores by part. No `workers`: there is only one core, so the worker must not spin either. `dut_pmd`: where the DUT polls."""

    workers: tuple[int, ...]
    channel: tuple[int, ...]
    dut: tuple[int, ...]
    note: str
    dut_pmd: int | None = None

    @property
    def worker(self) -> int | None:
        """The first worker's core."""
        return self.workers[0] if self.workers else None

    @property
    def worker_spins(self) -> bool:
        """Whether the workers have cores of their own to spin on."""
        return bool(self.workers)

    @property
    def channel_spin_us(self) -> int:
        """How long the channel thread looks for work before it sleeps.

        On one core with the DUT it sleeps at once: a thread that wakes up is served sooner than one that has used up its share by
        spinning (measured on two cores: PACKET_OUT p99 through Open vSwitch 0.4 ms instead of 4.5 ms).
        """
        return 50 if len(self.channel) > 1 else 0

    @property
    def spinning(self) -> tuple[int, ...]:
        """Cores that are always busy, ascending."""
        polled = () if self.dut_pmd is None else (self.dut_pmd,)
        return tuple(sorted({*self.workers, *polled}))


def plan(cores: Sequence[int], *, polls: bool = False, ports: int = 1, queues: int = 1) -> CorePlan:
    """The plan for these cores, ascending; `polls`: the DUT has a thread that spins; `ports`: so many get workers of their own if they can;
    `queues` of each port: likewise, also on few cores.

    >>> plan([0, 1]).note
    'worker spins on core 1; channel and DUT on 0'
    >>> plan([0, 1], polls=True).note
    'worker spins on core 1; the DUT polls on 0; channel and the rest of the DUT on 0, which it must share'
    >>> plan(range(4), polls=True).note
    'worker spins on core 3; the DUT polls on 2; channel and the rest of the DUT on 0,1'
    >>> plan(range(16), polls=True, ports=2).note
    'workers spin on cores 14,15; the DUT polls on 13; channel and the rest of the DUT on 0,1,2,3,4,5,6,7,8,9,10,11,12'
    >>> plan(range(4), polls=True, ports=2, queues=2).note
    'workers spin on cores 2,3; the DUT polls on 1; channel and the rest of the DUT on 0'
    """
    rest = tuple(cores)
    if len(rest) < 2:
        note = "one core: worker, channel and DUT share it, and each yields"
        return CorePlan((), rest, rest, note, rest[0] if polls and rest else None)
    most = len(rest) // 2 if queues > 1 else len(rest) // 4 if len(rest) >= MANY else 1
    count = max(1, min(ports * queues, most))
    rest, workers = rest[:-count], rest[-count:]
    pmd = None
    if polls:
        pmd = rest[-1]
        rest = rest[:-1] or rest
    return CorePlan(workers, rest, rest, _note(workers, rest, pmd), pmd)


def core_plan(*, polls: bool = False, ports: int = 1, queues: int = 1) -> CorePlan:
    """The plan for the cores that this process may use."""
    return plan(sorted(_usable()), polls=polls, ports=ports, queues=queues)


@contextmanager
def on_cores(cores: Sequence[int]) -> Iterator[None]:
    """Threads that the calling thread starts meanwhile run on those cores (they inherit its affinity)."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores or before)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


_START_AFFINITY = frozenset(os.sched_getaffinity(0))


def _usable() -> frozenset[int]:
    # Read once at import: a thread of ours that is pinned later must not shrink the plan.
    return _START_AFFINITY


def _note(workers: tuple[int, ...], rest: tuple[int, ...], pmd: int | None) -> str:
    spins = (
        f"worker spins on core {workers[0]}"
        if len(workers) == 1
        else f"workers spin on cores {_list(workers)}"
    )
    if pmd is None:
        return f"{spins}; channel and DUT on {_list(rest)}"
    shared = ", which it must share" if pmd in rest else ""
    return f"{spins}; the DUT polls on {pmd}; channel and the rest of the DUT on {_list(rest)}{shared}"


def _list(cores: tuple[int, ...]) -> str:
    return ",".join(map(str, cores))
