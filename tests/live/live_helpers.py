"""Helpers of the live tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from flowgauge.duts import netns
from flowgauge.duts.lease import Lease, leases

PROGRAM = [sys.executable, "-c", "from flowgauge.cli import main; main()"]


@contextmanager
def veth_of_queues(queues: int) -> Iterator[str]:
    """A namespace with the pair `va`, `vb`, each end with so many queues."""
    lease = Lease.take("test")
    try:
        space = netns.add(lease, "veth")
        ends = f"numrxqueues {queues} numtxqueues {queues}"
        ip(space, f"link add name va {ends} type veth peer name vb {ends}")
        for end in ("va", "vb"):
            ip(space, f"link set {end} up")
        yield space
    finally:
        lease.end()


def ip(space: str, arguments: str) -> str:
    """`ip` in a namespace; what it printed."""
    command = ["ip", "-n", space, *arguments.split()]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exists(namespaces: list[str], directories: list[str]) -> list[str]:
    """Those of the namespaces and directories that are there."""
    found = [n for n in namespaces if (Path("/run/netns") / n).exists()]
    return found + [d for d in directories if Path(d).exists()]


def flowgauge(*argv: str | Path, under: Sequence[str] = ()) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command."""
    command = [*under, *PROGRAM, *map(str, argv)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def trials(run: Path) -> list[tuple[str, str | None]]:
    """Status and reason of each trial."""
    lines = (run / "trials.jsonl").read_text().splitlines()
    return [(t["status"], t["reason"]) for t in map(json.loads, lines)]


def failure_among(run: Path) -> str:
    """The reason of the one trial that failed, neither the first nor the last; the others are good."""
    first, *between, last = trials(run)
    assert first == last == ("ok", None)
    assert sorted(status for status, _ in between) == ["failed", *["ok"] * (len(between) - 1)]
    (reason,) = [reason for _, reason in between if reason]
    return reason


def interfere(
    argv: list[str], line: str, act: Callable[[subprocess.Popen[str]], None]
) -> tuple[int, str, str]:
    """Run a command, and do something once it has printed `line`: promptly, also beside ports that poll on all cores."""
    with subprocess.Popen(
        [*PROGRAM, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        seen = ""
        with _ahead_of_others():
            for text in process.stdout:
                seen += text
                if line in text:
                    act(process)
                    break
        out, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    return process.returncode, seen + out, err


@contextmanager
def _ahead_of_others() -> Iterator[None]:
    """This thread, and what it starts, run before all that has no real-time priority: `served_first` is what `ovs:dpdk` itself takes."""
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def lease_under(pid: int) -> Lease:
    """The lease of the worker that process `pid` started."""
    (lease,) = [found for found in leases() if _parent(found.owner.pid) == pid]
    return lease


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0
