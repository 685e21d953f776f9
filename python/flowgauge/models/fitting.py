"""Makes a device model from a measured run: what the figures of the ALIEN suite say about the device, and nothing else.

Delays are fitted at the loads where nothing is lost, as a line in the frame size; where frames are lost, what came through per second
says how long the server is occupied. Entries take a time each, and more the more there are. Jitter is taken as lognormal: its spread is
that which makes the mean exceed the median as measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from flowgauge.errors import RunDirectoryError
from flowgauge.model import Figure
from flowgauge.models import Source
from flowgauge.report.rundata import Run
from flowgauge.results.durable import replace_text

LOSSLESS, LOSSY = 0.001, 0.02
"""Loss ratios up to which a point shows the device at rest, and from which on an overloaded one."""


@dataclass
class Fitted:
    """Parameters as they were found: dotted key -> value and source."""

    title: str
    parameters: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)

    def set(
        self, key: str, value: float | str, benchmark: str, fit: str, rows: int, residual: float | None = None
    ) -> None:
        """Note a parameter; one that is nought is left to be ideal."""
        if value == 0:
            return
        self.parameters[key] = float(f"{value:.6g}") if isinstance(value, float) else value
        self.sources[key] = Source(benchmark, fit, rows, residual)


def fit(run: Run) -> Fitted:
    """The model of a run's device. Raises RunDirectoryError when the run holds none of the benchmarks that say something."""
    name = run.section("dut").get("name") or run.section("config").get("dut") or run.label
    model = Fitted(f"{name}, fitted to the run {run.label}")
    _link(run, model)
    _packets(run, model, "data_path_delay", "forwarding", 1)
    _packets(run, model, "packet_in", "control.packet_in", 1)
    _packets(run, model, "packet_out", "control.packet_out", 0)
    _echo(run, model)
    _entries(run, model)
    if not any(not key.startswith("link.") for key in model.parameters):
        raise RunDirectoryError(
            f"{run.path}: holds no figures of data_path_delay, packet_in, packet_out, control_channel_delay or flow_add",
            advice="Make one: flowgauge run alien --quick --dut NAME",
        )
    return model


def write(model: Fitted, path: Path) -> None:
    """Write the model's file."""
    replace_text(path, text(model))


def text(model: Fitted) -> str:
    """The model's file: groups, then sources.

    >>> print(text(Fitted("x", {"link.rate_mbps": 1000}, {"link.rate_mbps": Source("ports")})))
    title = "x"
    suite = "alien"
    <BLANKLINE>
    [link]
    rate_mbps = 1000
    <BLANKLINE>
    [sources]
    "link.rate_mbps" = { from = "ports" }
    <BLANKLINE>
    """
    lines = [f"title = {_toml(model.title)}", 'suite = "alien"', ""]
    group = ""
    for key, value in sorted(model.parameters.items(), key=lambda item: item[0].rpartition(".")):
        table, _, name = key.rpartition(".")
        if table != group:
            lines += [*([""] if group else []), f"[{table}]"]
            group = table
        lines.append(f"{name} = {_toml(value)}")
    lines += ["", "[sources]"]
    for key in sorted(model.sources):
        source = model.sources[key]
        parts = {"from": source.text, "fit": source.fit, "rows": source.rows, "residual": source.residual}
        told = ", ".join(f"{k} = {_toml(v)}" for k, v in parts.items() if v not in ("", None))
        lines.append(f'"{key}" = {{ {told} }}')
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class At:
    """The figures of one point."""

    point: Mapping[str, Any]
    figures: Mapping[str, float]


def _points(run: Run, benchmark: str) -> list[At]:
    """All points of a benchmark that have figures."""
    found: dict[tuple[Any, ...], dict[str, float]] = {}
    for figure in run.figures.get(benchmark, ()):
        if figure.value is not None:
            found.setdefault(tuple(figure.at.items()), {})[figure.name] = figure.value
    return [At(dict(point), values) for point, values in found.items() if point]


def _link(run: Run, model: Fitted) -> None:
    speeds = {p.get("max_rate_mbps") for p in run.section("dut").get("ports") or () if isinstance(p, Mapping)}
    speed = speeds.pop() if len(speeds) == 1 else None
    if isinstance(speed, (int, float)):
        model.set("link.rate_mbps", speed, "the run's ports", "", 0)
    else:
        model.parameters["link.rate_mbps"] = 0
        model.sources["link.rate_mbps"] = Source("the run's ports have no speed of their own")


def _packets(run: Run, model: Fitted, benchmark: str, group: str, cables: int) -> None:
    """A path that frames take: its latency by size at rest, its server under overload."""
    points = [p for p in _points(run, benchmark) if "delay_median_us" in p.figures]
    calm = [p for p in points if p.figures.get("loss_ratio", 0) <= LOSSLESS] or _lowest(points)
    if not calm:
        return
    sizes = np.array([float(p.point["frame_size"]) for p in calm])
    medians = np.array([p.figures["delay_median_us"] for p in calm]) * 1000
    fixed, slope, residual = _line(sizes, medians)
    rate = float(model.parameters["link.rate_mbps"])
    wire = 8000 / rate if rate else 0.0
    ratios = [
        p.figures["delay_mean_us"] / p.figures["delay_median_us"]
        for p in calm
        if p.figures["delay_median_us"]
    ]
    rows = len(calm)
    _spread(model, f"{group}.latency", max(0.0, fixed), ratios, benchmark, rows, residual)
    model.set(
        f"{group}.latency_per_byte_ns",
        max(0.0, slope - cables * wire),
        benchmark,
        "the same line, less the cables",
        rows,
        residual,
    )
    loss = float(np.median([p.figures.get("loss_ratio", 0) for p in calm]))
    if group == "forwarding":
        model.set("forwarding.loss", loss, benchmark, "the loss ratio at rest", rows)
    _server(model, benchmark, group, points)


def _lowest(points: Sequence[At]) -> list[At]:
    """Those at the lowest load."""
    least = min((float(p.point["rate_mbps"]) for p in points), default=0)
    return [p for p in points if float(p.point["rate_mbps"]) == least]


def _server(model: Fitted, benchmark: str, group: str, points: Sequence[At]) -> None:
    """How long an overloaded path is occupied: what came through per second, as a line in the size."""
    busy = [p for p in points if p.figures.get("loss_ratio", 0) >= LOSSY and (_through(p) or 0) > 0]
    if not busy:
        return
    sizes = np.array([float(p.point["frame_size"]) for p in busy])
    times = np.array([1e9 / (_through(p) or math.inf) for p in busy])
    fixed, slope, residual = _line(sizes, times)
    key = "per_byte_ns" if group == "forwarding" else "service_per_byte_ns"
    model.set(
        f"{group}.service.mean_ns",
        max(0.0, fixed),
        benchmark,
        "what came through per second under overload",
        len(busy),
        residual,
    )
    model.set(f"{group}.{key}", max(0.0, slope), benchmark, "the same line", len(busy), residual)
    if group != "forwarding":
        model.parameters[f"{group}.overlap"] = True
        model.sources[f"{group}.overlap"] = Source(
            benchmark, "the delay at rest was taken as a whole", len(busy)
        )


def _through(point: At) -> float | None:
    """Frames or messages per second that came through."""
    for name in ("forwarding_pps", "message_rate"):
        if name in point.figures:
            return point.figures[name]
    return None


def _line(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Intercept and slope of least relative squares, neither negative, and the median relative deviation."""
    from scipy.optimize import nnls

    if len(set(x)) < 2:
        return float(np.median(y)), 0.0, float(np.median(np.abs(y / np.median(y) - 1))) if len(y) else 0.0
    matrix = np.column_stack([1 / y, x / y])
    (fixed, slope), _ = nnls(matrix, np.ones(len(y)))
    return float(fixed), float(slope), float(np.median(np.abs((fixed + slope * x) / y - 1)))


def _spread(
    model: Fitted,
    key: str,
    median_ns: float,
    ratios: Sequence[float],
    benchmark: str,
    rows: int,
    residual: float,
) -> None:
    """A time with jitter: lognormal with that median, and the spread that the ratios of mean to median show."""
    ratio = float(np.median(ratios)) if ratios else 1.0
    how = "the medians where nothing is lost"
    if ratio < 1.001 or median_ns == 0:
        model.set(f"{key}.mean_ns", median_ns, benchmark, how, rows, residual)
        return
    mean = median_ns * ratio
    model.set(f"{key}.kind", "lognormal", benchmark, "taken for jitter", rows)
    model.set(f"{key}.mean_ns", mean, benchmark, how + " and their means", rows, residual)
    model.set(f"{key}.std_ns", mean * math.sqrt(ratio**2 - 1), benchmark, "mean by median", rows)


def _echo(run: Run, model: Fitted) -> None:
    points = [p for p in _points(run, "control_channel_delay") if p.figures.get("delay_median_us")]
    if points:
        median = float(np.median([p.figures["delay_median_us"] for p in points])) * 1000
        ratios = [p.figures["delay_mean_us"] / p.figures["delay_median_us"] for p in points]
        _spread(model, "control.echo", median, ratios, "control_channel_delay", len(points), 0.0)


def _entries(run: Run, model: Fitted) -> None:
    """Time per entry, time for each that is there, and what a batch takes besides; and how many a table holds."""
    from scipy.optimize import nnls

    points = [
        p for b in ("flow_add", "flow_add_max") for p in _points(run, b) if p.figures.get("activation_us")
    ]
    if points:
        n = np.array([float(p.point["entries"]) for p in points])
        times = np.array([p.figures["activation_us"] for p in points]) * 1000
        columns = np.column_stack([np.ones(len(n)), n, n * (n - 1) / 2])
        found, _ = nnls(columns / times[:, None], np.ones(len(n)))
        residual = float(np.median(np.abs(columns @ found / times - 1)))
        for key, value in zip(
            ("table.lag.mean_ns", "table.write.mean_ns", "table.per_entry_ns"), found, strict=True
        ):
            model.set(
                key,
                float(value),
                "flow_add, flow_add_max",
                "activation by number of entries",
                len(points),
                residual,
            )
    for figure in _full(run.figures.get("flow_add_max", ())):
        assert figure.value is not None
        model.set("table.entries", int(figure.value), "flow_add_max", "the table was full", 1)


def _full(figures: Sequence[Figure]) -> Iterator[Figure]:
    """The limit, where it was reached."""
    return (f for f in figures if f.name == "max_entries" and f.value and f.note == "the table was full")
