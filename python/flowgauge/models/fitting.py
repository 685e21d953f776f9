"""Makes a device model from a measured run: what the figures of the ALIEN suite say about the device, and nothing else.

Delays are fitted at the loads where nothing is lost, as a line in the frame size; where frames are lost, what came through per second
says how long the server is occupied. Entries take a time each, and more the more there are. Jitter is taken as lognormal: its spread is
that between the lower quartile and the median, which the stalls of a busy host do not move as they do a standard deviation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flowgauge.errors import RunDirectoryError
from flowgauge.model import Figure
from flowgauge.models import Source
from flowgauge.report.rundata import Run
from flowgauge.results.durable import replace_text

LOSSLESS, LOSSY = 0.001, 0.02
"""Loss ratios up to which a point shows the device at rest, and from which on an overloaded one."""
Z75 = 0.6744897501960817
"""Upper quartile of the standard normal distribution."""
MIN_SIGMA, MAX_SIGMA = 0.005, 1.0
"""Of the lognormal distributions that are fitted; less is none."""


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
    forwarding = _server(run, model, "data_path_delay", "forwarding")
    pipeline = _latency(run, model, "data_path_delay", "forwarding", _wire(model).plus(forwarding))
    # PACKET_INs leave behind the server of the forwarding path, PACKET_OUTs come through what is behind it.
    _server(run, model, "packet_in", "control.packet_in")
    _latency(run, model, "packet_in", "control.packet_in", _wire(model).plus(forwarding))
    _server(run, model, "packet_out", "control.packet_out")
    _latency(run, model, "packet_out", "control.packet_out", pipeline)
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
    """The figures of one point; `lower_ns` lie between lower quartile and median, in the trial in the middle."""

    point: Mapping[str, Any]
    figures: Mapping[str, float]
    lower_ns: float | None


@dataclass(frozen=True)
class Line:
    """A time as a line in the frame size, in ns; `lower` lie between its lower quartile and its median."""

    fixed: float = 0.0
    per_byte: float = 0.0
    lower: float = 0.0

    def plus(self, other: Line) -> Line:
        """One after the other; neither says anything of the other."""
        lower = math.hypot(self.lower, other.lower)
        return Line(self.fixed + other.fixed, self.per_byte + other.per_byte, lower)

    def less(self, other: Line) -> Line:
        """What is left when the other is part of it; nothing is negative."""
        lower = math.sqrt(max(0.0, self.lower**2 - other.lower**2))
        return Line(max(0.0, self.fixed - other.fixed), max(0.0, self.per_byte - other.per_byte), lower)


def _points(run: Run, benchmark: str) -> list[At]:
    """All points of a benchmark that have figures."""
    found: dict[tuple[Any, ...], dict[str, float]] = {}
    for figure in run.figures.get(benchmark, ()):
        if figure.value is not None:
            found.setdefault(tuple(figure.at.items()), {})[figure.name] = figure.value
    lower: dict[tuple[Any, ...], list[float]] = {}
    for trial in run.trials_of(benchmark):
        samples = run.samples(trial.id) if trial.status == "ok" else {}
        if len(samples.get("latency.value_ns", ())) > 0:
            lower.setdefault(tuple(trial.point.items()), []).append(_lower_ns(samples))
    return [
        At(dict(point), values, float(np.median(lower[point])) if point in lower else None)
        for point, values in found.items()
        if point
    ]


def _lower_ns(samples: Mapping[str, NDArray[Any]]) -> float:
    """From the lower quartile to the median of a trial's delays."""
    order = np.argsort(samples["latency.value_ns"])
    share = np.cumsum(samples["latency.count"][order])
    quartile, median = np.searchsorted(share, [0.25 * share[-1], 0.5 * share[-1]])
    values = samples["latency.value_ns"][order]
    return float(values[median]) - float(values[quartile])


def _link(run: Run, model: Fitted) -> None:
    ports = run.section("dut").get("ports") or ()
    speeds = {p.get("max_rate_mbps") for p in ports if isinstance(p, Mapping)}
    speed = speeds.pop() if len(speeds) == 1 else None
    if isinstance(speed, (int, float)):
        model.set("link.rate_mbps", speed, "the run's ports", "", 0)
    else:
        model.parameters["link.rate_mbps"] = 0
        model.sources["link.rate_mbps"] = Source("the run's ports have no speed of their own")


def _wire(model: Fitted) -> Line:
    """The cable to the switch, which has the whole frame before anything happens."""
    rate = float(model.parameters["link.rate_mbps"])
    return Line(per_byte=8000 / rate if rate else 0.0)


def _latency(run: Run, model: Fitted, benchmark: str, group: str, elsewhere: Line) -> Line:
    """A path that frames take: its latency by size at rest, less what the model has elsewhere on the way."""
    points = [p for p in _points(run, benchmark) if "delay_median_us" in p.figures]
    calm = [p for p in points if p.figures.get("loss_ratio", 0) <= LOSSLESS] or _lowest(points)
    if not calm:
        return Line()
    sizes = np.array([float(p.point["frame_size"]) for p in calm])
    medians = np.array([p.figures["delay_median_us"] for p in calm]) * 1000
    fixed, slope, residual = _line(sizes, medians)
    found = Line(fixed, slope, _lower(calm)).less(elsewhere)
    how = "a line in the size to the medians where nothing is lost, less what else is on the way"
    _time(model, f"{group}.latency", found, benchmark, how, len(calm), residual)
    key = f"{group}.latency_per_byte_ns"
    model.set(key, found.per_byte, benchmark, "the same line", len(calm), residual)
    if group == "forwarding":
        loss = float(np.median([p.figures.get("loss_ratio", 0) for p in calm]))
        model.set("forwarding.loss", loss, benchmark, "the loss ratio at rest", len(calm))
    return found


def _lower(points: Sequence[At]) -> float:
    """From the lower quartile to the median, in the middle of all points."""
    known = [p.lower_ns for p in points if p.lower_ns is not None]
    return float(np.median(known)) if known else 0.0


def _lowest(points: Sequence[At]) -> list[At]:
    """Those at the lowest load."""
    least = min((float(p.point["rate_mbps"]) for p in points), default=0)
    return [p for p in points if float(p.point["rate_mbps"]) == least]


def _server(run: Run, model: Fitted, benchmark: str, group: str) -> Line:
    """How long an overloaded path is occupied: what came through per second, as a line in the size."""
    points = _points(run, benchmark)
    busy = [p for p in points if p.figures.get("loss_ratio", 0) >= LOSSY and (_through(p) or 0) > 0]
    if not busy:
        return Line()
    sizes = np.array([float(p.point["frame_size"]) for p in busy])
    times = np.array([1e9 / (_through(p) or math.inf) for p in busy])
    fixed, slope, residual = _line(sizes, times)
    how = "what came through per second under overload"
    model.set(f"{group}.service.mean_ns", fixed, benchmark, how, len(busy), residual)
    model.set(f"{group}.per_byte_ns", slope, benchmark, "the same line", len(busy), residual)
    if group != "forwarding":
        model.parameters[f"{group}.overlap"] = True
        model.sources[f"{group}.overlap"] = Source(
            benchmark, "the delay at rest was taken as a whole", len(busy)
        )
    return Line(fixed, slope)


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


def _time(
    model: Fitted, key: str, found: Line, benchmark: str, how: str, rows: int, residual: float | None
) -> None:
    """A time with jitter: lognormal with that median and that lower quartile."""
    sigma = 0.0
    if found.fixed > 0:
        quartile = max(0.1 * found.fixed, found.fixed - found.lower)
        sigma = min(MAX_SIGMA, math.log(found.fixed / quartile) / Z75)
    mean = found.fixed * math.exp(sigma**2 / 2)
    model.set(f"{key}.mean_ns", mean, benchmark, how, rows, residual)
    if sigma >= MIN_SIGMA:
        model.set(f"{key}.kind", "lognormal", benchmark, "taken for jitter", rows)
        std = mean * math.sqrt(math.expm1(sigma**2))
        model.set(f"{key}.std_ns", std, benchmark, "median less lower quartile", rows)


def _echo(run: Run, model: Fitted) -> None:
    points = [p for p in _points(run, "control_channel_delay") if p.figures.get("delay_median_us")]
    if points:
        median = float(np.median([p.figures["delay_median_us"] for p in points])) * 1000
        found = Line(fixed=median, lower=_lower(points))
        how = "the median"
        _time(model, "control.echo", found, "control_channel_delay", how, len(points), None)


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
