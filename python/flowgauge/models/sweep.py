"""Many runs on simulated devices at once: one process per run, as many at a time as there are cores.

Knows the command line of `flowgauge run` and nothing of what runs do.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Job:
    """One run: a suite (or benchmarks) on a DUT into a directory, with further arguments of `flowgauge run`."""

    targets: tuple[str, ...]
    dut: str
    directory: Path
    arguments: tuple[str, ...] = ()

    def command(self) -> list[str]:
        """What is called."""
        run = [sys.executable, "-m", "flowgauge", "run", *self.targets, "--dut", self.dut]
        return [*run, *self.arguments, "-o", str(self.directory)]


@dataclass(frozen=True)
class Ended:
    """How a run ended: its exit code, and what it printed."""

    job: Job
    exit_code: int
    output: str


def sweep(
    jobs: Sequence[Job], *, cores: int | None = None, done: Callable[[Ended], None] = lambda ended: None
) -> list[Ended]:
    """Do all jobs, `cores` at a time (None: those that this process may use). `done` hears of each as it ends."""

    def one(job: Job) -> Ended:
        result = subprocess.run(job.command(), capture_output=True, text=True, check=False)
        ended = Ended(job, result.returncode, result.stdout + result.stderr)
        done(ended)
        return ended

    with ThreadPoolExecutor(cores or len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(one, jobs))
