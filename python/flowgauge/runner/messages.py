"""What the runner and its worker process say to each other. Everything here is pickled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from flowgauge.errors import FlowgaugeError
from flowgauge.model import Trial


@dataclass(frozen=True)
class Measure:
    """Measure one point once. `path` is where the benchmark's class is."""

    name: str
    path: str
    params: Mapping[str, Any]
    point: Mapping[str, Any]


@dataclass(frozen=True)
class Reset:
    """Bring the DUT back to its state after start."""


@dataclass(frozen=True)
class Stop:
    """Close the testbed, stop the DUT, end."""


@dataclass(frozen=True)
class Ready:
    """The testbed is open. `features` None: the DUT does not say which it has; `abilities`: those of the control path through
    `controller`. `tester_ports`: what each of the tester's ports is, and where its frames are stamped.
    """

    ports: int
    dut: Mapping[str, Any] = field(default_factory=dict)
    loopback: Mapping[str, Any] | None = None
    features: tuple[str, ...] | None = None
    core_plan: Any = None
    tester_ports: Any = None
    controller: str = "builtin"
    abilities: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Measured:
    """The trial. `usable`: whether this worker may measure on; if not, it is replaced."""

    trial: Trial
    usable: bool = True


@dataclass(frozen=True)
class WasReset:
    """The DUT was reset."""


@dataclass(frozen=True)
class Failed:
    """What was asked for could not be done. `usable`: whether this worker may measure on; if not, it is replaced."""

    error: FlowgaugeError
    usable: bool


Request = Measure | Reset | Stop
Reply = Ready | Measured | WasReset | Failed
