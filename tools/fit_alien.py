#!/usr/bin/env python3
"""Fits the device models of ALIEN's NetFPGA and EZappliance to the odd rows of its tables.

    python tools/fit_alien.py

Prints each parameter with the rows that it was fitted on and the median deviation that is left there. Rows whose notes say that they
show something else than the device (`flowgauge.reproduction.tables.LEFT_OUT`) take no part; the even rows are for judging
(`tools/reproduction.py`). Mechanisms are simple: a line in the frame size, a server with a queue, a pool of buffers, a time per entry
that grows with the table. Parameters of the files in python/flowgauge/models are these, rounded, less what the cables take.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from flowgauge import published
from flowgauge.benchmarks.common import alien_gap_ms
from flowgauge.model import TrialRecord
from flowgauge.reproduction.tables import LEFT_OUT, PROBES

Floats = Sequence[float]
SHARE = 0.6
"""Share of the EZappliance's processor that PACKET_INs get at most: of 0.5, 0.6, ... 0.9 the one with the best fit."""


def main() -> None:
    """All fits."""
    netfpga_path()
    netfpga_packet_in()
    netfpga_packet_out()
    netfpga_entries()
    appliance_path()
    appliance_packet_in()
    appliance_packet_out()
    appliance_entries()


@dataclass(frozen=True)
class Row:
    """A printed row."""

    number: int
    trial: TrialRecord

    def __getitem__(self, name: str) -> float:
        value = self.trial.metrics[name] if name in self.trial.metrics else self.trial.point[name]
        assert isinstance(value, (int, float))
        return float(value)

    @property
    def gap_s(self) -> float:
        """The gap between two frames."""
        return alien_gap_ms(self["rate_mbps"], int(self["frame_size"])) / 1000


def odd(device: str, benchmark: str) -> list[Row]:
    """The odd rows that are not left out."""
    trials = published.load(f"alien/{device}").trials_of(benchmark)
    rows = (Row(n, t) for n, t in enumerate((t for t in trials if t.status == "ok"), 1))
    return [r for r in rows if r.number % 2 and not {c.name for c in r.trial.checks} & LEFT_OUT]


def line(rows: Sequence[Row], column: str) -> tuple[float, float]:
    """The straight line in the frame size with the least sum of relative deviations."""
    x, y = (np.array([r[c] for r in rows]) for c in ("frame_size", column))
    start = np.polyfit(x, y, 1)[::-1]

    def loss(p: np.ndarray) -> float:
        return float(np.sum(np.abs(p[0] + p[1] * x - y) / y))

    best = minimize(
        loss, start, method="Nelder-Mead", options={"maxiter": 9999, "xatol": 1e-6, "fatol": 1e-9}
    )
    return float(best.x[0]), float(best.x[1])


def left(pairs: Iterable[tuple[float, float]]) -> float:
    """Median relative deviation of (model, printed)."""
    return float(np.median([abs(m - p) / p for m, p in pairs]))


def say(table: str, what: str, rows: int, residual: float) -> None:
    """One line."""
    print(f"{table:<10}{what:<90}{rows:>3} rows  residual {residual:.1%}")


def netfpga_path() -> None:
    """A line weighted by the printed spread: rows that spread by 30 us say little about the device."""
    rows = odd("netfpga", "data_path_delay")
    size, mean, std = (
        np.array([r[c] for r in rows]) for c in ("frame_size", "delay_mean_us", "delay_std_us")
    )
    weight = 1 / np.maximum(1, std)
    fixed, slope = np.linalg.lstsq(np.column_stack([weight, weight * size]), weight * mean, rcond=None)[0]
    jitter = float(np.median([r["delay_mean_us"] - r["delay_median_us"] for r in rows]))
    residual = left((fixed + jitter + slope * r["frame_size"], r["delay_mean_us"]) for r in rows)
    say(
        "Table 1-3",
        f"delay {fixed:.2f} us + {slope * 1000:.1f} ns/B, jitter {jitter:.1f} us",
        len(rows),
        residual,
    )


def netfpga_packet_in() -> None:
    """A line, and a pool of buffers: 512 at a time come through, then none until the first are given back."""
    rows = odd("netfpga", "packet_in")
    fixed, slope = line(rows, "delay_median_us")
    residual = left((fixed + slope * r["frame_size"], r["delay_median_us"]) for r in rows)
    say("Table 1-1", f"delay {fixed:.0f} us + {slope * 1000:.1f} ns/B", len(rows), residual)

    def deviation(hold: float) -> float:
        return float(np.mean([abs(pool(r, 512, hold) / r["throughput_ratio"] - 1) for r in rows]))

    hold = min(np.arange(10, 20, 0.1), key=deviation)
    residual = left((pool(r, 512, hold), r["throughput_ratio"]) for r in rows)
    say("Table 1-1", f"512 buffers, held for {hold:.1f} s", len(rows), residual)


def pool(row: Row, buffers: int, hold_s: float) -> float:
    """Share of frames that find a buffer within 30 s."""
    held: deque[float] = deque()
    sent = int(30 / row.gap_s)
    found = 0
    for n in range(sent):
        now = n * row.gap_s
        while held and held[0] <= now:
            held.popleft()
        if len(held) < buffers:
            held.append(now + hold_s)
            found += 1
    return found / sent


def netfpga_packet_out() -> None:
    """One time for all sizes; the service time follows from the overloaded row: 539 messages in 14 s."""
    rows = odd("netfpga", "packet_out")
    mean = float(np.median([r["delay_mean_us"] for r in rows]))
    say("Table 1-2", f"delay {mean:.0f} us", len(rows), left((mean, r["delay_mean_us"]) for r in rows))


def appliance_path() -> None:
    """A line."""
    rows = odd("ezappliance", "data_path_delay")
    fixed, slope = line(rows, "delay_mean_us")
    residual = left((fixed + slope * r["frame_size"], r["delay_mean_us"]) for r in rows)
    say("Table 1-9", f"delay {fixed:.1f} us + {slope * 1000:.1f} ns/B", len(rows), residual)


def appliance_packet_in() -> None:
    """Time per byte where nothing is lost; the service time from what comes through in 30 s under overload; a queue of 128 KiB."""
    rows = odd("ezappliance", "packet_in")
    calm = [r for r in rows if r["throughput_ratio"] == 1]
    ratios = [r["delay_median_us"] / r["frame_size"] for r in calm]
    slope = min(np.arange(9, 13, 0.01), key=lambda k: sum(abs(k / ratio - 1) for ratio in ratios))
    say("Table 1-7", f"delay {slope * 1000:.0f} ns/B", len(calm), left((slope, ratio) for ratio in ratios))
    busy = [r for r in rows if r["throughput_ratio"] < 1]
    times = [(r["frame_size"], 30e6 / r["received"]) for r in busy]
    x, y = np.array(times).T
    best = minimize(
        lambda p: float(np.sum(np.abs(p[0] + p[1] * x - y) / y)),
        np.polyfit(x, y, 1)[::-1],
        method="Nelder-Mead",
    )
    base, per_byte = best.x
    residual = left((base + per_byte * s, t) for s, t in times)
    say("Table 1-7", f"occupied {base:.0f} us + {per_byte * 1000:.0f} ns/B", len(busy), residual)
    full = [r for r in busy if r["rate_mbps"] >= 500]

    def waits(row: Row, overhead: float) -> float:
        size = row["frame_size"]
        return 131072 // (size + overhead) * (base + per_byte * size) + slope * size

    overhead = min(
        range(1000, 6000, 100), key=lambda o: left((waits(r, o), r["delay_median_us"]) for r in full)
    )
    residual = left((waits(r, overhead), r["delay_median_us"]) for r in full)
    say("Table 1-7", f"128 KiB of waiting places, {overhead} B overhead per frame", len(full), residual)


def appliance_packet_out() -> None:
    """A line where nothing is lost; the service time from what comes through in 29 s under overload."""
    rows = odd("ezappliance", "packet_out")
    calm = [r for r in rows if r["throughput_ratio"] == 1]
    fixed, slope = line(calm, "delay_median_us")
    residual = left((fixed + slope * r["frame_size"], r["delay_median_us"]) for r in calm)
    say("Table 1-8", f"delay {fixed:.0f} us + {slope * 1000:.0f} ns/B", len(calm), residual)


def netfpga_entries() -> None:
    """Times are one probe gap up to 200 entries: an upper bound; beyond that two numbers suffice."""
    rows = odd("netfpga", "flow_add_max")
    entries(
        "Table 1-6",
        [(int(r["entries"]), 0.05, 0.0, r["activation_us"] / 1e6) for r in rows],
        np.arange(0.00002, 0.0003, 0.00001),
        np.arange(0.0, 2e-6, 2e-8),
    )


def appliance_entries() -> None:
    """FLOW_MODs share the processor with the PACKET_INs of probes that miss, one entry after one PACKET_IN."""
    rows = odd("ezappliance", "flow_add")
    more = odd("ezappliance", "flow_add_max")
    known = [
        (n, gap, share(size), r["activation_median_us"] / 1e6)
        for r in rows
        for n in (int(r["entries"]),)
        for gap, size in (PROBES[n],)
    ]
    gap, size = PROBES[0]
    known += [(int(r["entries"]), gap, share(size), r["activation_us"] / 1e6) for r in more]
    entries("1-11, 1-12", known, np.arange(0.005, 0.02, 0.0005), np.arange(1e-4, 1.4e-3, 1e-5))


def share(size: float) -> float:
    """How long the processor is busy with the PACKET_IN of a probe, seconds (fit of Table 1-7)."""
    return 0.0341 + 23.6e-6 * size


def entries(
    table: str, known: Sequence[tuple[int, float, float, float]], firsts: Floats, nexts: Floats
) -> None:
    """Time per entry a + b * entries present, for rows (entries, probe gap, pause per probe, printed time) in seconds."""

    def loss(pair: tuple[float, float]) -> float:
        logs = [abs(math.log(seen(*pair, n, gap, pause) / t)) for n, gap, pause, t in known]
        return float(np.sum(np.minimum(logs, 0.5)))

    a, b = min(((a, b) for a in firsts for b in nexts), key=loss)
    residual = left((seen(a, b, n, gap, pause), t) for n, gap, pause, t in known)
    say(table, f"{a * 1e6:.0f} us per entry + {b * 1e9:.0f} ns per entry that is there", len(known), residual)


def seen(a: float, b: float, n: int, gap: float, pause: float) -> float:
    """When the first probe behind the last of n entries leaves: a whole number of gaps. PACKET_INs take at most `SHARE`."""
    work = a * n + b * n * (n - 1) / 2
    pause = min(pause, SHARE * gap)
    if work > gap:
        rest, net = work - gap, gap - pause
        work = gap + rest // net * gap + pause + rest % net
    return math.ceil(work / gap - 1e-9) * gap


if __name__ == "__main__":
    main()
