"""How a benchmark says what its charts look like, and how charts are made of a run.

A benchmark declares charts as plain objects in `Benchmark.charts`; the runner stores them in run.json
(`config.benchmarks[].charts`), and a report draws them from there:

    charts = (
        {"kind": "delay_loss", "panel": "rate_mbps"},
        {"kind": "line_interval", "x": "entries", "y": ["activation_us", "barrier_us"]},
        {"kind": "cdf", "panel": "rate_mbps", "color": "frame_size"},
    )

Kinds (each has a `title` that may be left out; names of figures and parameters are those of `flowgauge.fields`):

| kind | draws | needs |
|---|---|---|
| `delay_loss` | one panel per value of `panel`: delay bars, and beneath loss and message count, against `x` | figures |
| `line_interval` | figures `y` against `x` with their intervals; `color` splits by a parameter, `panel` in panels | figures |
| `cdf` | cumulative distributions of the delays, by `color`, in panels by `panel` | stored histograms |
| `histogram` | distribution of the delays of all points together | stored histograms |
| `key` | no chart: the figure that stands for the benchmark at the top of the report | figures |

A benchmark that declares none gets what fits its figures (`defaults`). A chart whose figures are missing is left
out; a declaration that makes no sense is told in the report and breaks nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from flowgauge.report.charts.vocabulary import (
    Cdf,
    Declaration,
    DelayLoss,
    Histogram,
    Key,
    LineInterval,
    parse,
)
from flowgauge.report.rundata import Run

__all__ = ["Chart", "build", "declared", "parse"]


@dataclass(frozen=True)
class Chart:
    """A finished chart: a Vega-Lite object whose colours are names of `theme.PALETTE` ("var(--s1)").

    `caption` says how to read it.
    """

    title: str
    caption: str
    spec: Mapping[str, Any]


def declared(run: Run, benchmark: str) -> tuple[list[Declaration], list[str]]:
    """The declarations of a benchmark (or the defaults that fit its figures), and what is wrong with bad ones."""
    from flowgauge.report.charts.defaults import defaults

    found: list[Declaration] = []
    wrong: list[str] = []
    raw: Sequence[Any] = run.benchmark_config(benchmark).get("charts") or ()
    for entry in raw:
        try:
            found.append(parse(entry))
        except ValidationError as error:
            first = error.errors()[0]
            wrong.append(f"{entry!r}: {'.'.join(map(str, first['loc']))}: {first['msg']}")
    if not any(not isinstance(d, Key) for d in found):
        found += defaults(run, benchmark)
    return found, wrong


def build(run: Run, benchmark: str) -> tuple[list[Chart], list[str]]:
    """All charts of a benchmark, and what kept others from being drawn."""
    from flowgauge.report.charts import cdf, delay_loss, histogram, lines

    builders: Mapping[type, Callable[..., Chart | None]] = {
        DelayLoss: delay_loss.build,
        LineInterval: lines.build,
        Cdf: cdf.build,
        Histogram: histogram.build,
    }
    declarations, wrong = declared(run, benchmark)
    charts: list[Chart] = []
    for declaration in declarations:
        if type(declaration) not in builders:
            continue
        try:
            chart = builders[type(declaration)](run, benchmark, declaration)
        except Exception as error:  # a chart that can't be drawn is said, and costs no other result
            wrong.append(f"{declaration.kind}: {type(error).__name__}: {error}")
        else:
            charts += [chart] if chart else []
    return charts, wrong
