"""What each figure of a benchmark should be on a device, from its model alone: by formula, sums of random times by drawing them.

Holds where the methods' assumptions do: no frame waits for another. All times in ns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

DRAWS = 40_001
"""How many sums of random times are drawn where there is no formula."""
SUMS = 1_000_000
"""The same for sums of two, of which far percentiles are wanted."""
Time = Mapping[str, Any]


@dataclass(frozen=True)
class Delay:
    """A delay: a constant and random times that don't depend on each other."""

    constant: float
    times: tuple[Time, ...]

    def mean(self) -> float:
        """Expectation."""
        return self.constant + sum(float(time["mean_ns"]) for time in self.times)

    def std(self) -> float:
        """Standard deviation."""
        return math.sqrt(sum(_std(time) ** 2 for time in self.times))

    def quantile(self, p: float) -> float:
        """The delay that a share p of all frames does not exceed."""
        varying = [time for time in self.times if _std(time) > 0]
        fixed = self.constant + sum(float(time["mean_ns"]) for time in self.times if _std(time) == 0)
        if len(varying) < 2:
            return fixed + sum(quantile(time, p) for time in varying)
        random = np.random.default_rng(1)
        return fixed + float(np.quantile(sum(sample(time, (SUMS,), random) for time in varying), p))


def _std(time: Time) -> float:
    kind = str(time.get("kind", "constant"))
    spread = {"constant": 0.0, "exponential": float(time["mean_ns"])}
    return spread.get(kind, float(time.get("std_ns", 0)))


def quantile(time: Time, p: float) -> float:
    """Of a random time of the model.

    >>> round(quantile({"kind": "exponential", "mean_ns": 1000}, 0.5))
    693
    """
    from scipy.special import ndtri

    mean, std = float(time["mean_ns"]), float(time.get("std_ns", 0))
    kind = time.get("kind", "constant")
    if kind == "exponential":
        return -mean * math.log1p(-p)
    if kind == "uniform":
        return max(0.0, mean + std * math.sqrt(3) * (2 * p - 1))
    if kind == "normal":
        return max(0.0, mean + std * float(ndtri(p)))
    if kind == "lognormal":
        mu, sigma = _lognormal(mean, std)
        return math.exp(mu + sigma * float(ndtri(p)))
    return mean


def sample(time: Time, shape: tuple[int, ...], random: np.random.Generator) -> NDArray[np.float64]:
    """Random times of the model."""
    mean, std = float(time["mean_ns"]), float(time.get("std_ns", 0))
    kind = time.get("kind", "constant")
    if kind == "exponential":
        return random.exponential(mean, shape)
    if kind == "uniform":
        return random.uniform(mean - std * math.sqrt(3), mean + std * math.sqrt(3), shape).clip(0)
    if kind == "normal":
        return random.normal(mean, std, shape).clip(0)
    if kind == "lognormal":
        return random.lognormal(*_lognormal(mean, std), shape)
    return np.full(shape, mean)


def _lognormal(mean: float, std: float) -> tuple[float, float]:
    variance = math.log1p((std / mean) ** 2)
    return math.log(mean) - variance / 2, math.sqrt(variance)


class Expected:
    """The figures of a device."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._v = values

    def delays(self, benchmark: str, frame_size: int, sent: int) -> dict[str, float]:
        """Figures of packet_in, packet_out, data_path_delay and control_channel_delay; delays in us."""
        delay = self.delay(benchmark, frame_size)
        loss = float(self._v["forwarding"]["loss"]) if benchmark in ("data_path_delay", "packet_in") else 0.0
        received = sent * (1 - loss)
        return {
            "delay_mean_us": delay.mean() / 1000,
            "delay_median_us": delay.quantile(0.5) / 1000,
            "delay_std_us": delay.std() / 1000,
            "delay_p99_us": delay.quantile(0.99) / 1000,
            "delay_max_us": delay.quantile(0.5 ** (1 / max(1.0, received))) / 1000,
            "loss_ratio": loss,
            "sent": sent,
            "received": received,
            "payload_changed": 0,
        }

    def delay(self, benchmark: str, frame_size: int) -> Delay:
        """The delay that a benchmark measures."""
        control, forwarding = self._v["control"], self._v["forwarding"]
        channel = float(control["delay"]["mean_ns"])
        server = float(forwarding["service"]["mean_ns"]) + float(forwarding["per_byte_ns"]) * frame_size
        cable, far = self._cable(frame_size), float(self._v["link"]["propagation_ns"])
        if benchmark == "control_channel_delay":
            return Delay(2 * channel, (control["echo"],))
        if benchmark == "packet_in":
            path = control["packet_in"]
            return Delay(cable + server + float(path["service"]["mean_ns"]) + channel, (path["latency"],))
        if benchmark == "packet_out":
            path = control["packet_out"]
            fixed = channel + float(path["service"]["mean_ns"]) + far
            return Delay(fixed, (path["latency"], forwarding["latency"]))
        return Delay(cable + server + far, (forwarding["latency"],))

    def _cable(self, frame_size: int) -> float:
        """From the first bit at one end to the last at the other: the switch has the whole frame. The tester stamps first bits."""
        link = self._v["link"]
        return frame_size * 8000 / float(link["rate_mbps"]) + float(link["propagation_ns"])

    def entries(
        self, benchmark: str, counts: tuple[int, ...], frame_size: int
    ) -> dict[tuple[str, int], float]:
        """Figures of flow_add, flow_mod and flow_delete by number of entries (0: of all); times in us."""
        channel = float(self._v["control"]["delay"]["mean_ns"])
        path = self.delay("data_path_delay", frame_size).quantile(0.5)
        found: dict[tuple[str, int], float] = {}
        means = []
        for n in counts:
            times = self._batch(benchmark, n)
            middle = float(np.median(times))
            means.append(float(np.mean(times)) / 1000)
            found |= {
                ("activation_us", n): middle / 1000,
                ("barrier_us", n): (middle + channel) / 1000,
                ("per_entry_us", n): middle / n / 1000,
                ("barrier_lead_us", n): -channel / 1000,
                ("path_delay_us", n): path / 1000,
            }
        slope = float(np.polyfit(counts, means, 1)[0])
        return found | {("slope_us_per_entry", 0): slope, ("barrier_slope_us_per_entry", 0): slope}

    def _batch(self, benchmark: str, n: int) -> NDArray[np.float64]:
        """Times from the first byte of a batch to its last change in the data plane. One entry, for misses, is there besides."""
        table = self._v["table"]
        held = {"flow_mod": np.full(n, n), "flow_delete": np.arange(n, 0, -1)}.get(benchmark, np.arange(n))
        there = float(table["per_entry_ns"]) * float((held + 1).sum())
        fixed = float(self._v["control"]["delay"]["mean_ns"]) + float(table["lag"]["mean_ns"]) + there
        random = np.random.default_rng(n)
        step = max(1, 1_000_000 // n)
        sums = [
            sample(table["write"], (min(step, DRAWS - at), n), random).sum(axis=1)
            for at in range(0, DRAWS, step)
        ]
        return np.concatenate(sums) + fixed
