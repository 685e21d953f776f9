"""What `flowgauge doctor` finds: one thing looked at, how it bears on its subject, and the command that mends it."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from flowgauge.errors import FlowgaugeError

CAPABILITIES = {
    "CAP_NET_ADMIN": 12,
    "CAP_NET_RAW": 13,
    "CAP_IPC_LOCK": 14,
    "CAP_SYS_ADMIN": 21,
    "CAP_BPF": 39,
}


class State(StrEnum):
    """How a finding bears on its subject."""

    GOOD = "good"
    LACK = "lack"
    """Its subject does not work without."""
    WORSE = "worse"
    """It works, with less trustworthy or slower results."""


@dataclass(frozen=True)
class Finding:
    """One thing looked at. `mend` is the one command that mends a lack."""

    subject: str
    what: str
    state: State
    text: str
    mend: str | None = None


def judged(subject: str, what: str, look: Callable[[], object], good: str | None = None) -> Finding:
    """What `look` gives, or `good`, as text; the error it raises is the lack, with its advice as what mends it."""
    try:
        found = look()
    except FlowgaugeError as error:
        return Finding(subject, what, State.LACK, error.message, error.advice)
    return Finding(subject, what, State.GOOD, good or str(found))


def privileged(subject: str, names: Sequence[str], *, root: bool) -> Finding:
    """Whether this process has the capabilities (and is root)."""
    missing = [n for n in names if not effective() >> CAPABILITIES[n] & 1]
    if root and os.geteuid() != 0:
        return Finding(subject, "privilege", State.LACK, "not root", as_root())
    if missing:
        mend = as_root() if os.geteuid() else f"docker run --privileged ...  (lacks {', '.join(missing)})"
        return Finding(subject, "privilege", State.LACK, f"without {', '.join(missing)}", mend)
    return Finding(subject, "privilege", State.GOOD, ", ".join(names))


def as_root() -> str:
    """How to call this program as root: sudo looks for programs in few folders, none of them of a virtual environment."""
    program = sys.argv[0] if "/" in sys.argv[0] else "flowgauge"
    return f"run it as root: sudo {shlex.quote(program)} ..."


def polling_cores(subject: str) -> Iterator[Finding]:
    """Whether a DUT that polls leaves a core to everything but itself and the tester."""
    cores = len(os.sched_getaffinity(0))
    if cores >= 3:
        yield Finding(subject, "cores", State.GOOD, f"{cores} usable")
        return
    text = f"{cores} usable: the DUT's polling thread and the tester's take them all"
    yield Finding(subject, "cores", State.WORSE, text, "use a machine with 4 or more cores")


def effective() -> int:
    """This process's capabilities."""
    for line in (read("/proc/self/status") or "").splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return 0


def read(path: str) -> str | None:
    """A file's text; None when it can't be read."""
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None
