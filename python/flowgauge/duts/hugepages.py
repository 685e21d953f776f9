"""Hugepages for DPDK, which this host does not have by itself: added to the kernel's pool under a lease, and given back exactly.

The pool is shared by all of the host: so what is added and taken away is a number of pages, never the whole pool's size. DPDK maps them
from memory (`--in-memory`): no hugetlbfs needs to be mounted.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

POOL = Path("/sys/kernel/mm/hugepages/hugepages-2048kB")
LOCK = Path("/run/lock/flowgauge-hugepages")
PER_MIB = 2
"""MiB in a page."""


@dataclass(frozen=True)
class Pages:
    """So many pages that are added to the pool. `before`: its size then; `added`: it has been done, and `count` is what came of it."""

    count: int
    before: int
    added: bool = False


def offered() -> bool:
    """Whether this kernel has such pages at all."""
    return POOL.is_dir()


def free_mib() -> int:
    """What is in the pool and in nobody's use."""
    return (_number("free_hugepages") - _number("resv_hugepages")) * PER_MIB


def pool() -> int:
    """The pool's size in pages, without those that go away when their user ends."""
    return _number("nr_hugepages") - _number("surplus_hugepages")


def wanted(mib: int) -> Pages:
    """What is to be added for so much memory: recorded before it is done."""
    return Pages(-(-mib // PER_MIB), pool())


def add(pages: Pages) -> Pages:
    """Add them; says how many the kernel found room for, perhaps none (no memory in one piece, no permission)."""
    with _locked():
        before = pool()
        # Pages that go away when their user ends become pages of the pool first; they are not free.
        _write(before + _number("surplus_hugepages") + pages.count)
        return Pages(max(0, pool() - before), before, added=True)


def give_back(pages: Pages) -> int:
    """Take them out of the pool again; says how many. Those that are still mapped go when their user ends."""
    with _locked():
        now = pool()
        # One who crashed in between may have added all, some or none.
        count = min(pages.count, now if pages.added else max(0, now - pages.before))
        _write(now - count)
        return count


def _number(name: str) -> int:
    try:
        return int((POOL / name).read_text())
    except (OSError, ValueError):
        return 0


def _write(count: int) -> None:
    try:
        (POOL / "nr_hugepages").write_text(str(count))
    except OSError:
        return  # the caller looks at what came of it


@contextmanager
def _locked() -> Iterator[None]:
    """Two runs that start at once must not overwrite each other's number."""
    LOCK.parent.mkdir(parents=True, exist_ok=True)
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
