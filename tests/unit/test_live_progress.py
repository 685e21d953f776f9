"""The drawn progress: it draws, and failures stay on the screen."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from flowgauge.cli.live import live_progress
from flowgauge.model import Point, TrialRecord
from flowgauge.runner.estimate import State
from flowgauge.runner.messages import Ready
from flowgauge.runner.plan import Request, make_plan


@pytest.mark.usefixtures("fake")
def test_everything_is_drawn() -> None:
    screen = io.StringIO()
    plan = make_plan(Request(targets=["fake"], dut="fake", settings=["fake.repeats=2"]))
    item, point = plan.items[0], Point(n=1, act="[bold]")
    state = State(1, 4, True, 75.0, 8.0)
    with live_progress(Console(file=screen, force_terminal=True, width=120)) as progress:
        progress.started(plan, Path("runs/x"), State(0, 4, False, 10.0, None))
        progress.opening("fake")
        progress.opened(Ready(2, {"driver": "fake", "version": "1"}))
        progress.trial(item, point, 1, state)
        progress.result(
            item, TrialRecord("0" * 16, "fake", point, 1, "failed", reason="it [b]broke"), 1.0, state
        )
        progress.skipped("wide", "no ports")
        progress.note("something")
        progress.stopping()
    text = screen.getvalue()
    for part in (
        "fake on fake: at least 4 trials, about 10 s; in runs/x",
        "measuring fake 1, 2 ports",
        "fake n=1 act=[bold] #2: FAILED: it [b]broke",
        "wide skipped: no ports",
        "something",
        "stopping",
    ):
        assert part in text, part
