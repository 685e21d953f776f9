#!/usr/bin/env python3
"""Compares our delays through Open vSwitch with an independent capture.

Starts a private Open vSwitch, runs tcpdump with kernel timestamps on the switch's side of both veth pairs while probes run through one
entry, matches frames by the sequence number in their payload, and compares medians. Ours includes the way from the tester's stamp into
the first pair and out of the second: it must be longer, by no more than the tester's own delay and stated error.

    sudo .venv/bin/python tools/verify_delays.py [--pps 1000] [--seconds 10] [--size 100]

Exit code 0 when the medians agree, 1 when they don't.
"""

from __future__ import annotations

import argparse
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from flowgauge.benchmarks.common import probe_flows, set_miss
from flowgauge.flows import Schedule
from flowgauge.testbed import open_testbed
from flowgauge.testbed.interface import Entry, OpenOptions, Stream

PAYLOAD = 14 + 20 + 8
"""Offset of the probe behind Ethernet, IPv4 and UDP; its sequence number is at bytes 6 to 12."""


def main() -> int:
    """Measure, capture, compare, and print both."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pps", type=float, default=1000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--size", type=int, default=100)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, open_testbed("ovs", OpenOptions()) as (driver, testbed):
        namespace = driver.namespaces[0]
        ends = [port["interface"] for port in driver.describe()["ports"][:2]]
        files = [Path(scratch) / f"{end}.pcap" for end in ends]
        set_miss(testbed, punt=False)
        entry = Entry(None, f"output:{testbed.ports[1].of_port}", in_port=testbed.ports[0].of_port)
        testbed.control.install(entry)
        sniffers = [capture(namespace, end, file) for end, file in zip(ends, files, strict=True)]
        try:
            probes = Stream(
                probe_flows(),
                arguments.size,
                Schedule.cbr(arguments.pps),
                sink=1,
                duration_s=arguments.seconds,
            )
            transmission = testbed.transmit(probes)
            transmission.wait()
            ours = transmission.reception(0)
            time.sleep(0.5)
        finally:
            for sniffer in sniffers:
                sniffer.terminate()
                sniffer.wait()
        theirs = delays(*(dict(frames(file.read_bytes())) for file in files))
        return report(ours.latency.percentile_ns(50), ours.received, theirs, testbed.loopback)


def capture(namespace: str, interface: str, file: Path) -> subprocess.Popen[str]:
    """tcpdump of UDP frames on that interface, with kernel timestamps in nanoseconds."""
    command = [
        "ip",
        "netns",
        "exec",
        namespace,
        "tcpdump",
        "-i",
        interface,
        "--time-stamp-precision=nano",
        "-U",
        "-s",
        "96",
    ]
    process = subprocess.Popen(
        [*command, "-B", "16384", "-w", str(file), "udp"], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    process.stderr.readline()  # "listening on ..."
    time.sleep(0.2)
    return process


def frames(pcap: bytes) -> Iterator[tuple[int, int]]:
    """Sequence number and time in ns of each frame of a nanosecond pcap."""
    offset = 24
    while offset + 16 <= len(pcap):
        seconds, nanos, kept, _ = struct.unpack_from("<IIII", pcap, offset)
        frame = pcap[offset + 16 : offset + 16 + kept]
        offset += 16 + kept
        if len(frame) >= PAYLOAD + 18:
            yield int.from_bytes(frame[PAYLOAD + 6 : PAYLOAD + 12], "big"), seconds * 10**9 + nanos


def delays(entered: dict[int, int], left: dict[int, int]) -> np.ndarray:
    """Time between the two captures, for each sequence number in both, in ns."""
    return np.array([left[seq] - entered[seq] for seq in entered.keys() & left.keys()])


def report(ours_ns: float | None, received: int, theirs: np.ndarray, loopback: object) -> int:
    """Print the comparison; 0 when the difference lies between nought and the tester's own delay, within the stated error."""
    floor, spread = getattr(loopback, "delay_ns", None), getattr(loopback, "spread_ns", None)
    if ours_ns is None or len(theirs) == 0 or floor is None or spread is None:
        print(
            "nothing to compare: no frame came through, or the tester's loop-back was not measured",
            file=sys.stderr,
        )
        return 1
    median = float(np.median(theirs))
    difference = ours_ns - median
    print(f"ours     median {ours_ns / 1000:9.2f} us  ({received} frames)")
    print(f"capture  median {median / 1000:9.2f} us  ({len(theirs)} frames)")
    print(
        f"difference      {difference / 1000:9.2f} us  (the tester's own delay {floor / 1000:.2f} us, stated error {spread / 1000:.2f} us)"
    )
    agrees = -spread <= difference <= floor + spread
    print("they agree within the stated error" if agrees else "they DISAGREE beyond the stated error")
    return 0 if agrees else 1


if __name__ == "__main__":
    sys.exit(main())
