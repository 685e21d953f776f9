"""Writes a run directory that looks like a run of the ALIEN suite. For tests only; every number is invented.

python tests/unit/fake_run.py FOLDER [seed]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from flowgauge.model import trial_id

Json = dict[str, Any]
RATES, SIZES = (10, 50, 100, 250, 500, 1000), (100, 300, 500, 700, 900, 1100, 1300, 1500)
ENTRIES = (1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
MANY = (20, 50, 100, 200, 500, 1000, 2000, 4000)


def check(name: str, state: str, text: str, advice: str | None = None, invalidates: bool = False) -> Json:
    return {"name": name, "state": state, "text": text, "advice": advice, "invalidates": invalidates}


class FakeRun:
    """Collects trials and figures, then writes them."""

    def __init__(self, folder: Path, seed: int = 1) -> None:
        self.folder, self.random = folder, np.random.default_rng(seed)
        self.trials: list[Json] = []
        self.figures: list[Json] = []
        (folder / "samples").mkdir(parents=True, exist_ok=True)

    def trial(
        self,
        benchmark: str,
        point: Json,
        repeat: int,
        metrics: Json,
        checks: list[Json],
        delays_us: Any = None,
        **other: Any,
    ) -> None:
        name = trial_id(benchmark, point, repeat, "ovs")
        if delays_us is not None and len(delays_us):
            buckets = np.unique(
                np.round(np.log2(delays_us * 1000) * 700).astype(np.int64), return_counts=True
            )
            values = np.round(2 ** (buckets[0] / 700)).astype(np.int64)
            table = pa.table({"latency.value_ns": values, "latency.count": buckets[1].astype(np.int64)})
            pq.write_table(table, self.folder / "samples" / f"{name}.parquet")
        record = {
            "id": name, "benchmark": benchmark, "point": point, "repeat": repeat, "status": "ok", "metrics": metrics,
            "checks": checks, "reason": None, "attempts": 1, "has_samples": delays_us is not None,
        }  # fmt: skip
        self.trials.append(record | other)

    def figure(
        self, benchmark: str, name: str, value: float | None, unit: str, at: Json, **other: Any
    ) -> None:
        base = {
            "benchmark": benchmark, "name": name, "value": value, "unit": unit, "at": at, "low": None, "high": None,
            "interval": "none", "count": 0, "checks": [], "note": None,
        }  # fmt: skip
        self.figures.append(base | other)

    def delays(
        self, benchmark: str, point: Json, floor_us: float, capacity_pps: float, repeats: int, seconds: float
    ) -> None:
        """A queueing device: log-normal delays, overloaded above its capacity."""
        size, rate = point["frame_size"], point["rate_mbps"]
        pps = rate * 1e6 / 8 / size
        loss = max(0.0, 1 - capacity_pps / pps)
        rows = []
        for repeat in range(repeats):
            sent = int(pps * seconds)
            keep = 0.0 if loss == 0 else min(1.0, loss + self.random.normal(0, 0.003))
            received = int(sent * (1 - keep))
            shift = floor_us * (1 + size / 4000) * (1 if loss == 0 else 14)
            delays = shift * self.random.lognormal(0, 0.25, min(4000, received)) + 3
            rows.append((sent, received, delays))
            checks = [check("tester-loss", "pass", "0 frames dropped by the tester"),
                      check("offered-load", "pass", "offered 100.00 % of requested"),
                      check("noisy-host", "not_evaluated", "steal time can't be read in this container")]  # fmt: skip
            if loss:
                checks.append(check("ramp", "fail", f"the mean delay grows {shift / 40:.0f} us per second",
                                    "read the forwarding rate; the mean delay depends on the trial's length"))  # fmt: skip
            metrics = {
                "sent": sent, "received": received, "lost": sent - received, "loss_ratio": (sent - received) / sent,
                "delay_mean_us": float(delays.mean()), "delay_median_us": float(np.median(delays)),
                "delay_p99_us": float(np.quantile(delays, 0.99)), "delay_std_us": float(delays.std()),
            }  # fmt: skip
            self.trial(benchmark, point, repeat, metrics, checks, delays)
        failing = [c for c in self.trials[-1]["checks"] if c["state"] == "fail"]
        for name, unit in (
            ("delay_mean_us", "us"),
            ("delay_median_us", "us"),
            ("delay_p99_us", "us"),
            ("delay_std_us", "us"),
            ("loss_ratio", ""),
        ):
            values = [t["metrics"][name] for t in self.trials[-repeats:]]
            mean, half = float(np.mean(values)), 2.26 * float(np.std(values)) / repeats**0.5
            interval = {"low": mean - half, "high": mean + half, "interval": "t"} if repeats >= 6 else {}
            if 1 < repeats < 6:
                interval = {"low": min(values), "high": max(values), "interval": "range"}
            self.figure(benchmark, name, mean, unit, point, count=repeats, checks=failing, **interval)
        name, unit = ("message_rate", "1/s") if benchmark.startswith("packet") else ("forwarding_pps", "pps")
        self.figure(benchmark, name, rows[0][1] / seconds, unit, point, count=repeats, checks=failing)
        for name, column in (("sent", 0), ("received", 1)):
            self.figure(benchmark, name, sum(r[column] for r in rows), "frames", point, count=repeats)

    def flows(self, benchmark: str, counts: tuple[int, ...], per_entry_us: float, repeats: int) -> None:
        """Entries take a fixed time each; the barrier answers a little early."""
        for n in counts:
            point = {"entries": n}
            times = (60 + per_entry_us * n) * self.random.lognormal(0, 0.06, repeats)
            barriers = times * 0.8
            quantised = n < 20
            fail = [check("quantised", "fail", f"the probe gap (2 us) is {2 / times.mean():.1%} of the duration found",
                          "raise probe_pps")] if quantised else []  # fmt: skip
            for repeat in range(repeats):
                metrics = {
                    "activation_us": float(times[repeat]), "barrier_us": float(barriers[repeat]),
                    "per_entry_us": float(times[repeat] / n),
                }  # fmt: skip
                self.trial(
                    benchmark,
                    point,
                    repeat,
                    metrics,
                    [*fail, check("flow-rejected", "pass", f"{n} entries read back")],
                )
            for name, values in (
                ("activation_us", times),
                ("barrier_us", barriers),
                ("per_entry_us", times / n),
            ):
                low, high = np.quantile(values, [0.03, 0.97])
                self.figure(benchmark, name, float(np.median(values)), "us", point, low=float(low), high=float(high),
                            interval="order", count=repeats, checks=fail)  # fmt: skip
        self.figure(benchmark, "slope_us_per_entry", per_entry_us * 1.01, "us/entry", {}, count=len(counts))

    def write(self, **over: Any) -> Path:
        document: Json = {
            "schema": 1, "id": self.folder.name, "suite": "alien",
            "command": ["flowgauge", "run", "alien", "--quick", "--dut", "ovs", "--seed", "1"],
            "config": {
                "benchmarks": [
                    {"name": n, "params": {"repeats": 10, "duration_s": 1.0}, "quick": True}
                    for n in dict.fromkeys(t["benchmark"] for t in self.trials)
                ],
                "dut": "ovs", "openflow": "1.3", "seed": 1, "repeat": None,
            },
            "dut": {
                "driver": "ovs", "version": "3.1.0", "datapath": "userspace (netdev)",
                "switch": {"manufacturer": "Nicira, Inc.", "hardware": "Open vSwitch", "software": "3.1.0", "tables": 254},
            },
            "environment": {
                "host": "bench1", "cpu": "AMD EPYC 7B13", "cores": 2, "kernel": "6.1.0-18-amd64", "memory_gib": 24,
                "governor": None, "tool_version": "0.1.0", "commit": "0969ce3", "started": "2025-01-20T10:02:11Z",
                "ended": "2025-01-20T10:05:02Z",
                "core_plan": {"worker": "core 1, spinning", "channel": "core 0, yields after 50 us", "dut": "core 0"},
            },
            "loopback": {
                "backend": "af_packet", "max_pps": {"64": 812000.0, "512": 640000.0, "1500": 410000.0}, "delay_ns": 5210.0,
                "spread_ns": 1800.0, "measured_at": "2025-01-20T09:58:00Z", "echo_ns": 31000.0,
            },
            "status": "complete", "skipped": [],
        }  # fmt: skip
        document |= over
        document["figures"] = self.figures
        (self.folder / "run.json").write_text(json.dumps(document, indent=1))
        (self.folder / "trials.jsonl").write_text("".join(json.dumps(t) + "\n" for t in self.trials))
        (self.folder / "log.txt").write_text("")
        return self.folder


def alien_run(folder: Path, seed: int = 1, repeats: int = 10, speed: float = 1.0) -> Path:
    """A full run of the ALIEN suite with failed trials, a dead point and a skipped benchmark."""
    run = FakeRun(folder, seed)
    for rate in RATES:
        for size in SIZES:
            run.delays(
                "packet_in",
                {"rate_mbps": rate, "frame_size": size},
                120 / speed,
                40_000 * speed,
                repeats,
                0.4,
            )
    for rate in RATES[:4]:
        for size in SIZES:
            run.delays(
                "packet_out",
                {"rate_mbps": rate, "frame_size": size},
                90 / speed,
                60_000 * speed,
                repeats,
                0.4,
            )
    echo = {"echo_rate": 3}
    delays = np.concatenate([48 * run.random.lognormal(0, 0.2, 900), 160 * run.random.lognormal(0, 0.1, 60)])
    run.trial("control_channel_delay", echo, 0, {"sent": 960, "received": 960, "loss_ratio": 0.0}, [], delays)
    for name, value in (
        ("delay_mean_us", delays.mean()),
        ("delay_median_us", np.median(delays)),
        ("delay_std_us", delays.std()),
    ):
        run.figure("control_channel_delay", name, float(value), "us", echo, count=960)
    run.figure("control_channel_delay", "loss_ratio", 0.0, "", echo, count=960)
    for rate in (10, 100, 1000):
        for size in (100, 200, 500, 1000, 1500):
            run.delays(
                "data_path_delay",
                {"rate_mbps": rate, "frame_size": size},
                18 / speed,
                400_000 * speed,
                repeats,
                0.2,
            )
    for name, per_entry in (("flow_add", 21.0), ("flow_mod", 17.0), ("flow_delete", 15.0)):
        run.flows(name, ENTRIES, per_entry / speed, repeats)
    run.flows("flow_add_max", MANY, 19.0 / speed, repeats)
    run.figure("flow_add_max", "max_entries", 4000, "", {}, count=1, note=">= 4000: the cap was reached")
    dead(run)
    return run.write(
        skipped=[{"benchmark": "meters", "reason": "the switch has no meters (feature meter.drop failed)"}]
    )


def dead(run: FakeRun) -> None:
    """A point where nothing came back, and a trial that broke."""
    point = {"rate_mbps": 1000, "frame_size": 1500}
    fail = [
        check(
            "tester-loss",
            "fail",
            "the receive ring dropped 1 402 frames",
            "lower the rate or give the worker a core",
            True,
        )
    ]
    run.trial("packet_out", point, 0, {"sent": 3333, "received": 0, "loss_ratio": 1.0, "delay_median_us": None}, fail,
              status="invalid", attempts=4, reason="tester-loss after 4 attempts")  # fmt: skip
    run.trial(
        "packet_out",
        point,
        1,
        {},
        [],
        status="failed",
        reason="channel-closed: the switch reset the connection after 3333 messages",
    )
    for name in ("delay_mean_us", "delay_median_us", "delay_p99_us", "delay_std_us"):
        run.figure("packet_out", name, None, "us", point, note="nothing was received")
    run.figure("packet_out", "loss_ratio", 1.0, "", point, count=1, checks=fail)
    run.figure("packet_out", "received", 0, "frames", point, count=1)


def small_run(folder: Path, seed: int = 1, speed: float = 1.0, **over: Any) -> Path:
    """A few points of three benchmarks: what the golden files are made from. Values are round."""
    run = FakeRun(folder, seed)
    for size, delay in ((100, 40.0), (1500, 61.25)):
        point: Mapping[str, Any] = {"rate_mbps": 10, "frame_size": size}
        values = [delay / speed + i for i in range(6)]
        for repeat, value in enumerate(values):
            run.trial(
                "packet_in",
                dict(point),
                repeat,
                {"delay_median_us": value, "loss_ratio": 0.0},
                [],
                np.full(20, value),
            )
        fail = [
            check(
                "tester-limited",
                "fail",
                "the tester's own delay (30 us) is more than half of it",
                "use a faster backend",
            )
        ]
        run.figure("packet_in", "delay_median_us", delay / speed + 2.5, "us", dict(point), low=delay / speed,
                   high=delay / speed + 5, interval="order", count=6, checks=fail if size == 100 else [])  # fmt: skip
        run.figure("packet_in", "loss_ratio", 0.0, "", dict(point), low=0.0, high=0.0, interval="t", count=6)
        run.figure("packet_in", "received", 7500, "frames", dict(point), count=6)
    for n in (1, 100):
        run.trial(
            "flow_add",
            {"entries": n},
            0,
            {"activation_us": 100.5 * n},
            [check("quantised", "pass", "gap 1 us")],
        )
        run.figure("flow_add", "activation_us", 100.5 * n, "us", {"entries": n}, low=100.0 * n, high=101.0 * n,
                   interval="range", count=1)  # fmt: skip
    run.figure("flow_add", "slope_us_per_entry", 100.5, "us/entry", {}, count=2, note="least squares")
    point = {"rate_mbps": 10, "frame_size": 100}
    run.trial(
        "packet_out",
        point,
        0,
        {},
        [],
        status="failed",
        reason="channel-closed: the switch closed the channel",
    )
    run.figure("packet_out", "delay_median_us", None, "us", point, note="no trial was completed")
    run.figure("packet_out", "received", 0, "frames", point, count=1)
    return run.write(**over)


if __name__ == "__main__":
    print(alien_run(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1))
