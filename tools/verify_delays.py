#!/usr/bin/env python3
"""Compares our delays through Open vSwitch with an independent capture.

Starts a private Open vSwitch, runs tcpdump with kernel timestamps on the switch's side of both veth pairs while probes run through one
entry, matches frames by the sequence number in their payload, and compares medians.

Ours includes the way from the tester's stamp to the first capture and from the second capture to the tester's stamp. How long that is, is
measured on a veth pair alone, with captures on both its ends: tester to capture and capture to tester are together what the tester sees
plus what the captures see there. The two medians agree when they differ by that, within the stated error: the tester's own delay and its
spread on that pair (behind a switch the same way is walked with colder caches).

    sudo .venv/bin/python tools/verify_delays.py [--pps 10000] [--seconds 5] [--size 100]

Exit code 0 when the medians agree, 1 when they don't.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from flowgauge import _core
from flowgauge.benchmarks.common import probe_flows, set_miss
from flowgauge.duts import netns
from flowgauge.duts.capture import Tap, captured, frames
from flowgauge.duts.cores import core_plan
from flowgauge.duts.lease import Lease
from flowgauge.duts.openvswitch import OpenVSwitch
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
    parser.add_argument("--pps", type=float, default=10_000)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--size", type=int, default=100)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        way, error = wires_alone(Path(scratch))
    with tempfile.TemporaryDirectory() as scratch, open_testbed("ovs", OpenOptions()) as (driver, testbed):
        assert isinstance(driver, OpenVSwitch)
        namespace = driver.namespaces[0]
        ends = [port["interface"] for port in driver.describe()["ports"][:2]]
        set_miss(testbed, punt=False)
        entry = Entry(None, f"output:{testbed.ports[1].of_port}", in_port=testbed.ports[0].of_port)
        testbed.control.install(entry)
        with captured(taps([(namespace, end) for end in ends]), Path(scratch)) as files:
            schedule = Schedule.cbr(arguments.pps)
            probes = Stream(probe_flows(), arguments.size, schedule, sink=1, duration_s=arguments.seconds)
            transmission = testbed.transmit(probes)
            transmission.wait()
            ours = transmission.reception(0)
    return report(ours.latency.percentile_ns(50), ours.received, delays(files), way, error)


def wires_alone(scratch: Path) -> tuple[float, float]:
    """On a pair without a switch, captures on both ends: what tester and captures see added up, and the stated error; ns."""
    lease = Lease.take("delay check")
    try:
        ends = [
            (netns.add(lease, name), interface) for name, interface in (("way-a", "fg-a"), ("way-b", "fg-b"))
        ]
        netns.veth((ends[0], ends[1]), 1500)
        ports = tuple(_core.open_af_packet(interface, namespace) for namespace, interface in ends)
        try:
            with captured(taps(ends), scratch) as files:
                _, delay_ns, spread_ns = _core.measure_loopback(
                    ports, [], core=core_plan().worker, trial_ns=10**8
                )
        finally:
            for port in ports:
                port.close()
        return delay_ns + float(np.median(delays(files))), delay_ns + spread_ns
    finally:
        lease.end()


def taps(ends: Sequence[tuple[str, str]]) -> list[Tap]:
    """Captures of UDP frames on (namespace, interface)s."""
    return [
        Tap(namespace, interface, "udp", snap=96, buffer_kib=16384, settle_s=0.5)
        for namespace, interface in ends
    ]


def numbered(pcap: bytes) -> Iterator[tuple[int, int]]:
    """Sequence number and time in ns of each of our frames."""
    for when, frame in frames(pcap):
        if len(frame) >= PAYLOAD + 18:
            yield int.from_bytes(frame[PAYLOAD + 6 : PAYLOAD + 12], "big"), when


def delays(files: Sequence[bytes]) -> np.ndarray:
    """Time between the two captures, for each sequence number in both, in ns. The last frame of a number counts: trials reuse them."""
    entered, left = (dict(numbered(file)) for file in files)
    return np.array([left[seq] - entered[seq] for seq in entered.keys() & left.keys()])


def report(ours_ns: float | None, received: int, theirs: np.ndarray, way: float, error: float) -> int:
    """Print the comparison; 0 when the difference is the way between the stamps, within the stated error."""
    if ours_ns is None or len(theirs) == 0:
        print("nothing to compare: no frame came through", file=sys.stderr)
        return 1
    median = float(np.median(theirs))
    difference = ours_ns - median
    print(f"ours        median {ours_ns / 1000:8.2f} us  ({received} frames)")
    print(f"capture     median {median / 1000:8.2f} us  ({len(theirs)} frames)")
    print(f"difference         {difference / 1000:8.2f} us")
    print(f"way between stamps {way / 1000:8.2f} us  (stated error {error / 1000:.2f} us)")
    agrees = abs(difference - way) <= error
    print("they agree within the stated error" if agrees else "they DISAGREE beyond the stated error")
    return 0 if agrees else 1


if __name__ == "__main__":
    sys.exit(main())
