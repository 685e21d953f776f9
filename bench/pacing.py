"""Constant rate: 99th percentile of the error of the gaps between frames, beside tcpreplay and trafgen.

The kernel at the other end of a veth pair stamps what arrives, for all tools alike; a gap's error is its distance from the period. What
counts of the peers is the better one of each pair. Our own figures (schedule error, mean rate, late frames, stalls) go to standard error.
Ring ports have no kernel at their end: there our schedule error's median stands beside the 20 ns that it must stay under.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.dpdk import MEMORY_MIB, huge_memory, need_dpdk, shim
from bench.pairs import Result, interleave
from bench.veth_tx import FRAME
from bench.wires import Wire, background, example, need, wire
from bench.wires import run as output

SECONDS = 2
MOST_ERROR_NS = 20
STALL_NS = 100_000
START_S, DRAIN_S = 0.7, 0.3
CAPTURED = 60
FILE_HEADER, RECORD_HEADER = 24, 16
IN_FILE = 1000
"""Frames in tcpreplay's file, which it goes through again and again."""
REPLAYED = bytes.fromhex(
    "020000000002 020000000001 0800 4500002e00000000 4011aaaa c6120002 0a000001 c0200007001a0000"
) + bytes(18)
"""The frame that all send, for tcpreplay."""


def run(backend: str, pps: int, pairs: int) -> Result:
    """Nanoseconds, both sides."""
    if backend == "ring":
        program = [example("packet_bench"), "ring", str(SECONDS), "--pps", str(pps), "--core", "1"]
        return interleave(
            pairs,
            lambda: float(reported(program, pps)["gap_p50_ns"]),
            lambda: float(MOST_ERROR_NS),
            peer_name="limit of the schedule error's median",
            unit="ns",
            less_is_better=True,
        )
    need("ip", "tcpdump", "tcpreplay", "trafgen", "taskset")
    with wire() as link, sender(backend, link, pps) as ours, peers(link, pps) as theirs:
        return interleave(
            pairs,
            lambda: worst_gaps(link, lambda: reported(ours, pps), pps),
            lambda: min(worst_gaps(link, lambda p=peer: output(p), pps) for peer in theirs),
            peer_name="tcpreplay or trafgen",
            unit="ns",
            less_is_better=True,
        )


@contextmanager
def sender(backend: str, link: Wire, pps: int) -> Iterator[Sequence[str]]:
    """The command that sends ours out of the left end."""
    pace = [str(SECONDS), "--pps", str(pps), "--core", "1"]
    if backend != "dpdk":
        program = [example("packet_bench"), "tx", link.left, *pace, "--backend", backend]
        yield link.command(link.left, program)
        return
    need_dpdk()
    with huge_memory(MEMORY_MIB):
        device = f"net_af_packet0,iface={link.left}"
        program = [example("packet_bench"), "tx", device, *pace, "--backend", "dpdk"]
        yield link.command(link.left, ["env", f"FLOWGAUGE_DPDK_SHIM={shim()}", *program])


@contextmanager
def peers(link: Wire, pps: int) -> Iterator[list[Sequence[str]]]:
    """The commands of tcpreplay and trafgen for as many frames at that rate."""
    with tempfile.TemporaryDirectory() as scratch:
        config, pcap = Path(scratch) / "frame.cfg", Path(scratch) / "frame.pcap"
        config.write_text(FRAME)
        header = b"\xd4\xc3\xb2\xa1\x02\0\x04\0" + bytes(8) + b"\xff\xff\0\0\x01\0\0\0"
        pcap.write_bytes(header + IN_FILE * (bytes(8) + b"\x3c\0\0\0\x3c\0\0\0" + REPLAYED))
        replay = [
            "tcpreplay",
            "-q",
            "-K",
            "--timer=nano",
            f"--pps={pps}",
            f"--loop={SECONDS * pps // IN_FILE}",
            "-i",
            link.left,
        ]
        trafgen = [
            "trafgen",
            "--dev",
            link.left,
            "--conf",
            str(config),
            "--cpus",
            "1",
            "--num",
            str(SECONDS * pps),
        ]
        yield [
            link.command(link.left, [*replay, str(pcap)], core=1),
            link.command(link.left, [*trafgen, "--gap", f"{10**9 // pps}ns"], core=1),
        ]


def reported(program: Sequence[str], pps: int) -> dict[str, float]:
    """What our sender says of itself."""
    report: dict[str, float] = json.loads(output(program))
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


def worst_gaps(link: Wire, send: object, pps: int) -> float:
    """99th percentile of the gaps' errors at the right end while `send` runs."""
    assert callable(send)
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "gaps.pcap"
        options = ["-i", link.right, "-w", str(file), "-s", str(CAPTURED), "-B", "65536", "--immediate-mode"]
        capture = ["tcpdump", *options, "--time-stamp-precision=nano", "-Z", "root", "udp"]
        with background(link.command(link.right, capture, core=0)) as tcpdump:
            time.sleep(START_S)
            send()
            time.sleep(DRAIN_S)
            tcpdump.terminate()
            tcpdump.communicate(timeout=30)
        at = arrivals(file.read_bytes())
    if len(at) < 0.9 * SECONDS * pps:
        print(f"  only {len(at)} of {SECONDS * pps} frames were captured", file=sys.stderr)
    return float(np.percentile(np.abs(np.diff(at) - 1e9 / pps), 99))


def arrivals(pcap: bytes) -> NDArray[np.int64]:
    """The times, in ns, of a capture of frames of one length."""
    captured = int.from_bytes(pcap[FILE_HEADER + 8 : FILE_HEADER + 12], "little")
    record = np.dtype([("s", "<u4"), ("ns", "<u4"), ("lengths", "V8"), ("frame", f"V{captured}")])
    count = (len(pcap) - FILE_HEADER) // (RECORD_HEADER + captured)
    found = np.frombuffer(pcap, record, count, FILE_HEADER)
    times: NDArray[np.int64] = found["s"].astype(np.int64) * 10**9 + found["ns"]
    return times
