"""Veth pairs in network namespaces of our own, and programs inside them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from bench.pairs import Unavailable
from flowgauge.duts import netns
from flowgauge.duts.lease import Lease

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def need(*programs: str) -> None:
    """Raise Unavailable unless we are root and the programs are there."""
    if os.geteuid() != 0:
        raise Unavailable("needs root (network namespaces): sudo make bench")
    missing = [p for p in programs if shutil.which(p) is None]
    if missing:
        raise Unavailable(f"not installed: {', '.join(missing)}")


def example(name: str) -> str:
    """Path of one of our example programs, built in release mode by `make bench`."""
    path = TARGET / "release" / "examples" / name
    if not path.exists():
        raise Unavailable(f"{path} is not built: run it by `make bench`")
    return str(path)


@dataclass(frozen=True)
class Wire:
    """A veth pair: `left` and `right` each in the namespace of its name."""

    left: str
    right: str

    def command(self, end: str, program: Sequence[str], core: int | None = None) -> list[str]:
        """The command line that runs `program` in the namespace of that end, on one core if asked."""
        pin = [] if core is None else ["taskset", "-c", str(core % (os.cpu_count() or 1))]
        return ["ip", "netns", "exec", end, *pin, *program]

    def received(self, end: str) -> int:
        """Frames that the kernel has received on that end."""
        return int(run(["ip", "netns", "exec", end, "cat", f"/sys/class/net/{end}/statistics/rx_packets"]))


@contextmanager
def wire() -> Iterator[Wire]:
    """A fresh pair, without IPv6, offloads or addresses; removed afterwards."""
    # A lease, so that `flowgauge clean` finds what a bench that was killed left behind.
    lease = Lease.take("bench")
    try:
        left, right = ends = [netns.add(lease, side) for side in "lr"]
        pair = ["type", "veth", "peer", "name", right, "netns", right]
        run(["ip", "link", "add", left, "netns", left, *pair])
        for end in ends:
            run(["ip", "-n", end, "link", "set", end, "up"])
        for end in ends:
            await_carrier(end)
        yield Wire(*ends)
    finally:
        lease.end()


def await_carrier(end: str) -> None:
    """Until the kernel has noticed that both ends are up, at most 5 s."""
    deadline = time.monotonic() + 5
    while run(["ip", "netns", "exec", end, "cat", f"/sys/class/net/{end}/operstate"]).strip() != "up":
        if time.monotonic() > deadline:
            raise Unavailable(f"{end} has no carrier")
        time.sleep(0.05)


def run(command: Sequence[str], timeout: float = 60) -> str:
    """Output of a program; raises with what it said when it fails."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


@contextmanager
def background(command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """A program that runs meanwhile, in a process group of its own: what it forks ends with it (trafgen forks its senders)."""
    process = subprocess.Popen(
        command,
        # Open, and silent: testpmd ends with its standard input.
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
