"""A testbed that needs no switch: its benchmark says in its points what shall happen.

`FLOWGAUGE_FAKE` names a folder in which the fake notes what is done to it (`events`) and reads how often to fail (`fail-setup`).
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from flowgauge.benchmarks.base import Benchmark, Params
from flowgauge.errors import (
    ChannelClosedError,
    PermissionNeededError,
    RejectedError,
    SetupError,
    UnknownNameError,
)
from flowgauge.model import Check, CheckState, Figure, Point, Trial, TrialRecord
from flowgauge.names import unknown
from flowgauge.runner.bench import Seam
from flowgauge.testbed.interface import Loopback, OpenOptions, Port

SEAM = Seam("fakes:open_testbed", "fakes:recover", "fakes:check")


def note(text: str) -> None:
    with (folder() / "events").open("a") as file:
        file.write(text + "\n")


def events() -> list[str]:
    file = folder() / "events"
    return file.read_text().splitlines() if file.exists() else []


def folder() -> Path:
    return Path(os.environ["FLOWGAUGE_FAKE"])


def count_down(name: str) -> bool:
    """Whether a counter in the folder was above 0; it is one less now."""
    file = folder() / name
    left = int(file.read_text()) if file.exists() else 0
    if left > 0:
        file.write_text(str(left - 1))
    return left > 0


class FakeDriver:
    name = "fake"

    def __init__(self) -> None:
        self.lives = True

    def reset(self) -> None:
        note("reset")

    def describe(self) -> Mapping[str, Any]:
        return {"version": "1", "features": ["echo"]}

    def alive(self) -> bool:
        return self.lives

    def stop(self) -> None:
        note("stop")


class FakeControl:
    version = "1.3"
    abilities = frozenset(("packet_out", "entries"))

    def describe(self) -> Mapping[str, Any]:
        return {"manufacturer": "nobody"}


class FakeTestbed:
    def __init__(self, driver: FakeDriver, controller: str) -> None:
        self.driver = driver
        self.connected = True
        self.controller = {"name": controller}
        self.ports = [Port(0, 1, "fake", "a"), Port(1, 2, "fake", "b")]
        self.control = FakeControl()
        self.loopback = Loopback("fake", {64: 1e6}, 1000.0, 100.0, "2026-01-01T00:00:00Z")


@contextmanager
def open_testbed(dut: str, options: OpenOptions) -> Iterator[tuple[FakeDriver, FakeTestbed]]:
    if dut.startswith("unknown"):
        raise UnknownNameError(f'no DUT is called "{dut}"')
    if dut.startswith("no-root"):
        raise PermissionNeededError("it needs root", advice="Run it with sudo.")
    note(f"open {options.openflow} {options.seed}")
    if count_down("fail-setup"):
        raise SetupError("the fake does not start")
    driver = FakeDriver()
    try:
        yield driver, FakeTestbed(driver, options.controller or "builtin")
    finally:
        driver.stop()


def check(dut: str) -> None:
    if dut.startswith("no-such"):
        raise unknown("DUT", dut, ["fake"])


def recover(dut: str) -> None:
    note(f"recover {dut}")


class FakeParams(Params):
    """Parameters of fake."""

    acts: tuple[str, ...] = Field(("ok", "ok"), description="what each trial does")
    repeats: int = Field(1, ge=1, description="trials per point")
    duration_s: float = Field(0.01, gt=0, description="length of a trial, seconds")
    seed: int = Field(0, description="for random numbers")


class Fake(Benchmark[FakeParams]):
    """A benchmark that obeys."""

    name: ClassVar[str] = "fake"
    params_type: ClassVar[type[Params]] = FakeParams
    quick: ClassVar[dict[str, Any]] = {"acts": ("ok",)}

    def points(self, params: FakeParams, earlier: Sequence[TrialRecord]) -> Iterator[Point]:
        for n, act in enumerate(params.acts):
            if act == "break-points":
                raise ValueError("no such point")
            yield Point(n=n, act=act)

    def trial(self, testbed: Any, params: FakeParams, point: Point) -> Trial:
        act = str(point["act"])
        note(f"trial {point['n']} {act}")
        checks: tuple[Check, ...] = (Check("few-samples", CheckState.PASS, "enough"),)
        if act == "exit":
            os._exit(7)
        if act == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if act == "dut-dies":
            testbed.driver.lives = False
            raise ChannelClosedError("the switch closed the channel")
        if act == "dut-dies-quietly":
            testbed.driver.lives = False
        if act == "channel":
            raise ChannelClosedError("the switch closed the channel")
        if act == "channel-ends":
            testbed.connected = False
        if act == "reject":
            raise RejectedError("the switch said no")
        if act == "raise":
            raise ZeroDivisionError("oh")
        if act == "sleep":
            time.sleep(60)
        if act == "warn":
            text = "the tester does no better"
            checks = (Check("tester-limited", CheckState.FAIL, text, "Use a faster tester."),)
        if act == "lost" or (act == "lost-once" and count_down("lose")):
            text = "3 frames were dropped by the tester"
            checks = (Check("tester-loss", CheckState.FAIL, text, "Slow down.", invalidates=True),)
        samples = {
            "latency.value_ns": np.array([10, 20]),
            "latency.count": np.array([1, 2]),
            "raw": np.arange(3),
        }
        if act == "ragged":
            samples["latency.count"] = np.array([1])
        metrics: dict[str, Any] = {
            "delay_mean_us": np.float64(1 / 3),
            "lost": np.int64(0),
            "nothing": float("nan"),
        }
        return Trial(metrics, samples, checks)

    def figures(self, params: FakeParams, trials: Sequence[TrialRecord]) -> list[Figure]:
        if "break-figures" in params.acts:
            raise KeyError("delay")
        good = [t for t in trials if t.status == "ok"]
        mean = sum(t.point.number("n") for t in good) / len(good) if good else None
        return [Figure("n_mean", mean, "", count=len(good), checks=good[0].checks if good else ())]

    def seconds(self, params: FakeParams, point: Point) -> float:
        return params.duration_s


class Wide(Fake):
    """It needs more ports than the fake has."""

    name: ClassVar[str] = "wide"
    ports: ClassVar[int] = 5


class Fancy(Fake):
    """It needs a feature that the fake lacks."""

    name: ClassVar[str] = "fancy"
    features: ClassVar[tuple[str, ...]] = ("meters",)


class Timing(Fake):
    """It needs what the fake's control path can't do."""

    name: ClassVar[str] = "timing"
    abilities: ClassVar[tuple[str, ...]] = ("packet_out", "echo")


class Searching(Fake):
    """It looks at earlier results, and visits a point twice."""

    name: ClassVar[str] = "searching"

    def points(self, params: FakeParams, earlier: Sequence[TrialRecord]) -> Iterator[Point]:
        yield Point(n=0, act="ok")
        while len(earlier) < 3:
            yield Point(n=earlier[-1].point.integer("n") // 2, act="ok")


BENCHMARKS = {name: f"fakes:{name.title()}" for name in ("fake", "wide", "fancy", "timing", "searching")}
