"""The declarations that a benchmark may write; see `flowgauge.report.charts`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

Scale = Literal["auto", "linear", "log"]


class _Declaration(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = Field(default="", description="heading of the chart; empty: made from its figures")


class DelayLoss(_Declaration):
    """Delay bars above, loss and message count beneath, against `x`; one panel per value of `panel`.

    The first of `delay` and of `count` for which the run has figures is drawn; `mean` and `upper` are marks on the bars.
    """

    kind: Literal["delay_loss"]
    x: str = "frame_size"
    panel: str | None = "rate_mbps"
    delay: tuple[str, ...] = ("delay_median_us", "delay_mean_us")
    mean: str = "delay_mean_us"
    upper: str = "delay_p99_us"
    loss: str = "loss_ratio"
    count: tuple[str, ...] = ("received", "sent")
    y_scale: Scale = "auto"


class LineInterval(_Declaration):
    """Figures against a parameter, with their intervals. Figures of one chart must share a unit."""

    kind: Literal["line_interval"]
    x: str
    y: tuple[str, ...] = Field(min_length=1)
    color: str | None = None
    panel: str | None = None
    x_scale: Scale = "auto"
    y_scale: Scale = "auto"


class Cdf(_Declaration):
    """Share of frames (or messages) that took at most that long, from the histograms stored with trials.

    `samples` is the prefix of the arrays (`latency.value_ns`, `latency.count`). Without `color` and `panel` the parameters
    that the benchmark varies are taken: panels by rate, a curve per value of the last one.
    """

    kind: Literal["cdf"]
    samples: str = "latency"
    color: str | None = None
    panel: str | None = None


class Histogram(_Declaration):
    """How often each delay occurred, all points of the benchmark together."""

    kind: Literal["histogram"]
    samples: str = "latency"


class Key(_Declaration):
    """The figure that stands for the benchmark at the top: at `at`, or its range over all points."""

    kind: Literal["key"]
    figure: str
    at: Mapping[str, float | int | str] = Field(default_factory=dict)


Declaration = DelayLoss | LineInterval | Cdf | Histogram | Key
_ADAPTER: TypeAdapter[Declaration] = TypeAdapter(Annotated[Declaration, Field(discriminator="kind")])


def parse(declaration: Mapping[str, Any]) -> Declaration:
    """A declaration from its object. Raises pydantic.ValidationError that names the key.

    >>> parse({"kind": "cdf", "panel": "rate_mbps"}).panel
    'rate_mbps'
    """
    return _ADAPTER.validate_python(declaration)
