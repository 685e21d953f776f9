"""Receptions and tester states made by hand, for tests of analysis and benchmarks."""

from dataclasses import replace
from typing import Any

import numpy as np

from flowgauge.testbed.interface import Latency, Reception, TesterState

EMPTY = np.zeros(0, dtype=np.int64)


def latency(values_ns: list[int]) -> Latency:
    x = np.sort(np.asarray(values_ns, dtype=np.int64))
    if len(x) == 0:
        return Latency(0, None, None, None, None, EMPTY, EMPTY)
    values, counts = np.unique(x, return_counts=True)
    return Latency(len(x), float(x[0]), float(x.mean()), float(x.std(ddof=1)), float(x[-1]), values, counts)


def reception(
    departures: list[int] | None = None, forwarded: list[int] | None = None, delay: int = 1000, **changes: Any
) -> Reception:
    """Probes that left at `departures` (ns); those numbered in `forwarded` arrived `delay` ns later."""
    left = np.asarray(departures if departures is not None else range(0, 1000, 100), dtype=np.int64)
    seq = np.asarray(forwarded if forwarded is not None else range(len(left)), dtype=np.int64)
    made = Reception(
        requested=len(left),
        sent=len(left),
        received=len(seq),
        lost=len(left) - len(seq),
        duplicated=0,
        reordered=0,
        late=0,
        misrouted=0,
        elapsed_ns=10**9,
        latency=latency([delay] * len(seq)),
        gap_error_ns={"p99": 10.0},
        windows_mean_ns=np.full(10, float(delay)),
        windows_count=np.full(10, 10, dtype=np.int64),
        window_ns=10**8,
        first_arrival_ns=EMPTY,
        departures_ns=left,
        arrivals_seq=seq,
        arrivals_tx_ns=left[seq],
        arrivals_rx_ns=left[seq] + delay,
    )
    return replace(made, **changes)


def quiet_tester(**changes: Any) -> TesterState:
    quiet = TesterState(
        rx_dropped=0,
        tx_errors=0,
        foreign=(0, 0),
        stalls_over_100us=0,
        stall_max_ns=0,
        ring_ns=10**6,
        involuntary_switches=0,
        steal_ns=0,
        start_ns=0,
        stop_ns=10**9,
        timestamps="test",
    )
    return replace(quiet, **changes)
