"""Delay through Open vSwitch with DPDK at 10, 50 and 90 % of its throughput, and how well its median repeats over several runs.

    sudo .venv/bin/python tools/ovs_dpdk_latency.py [--runs 5] [--seconds 1] [--late 6us] [--dut ovs:dpdk]

Throughput is the highest offered load without loss (RFC 1242). On a host that others share no load is free of loss for long: it is the
load of which most trials lose nothing, as RFC 9971 has it, sought downwards in steps of 3 % from what comes back of all that can be sent.

What is late by more than `--late` (about a burst) is left out: a tester that caught up would fill the switch's queues by itself. The
table says how much was offered. A run's median is that of three trials, spread over the whole measurement, so that a disturbance of
seconds does not fall on one run alone.

Prints a table; exit code 1 when a median's spread is above 10 %.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence

from flowgauge.benchmarks.common import forward, probe_flows
from flowgauge.flows import Schedule
from flowgauge.testbed.interface import OpenOptions, Reception, Stream, Testbed
from flowgauge.testbed.live import open_testbed

SHARES = (10, 50, 90)
STEP = 0.97
STEPS = 40
TRIES = 5
WARM_UP_S = 5.0
"""A fresh switch is faster by a tenth: its buffers lie one behind the other until they are shuffled."""
FLOODS = 5
TRIALS = 3
SPREAD = 0.10


def offer(testbed: Testbed, asked: argparse.Namespace, pps: float | None, seconds: float) -> Reception:
    """One trial: constant rate, or as fast as possible, from the first port to the second."""
    schedule = Schedule.max() if pps is None else Schedule.cbr(round(pps))
    stream = Stream(
        probe_flows(), asked.size, schedule, source=0, sink=1, duration_s=seconds, late=asked.late
    )
    transmission = testbed.transmit(stream, drain_s=0.2)
    transmission.wait()
    return transmission.reception(0)


def throughput(testbed: Testbed, asked: argparse.Namespace) -> float:
    """The highest load, in frames per second that left, of which most trials lose nothing."""
    offer(testbed, asked, None, WARM_UP_S)
    floods = [offer(testbed, asked, None, 1.0) for _ in range(FLOODS)]
    pps = statistics.median(flood.received / (flood.elapsed_ns / 1e9) for flood in floods)
    for _ in range(STEPS):
        if kept := _mostly_kept(testbed, asked, pps):
            return pps * statistics.median(map(_offered, kept))
        pps *= STEP
    raise SystemExit(f"even at {pps / STEP / 1e6:.2f} Mpps most trials lose frames")


def _mostly_kept(testbed: Testbed, asked: argparse.Namespace, pps: float) -> list[Reception]:
    """The trials without loss if they are most of TRIES, else none; stops as soon as that is decided."""
    kept: list[Reception] = []
    lost = 0
    while lost <= TRIES // 2:
        trial = offer(testbed, asked, pps, asked.seconds)
        if trial.received < trial.sent:
            lost += 1
        else:
            kept.append(trial)
        if len(kept) > TRIES // 2:
            return kept
    return []


def spread(medians: Sequence[float]) -> float:
    """Half of the range over the median of them: 0.1 is within 10 %.

    >>> spread([95, 100, 105])
    0.05
    """
    return (max(medians) - min(medians)) / 2 / statistics.median(medians)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--late", default="6us")
    parser.add_argument("--dut", default="ovs:dpdk")
    asked = parser.parse_args(argv)
    with open_testbed(asked.dut, OpenOptions("1.3")) as (driver, testbed):
        forward(testbed, probe_flows())
        best = throughput(testbed, asked)
        own = testbed.loopback
        print(f"{driver.name}, {asked.size} B, one way: {best / 1e6:.2f} Mpps without loss")
        if own is not None:
            print(
                f"tester's own delay {own.delay_ns / 1e3:.2f} us, stated error {own.spread_ns / 1e3:.2f} us"
            )
        print("| load | Mpps | p50 of each run, us | p50 | spread | p99 | offered | lost (worst trial) |")
        print("|---|---|---|---|---|---|---|---|")
        rows: dict[int, list[list[Reception]]] = {share: [[] for _ in range(asked.runs)] for share in SHARES}
        for _ in range(TRIALS):
            for run in range(asked.runs):
                for share, found in rows.items():
                    found[run].append(offer(testbed, asked, best * share / 100, asked.seconds))
    return max(_print(share, best * share / 100, found) for share, found in rows.items())


def _print(share: int, pps: float, runs: Sequence[Sequence[Reception]]) -> int:
    medians = [statistics.median(_percentile_us(r, 50) for r in run) for run in runs]
    trials = [reception for run in runs for reception in run]
    tail = statistics.median(_percentile_us(r, 99) for r in trials)
    offered = statistics.median(map(_offered, trials))
    lost = max(1 - r.received / r.sent for r in trials)
    each = ", ".join(f"{m:.2f}" for m in medians)
    print(
        f"| {share} % | {pps / 1e6:.2f} | {each} | {statistics.median(medians):.2f} | {spread(medians):.1%} "
        f"| {tail:.1f} | {offered:.1%} | {lost:.3%} |"
    )
    return int(spread(medians) > SPREAD)


def _offered(trial: Reception) -> float:
    return trial.sent / trial.requested


def _percentile_us(reception: Reception, percent: float) -> float:
    return float(reception.latency.percentile_ns(percent) or 0) / 1e3


if __name__ == "__main__":
    sys.exit(main())
