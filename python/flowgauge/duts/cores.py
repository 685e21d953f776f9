"""Which thread runs on which core.

At most cores - 1 threads spin. The tester's worker, which transmits and receives, spins on the last core that this
process may use; the DUT, the channel thread and everything else share the others.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class CorePlan:
    """Cores by part. `worker` None: there is only one core, so the worker must not spin either."""

    worker: int | None
    channel: tuple[int, ...]
    dut: tuple[int, ...]
    note: str

    @property
    def worker_spins(self) -> bool:
        """Whether the worker has a core of its own to spin on."""
        return self.worker is not None

    @property
    def channel_spin_us(self) -> int:
        """How long the channel thread looks for work before it sleeps.

        On one core with the DUT it sleeps at once: a thread that wakes up is served sooner than one that has used up its share by
        spinning (measured on two cores: PACKET_OUT p99 through Open vSwitch 0.4 ms instead of 4.5 ms).
        """
        return 50 if len(self.channel) > 1 else 0


def plan(cores: list[int]) -> CorePlan:
    """The plan for these cores, ascending.

    >>> plan([0, 1])
    CorePlan(worker=1, channel=(0,), dut=(0,), note='worker spins on core 1; channel and DUT on 0')
    """
    if len(cores) < 2:
        note = "one core: worker, channel and DUT share it, and each yields"
        return CorePlan(None, tuple(cores), tuple(cores), note)
    *others, worker = cores
    rest = ",".join(map(str, others))
    note = f"worker spins on core {worker}; channel and DUT on {rest}"
    return CorePlan(worker, tuple(others), tuple(others), note)


def core_plan() -> CorePlan:
    """The plan for the cores that this process may use."""
    return plan(sorted(_usable()))


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
