"""Who is served first where threads that poll share their cores with everything else.

A thread that polls uses up its share of a core, and then waits behind whatever else wants to run; meanwhile frames pile up, and afterwards
they leave through full rings. Tester and DUT therefore run at the ordinary scheduler's highest priority, where nothing that they wait for
runs at a lower one: a datapath in the kernel would wait for the kernel's own threads.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

HIGHEST = -20


@contextmanager
def served_first(pids: Iterable[int]) -> Iterator[None]:
    """These processes with all their threads, the calling thread and those that it starts meanwhile. Without the right to it (root, or
    CAP_SYS_NICE), or for what has ended already, nothing happens.
    """
    us, others = os.getpid(), list(pids)
    before = os.getpriority(os.PRIO_PROCESS, 0)
    groups = [Path(f"/proc/{pid}/autogroup") for pid in (us, *others)]
    for pid in others:
        for thread in _threads(pid):
            _set(thread, HIGHEST)
    _set(0, HIGHEST)
    # The kernel schedules sessions against each other first: between them a thread's own priority does not count.
    _write(groups, HIGHEST)
    try:
        yield
    finally:
        _set(0, before)
        _write(groups, 0)


def _threads(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(thread) for thread in os.listdir(f"/proc/{pid}/task")]
    return []


def _set(thread: int, priority: int) -> None:
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, thread, priority)


def _write(groups: Iterable[Path], priority: int) -> None:
    for group in groups:
        with suppress(OSError):  # no such group, or its process is gone
            group.write_text(str(priority))
