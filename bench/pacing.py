"""Constant rate: 99th percentile of the error of the gaps between frames, beside tcpreplay and trafgen.

The kernel at the other end of a veth pair stamps what arrives, for all tools alike; a gap's error is its distance from the period. Tools
are compared that keep the mean rate, as those same stamps tell; how the others did is printed. Our own figures (schedule error, mean
rate, late frames, stalls) go to standard error. Ring ports have no kernel at their end: there our schedule error's p99 stands alone.
Ours leave one by one, as befits whoever wants the pace exact: late ones that leave together follow each other even more closely.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.dpdk import MEMORY_MIB, huge_memory, need_dpdk, shim
from bench.pairs import Result, alone, compare
from bench.veth_tx import FRAME
from bench.wires import Wire, background, example, need, wire
from bench.wires import run as output

SECONDS = 1
LIMIT_S = 1
"""A tool that needs longer is ended; what it sent until then counts."""
KEEPS_PERCENT = 0.5
"""A tool whose mean rate is further off is no peer..."""
HOPELESS_PERCENT = 5
"""... and one that is that far off at first is not measured again."""
STALL_NS = 100_000
START_S, DRAIN_S = 0.5, 1.2
CAPTURED = 60
FILE_HEADER, RECORD_HEADER = 24, 16
IN_FILE = 1000
"""Frames in tcpreplay's file where it sets the rate itself; it goes through it again and again."""
REPLAYED = bytes.fromhex(
    "020000000002 020000000001 0800 4500002e00000000 4011aaaa c6120002 0a000001 c0200007001a0000"
) + bytes(18)
"""The frame that all send, for tcpreplay."""


@dataclass(frozen=True)
class Gaps:
    """What the receiver saw: the mean rate's error in percent, the gaps' errors in ns."""

    frames: int
    off_percent: float
    p50_ns: float
    p99_ns: float


def run(backend: str, pps: int, pairs: int) -> Result:
    """Nanoseconds, both sides."""
    if backend == "ring":
        program = [example("packet_bench"), "ring", *pace(pps)]
        errors = [float(reported(program, pps)["gap_p99_ns"]) for _ in range(pairs)]
        return alone(errors, why="none: no other tool sends into a ring port", unit="ns")
    need("ip", "tcpdump", "tcpreplay", "trafgen", "taskset")
    with wire() as link, sender(backend, link, pps) as ours, peers(link, pps) as theirs:
        return side_by_side(link, pps, ours, theirs, pairs)


def side_by_side(
    link: Wire, pps: int, ours: Sequence[str], theirs: Mapping[str, Sequence[str]], pairs: int
) -> Result:
    """Ours beside the best of those peers that keep the rate."""
    mine: list[float] = []
    found: dict[str, list[Gaps]] = {name: [] for name in theirs}
    for i in range(pairs):
        hopeful = [n for n in theirs if not found[n] or abs(found[n][0].off_percent) < HOPELESS_PERCENT]
        for name in ["", *hopeful] if i % 2 == 0 else [*hopeful, ""]:
            gaps = gaps_of(link, ours if name == "" else theirs[name], pps, own=name == "")
            print(
                f"  {i + 1}/{pairs} {name or 'ours'}: gaps' error p50 {gaps.p50_ns:.0f} ns, p99 {gaps.p99_ns:.0f} ns;"
                f" mean rate {gaps.off_percent:+.4f} % ({gaps.frames} of {SECONDS * pps} frames)",
                file=sys.stderr,
            )
            if name == "":
                mine.append(gaps.p99_ns)
            else:
                found[name].append(gaps)
    keeping = {
        name: [gaps.p99_ns for gaps in seen]
        for name, seen in found.items()
        if len(seen) == pairs and abs(statistics.median(g.off_percent for g in seen)) <= KEEPS_PERCENT
    }
    if not keeping:
        return alone(mine, why=f"none: no tool kept the rate within {KEEPS_PERCENT} %", unit="ns")
    best = min(keeping, key=lambda name: statistics.median(keeping[name]))
    return compare(mine, keeping[best], peer_name=best, unit="ns", less_is_better=True)


def pace(pps: int) -> list[str]:
    """How long ours sends, how fast, and how much at once."""
    return [str(SECONDS), "--pps", str(pps), "--burst", "1", "--core", "1"]


@contextmanager
def sender(backend: str, link: Wire, pps: int) -> Iterator[Sequence[str]]:
    """The command that sends ours out of the left end."""
    if backend != "dpdk":
        program = [example("packet_bench"), "tx", link.left, *pace(pps), "--backend", backend]
        yield link.command(link.left, program)
        return
    need_dpdk()
    with huge_memory(MEMORY_MIB):
        device = f"net_af_packet0,iface={link.left}"
        program = [example("packet_bench"), "tx", device, *pace(pps), "--backend", "dpdk"]
        yield link.command(link.left, ["env", f"FLOWGAUGE_DPDK_SHIM={shim()}", *program])


@contextmanager
def peers(link: Wire, pps: int) -> Iterator[dict[str, Sequence[str]]]:
    """The commands of tcpreplay and trafgen for as many frames at that rate, in each of their ways to keep one."""
    with tempfile.TemporaryDirectory() as scratch:
        config, some, all_ = (Path(scratch) / name for name in ("frame.cfg", "some.pcap", "all.pcap"))
        config.write_text(FRAME)
        some.write_bytes(capture_file(IN_FILE, 10**9 // pps))
        all_.write_bytes(capture_file(SECONDS * pps, 10**9 // pps))
        replay = ["tcpreplay", "--timer=gtod", "-q", "-K", "-i", link.left]
        again = f"--loop={SECONDS * pps // IN_FILE}"
        frames = ["--conf", str(config), "--cpus", "1", "--num", str(SECONDS * pps)]
        trafgen = ["trafgen", "--dev", link.left, *frames]
        programs = {
            "tcpreplay --pps": [*replay, again, f"--pps={pps}", str(some)],
            "tcpreplay, the file's times": [*replay, str(all_)],
            "trafgen --rate": [*trafgen, "--rate", f"{pps}pps"],
            "trafgen --gap": [*trafgen, "--gap", f"{10**9 // pps}ns"],
        }
        yield {name: link.command(link.left, program, core=1) for name, program in programs.items()}


def capture_file(frames: int, period_ns: int) -> bytes:
    """A pcap of so many frames, so far from each other."""
    header = b"\xd4\xc3\xb2\xa1\x02\0\x04\0" + bytes(8) + b"\xff\xff\0\0\x01\0\0\0"
    record = np.dtype([("s", "<u4"), ("us", "<u4"), ("lengths", "<u4", 2), ("frame", f"V{len(REPLAYED)}")])
    records = np.zeros(frames, record)
    records["s"], records["us"] = np.divmod(np.arange(frames) * period_ns // 1000, 10**6)
    records["lengths"], records["frame"] = len(REPLAYED), np.void(REPLAYED)
    return header + records.tobytes()


def reported(program: Sequence[str], pps: int) -> dict[str, float]:
    """What our sender says of itself."""
    report: dict[str, float] = json.loads(output(program, timeout=10 * SECONDS + 20))
    off = 100 * (report["pps"] / pps - 1)
    print(
        f"  ours: schedule error p50 {report['gap_p50_ns']} ns, p99 {report['gap_p99_ns']} ns; mean rate {off:+.4f} %;"
        f" {report['late_frames']} of {report['frames']} frames late",
        file=sys.stderr,
    )
    if report["longest_stall_ns"] > STALL_NS:
        stalls, longest = report["stalls"], report["longest_stall_ns"] / 1e6
        print(
            f"  noisy host: the loop stood still {stalls} times, {longest:.2f} ms at the most",
            file=sys.stderr,
        )
    return report


def gaps_of(link: Wire, program: Sequence[str], pps: int, *, own: bool) -> Gaps:
    """What comes to the right end while a program sends."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "gaps.pcap"
        # Without --immediate-mode: waking tcpdump for each frame costs the sender, in whose time frames are received here, up to 10 us.
        options = ["-i", link.right, "-w", str(file), "-s", str(CAPTURED), "-B", "65536"]
        capture = ["tcpdump", *options, "--time-stamp-precision=nano", "-Z", "root", "udp"]
        with background(link.command(link.right, capture, core=0)) as tcpdump:
            time.sleep(START_S)
            if own:
                reported(program, pps)
            else:
                send_for_a_while(program)
            time.sleep(DRAIN_S)
            tcpdump.terminate()
            tcpdump.communicate(timeout=30)
        at = arrivals(file.read_bytes())
    if len(at) < 2:
        raise RuntimeError(f"{' '.join(program)}: nothing arrived")
    gaps = np.diff(at)
    p50, p99 = np.percentile(np.abs(gaps - 1e9 / pps), [50, 99])
    return Gaps(len(at), float(100 * (1e9 / pps / gaps.mean() - 1)), float(p50), float(p99))


def send_for_a_while(program: Sequence[str]) -> None:
    """Another tool, until it ends or its time is over."""
    with background(program) as process:
        try:
            said = process.communicate(timeout=SECONDS + LIMIT_S)[0]
        except subprocess.TimeoutExpired:
            return
        if process.returncode != 0:
            raise RuntimeError(f"{' '.join(program)}: {said.strip()}")


def arrivals(pcap: bytes) -> NDArray[np.int64]:
    """The times, in ns, of a capture of frames of one length."""
    captured = int.from_bytes(pcap[FILE_HEADER + 8 : FILE_HEADER + 12], "little")
    record = np.dtype([("s", "<u4"), ("ns", "<u4"), ("lengths", "V8"), ("frame", f"V{captured}")])
    count = (len(pcap) - FILE_HEADER) // (RECORD_HEADER + captured)
    found = np.frombuffer(pcap, record, count, FILE_HEADER)
    times: NDArray[np.int64] = found["s"].astype(np.int64) * 10**9 + found["ns"]
    return times
