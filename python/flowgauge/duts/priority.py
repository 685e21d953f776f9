"""Who is served first where threads that poll share their cores with everything else.

A thread that polls uses up its share of a core, and then waits behind whatever else wants to run; meanwhile frames pile up, and afterwards
they leave through full rings. Tester and DUT therefore run at the ordinary scheduler's highest priority, where nothing that they wait for
runs at a lower one: a datapath in the kernel would wait for the kernel's own threads.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

HIGHEST = -20


@contextmanager
def served_first() -> Iterator[None]:
    """The calling thread is, with the threads and processes that it starts meanwhile. Without the right to it (root, or CAP_SYS_NICE)
    nothing happens.
    """
    before = os.getpriority(os.PRIO_PROCESS, 0)
    _set(HIGHEST)
    serve_session_first(os.getpid())
    try:
        yield
    finally:
        _set(before)
        serve_session_first(os.getpid(), 0)


def serve_session_first(pid: int, priority: int = HIGHEST) -> None:
    """The session of a process against other sessions, which the kernel schedules against each other before it looks at threads. A process
    that is gone, or a kernel that does not do so, is no error.
    """
    with suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text(str(priority))


def _set(priority: int) -> None:
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, priority)
