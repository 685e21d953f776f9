"""DPDK on both sides: hugepages for the time of a case, our program and dpdk-testpmd with the same memory on the same core."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.pairs import Unavailable
from bench.wires import ROOT, TARGET, background, example, need
from flowgauge.duts import hugepages
from flowgauge.duts.lease import Lease

MEMORY_MIB = 256
MBUFS = ("--total-num-mbufs=16384",)
"""testpmd asks for ten times as many by itself, which do not fit."""
WINDOWS = 3
"""testpmd's counters are read once a second; the first window is its start."""
PATIENCE_S = 30.0


def need_dpdk() -> None:
    """Raise Unavailable unless everything is there; builds the shim if that is all that is missing."""
    need("dpdk-testpmd", "pkg-config", "cc")
    build = ROOT / "crates" / "ports" / "src" / "dpdk" / "shim" / "build.sh"
    done = subprocess.run([build, shim()], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unavailable(f"the DPDK shim can't be built: {done.stderr.strip() or 'no libdpdk-dev'}")


def shim() -> Path:
    """Where the benchmarks' shim is."""
    return TARGET / "release" / "libflowgauge_dpdk.so"


@contextmanager
def huge_memory(mib: int) -> Iterator[Lease]:
    """A lease that holds so many MiB of hugepages."""
    lease = Lease.take("bench")
    try:
        lease.take_hugepages(mib)
        if hugepages.free_mib() < mib:
            raise Unavailable(f"{mib} MiB of hugepages can't be had: free memory, or restart the host")
        yield lease
    finally:
        lease.end()


def ours(*arguments: str) -> list[str]:
    """`packet_bench` on DPDK devices."""
    return [
        "env",
        f"FLOWGAUGE_DPDK_SHIM={shim()}",
        example("packet_bench"),
        *arguments,
        "--backend",
        "dpdk",
        "--core",
        str(last_core()),
    ]


def testpmd(devices: Sequence[str], *options: str) -> list[str]:
    """`dpdk-testpmd` that forwards on our core, its main thread on the one before."""
    core = last_core()
    eal = [
        "--lcores",
        f"{core - 1},{core}",
        "--no-pci",
        "--in-memory",
        "--single-file-segments",
        "--no-telemetry",
    ]
    memory = ["-m", str(MEMORY_MIB), f"--file-prefix=fg-bench-{os.getpid()}"]
    vdevs = [f"--vdev={device}" for device in devices]
    return ["dpdk-testpmd", *eal, *memory, *vdevs, "--", "--nb-cores=1", "--stats-period=1", *options]


def last_core() -> int:
    """Where the measured thread runs."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise Unavailable("needs two cores")
    return cores[-1]


def testpmd_rate(command: Sequence[str], counter: str, ports: int, skip: int = 1) -> float:
    """Median over the windows of what testpmd reports as `counter` (`Rx-pps`, `Tx-pps`), summed over its ports."""
    said: list[str] = []
    rates: list[float] = []
    with background(command) as process:
        # A timer ends one that says nothing.
        watchdog = threading.Timer(PATIENCE_S, process.kill)
        watchdog.start()
        try:
            assert process.stdout is not None
            for line in process.stdout:
                said.append(line)
                rates += [float(n) for n in re.findall(rf"{counter}:\s+(\d+)", line)]
                if len(rates) >= (skip + WINDOWS) * ports:
                    break
        finally:
            watchdog.cancel()
            # It gives back what it has only when it may end by itself.
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=5)
    if len(rates) < (skip + WINDOWS) * ports:
        raise RuntimeError(f"testpmd ended early: {''.join(said)[-2000:]}")
    windows = [sum(rates[i : i + ports]) for i in range(0, len(rates), ports)]
    return statistics.median(windows[skip:])
