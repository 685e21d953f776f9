"""Base of the benchmarks that send probes at rates by frame sizes: packet_in, packet_out and data_path_delay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from flowgauge.benchmarks.base import Benchmark
from flowgauge.benchmarks.common import DELAY_FIGURES, GridParams, delay_figures
from flowgauge.model import Figure, Point, TrialRecord

G = TypeVar("G", bound=GridParams)


def grid_charts(what: str) -> tuple[Mapping[str, Any], ...]:
    """Delay and loss by frame size, a panel per rate; and the delay's distribution. `what` begins their titles."""
    return (
        {"kind": "delay_loss", "x": "frame_size", "panel": "rate_mbps", "title": f"{what} by frame size"},
        {"kind": "cdf", "title": f"{what} delay"},
    )


class GridBenchmark(Benchmark[G]):
    """One point per rate and size; figures are delays, loss, and `rate_figure`."""

    quick: ClassVar[Mapping[str, Any]] = {
        "rates_mbps": (1, 10),
        "frame_sizes": (100, 1500),
        "duration_s": 0.8,
        "settle_s": 0.1,
        "repeats": 6,
    }
    rate_figure: ClassVar[str]
    """The metric that says how many frames or messages came through per second."""

    def points(self, params: G, earlier: Sequence[TrialRecord]) -> Iterator[Point]:
        """Rates by sizes."""
        return params.grid()

    def seconds(self, params: G, point: Point) -> float:
        """The probes, the pause before them and a little."""
        return params.settle_s + params.duration_s + 0.2

    def figures(self, params: G, trials: Sequence[TrialRecord]) -> list[Figure]:
        """Delays, loss and rate per point."""
        return delay_figures(trials, DELAY_FIGURES | {self.rate_figure: "mean"})
