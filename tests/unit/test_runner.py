"""The runner on a fake testbed: what is recorded, what goes on, what ends the run."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import fakes
import pytest

from flowgauge.model import CheckState, Point, TrialRecord
from flowgauge.results import reader, samples
from flowgauge.results.schema import RunDocument
from flowgauge.results.writer import RunWriter
from flowgauge.runner import bench
from flowgauge.runner.bench import Bench
from flowgauge.runner.estimate import State
from flowgauge.runner.interrupts import Interrupts
from flowgauge.runner.observer import Observer
from flowgauge.runner.plan import Item, Plan, Request, make_plan
from flowgauge.runner.runner import Outcome, Runner

pytestmark = pytest.mark.usefixtures("fake")


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "WAIT_S", 0.1)


def plan(acts: Sequence[str] = ("ok", "ok"), *, targets: Sequence[str] = ("fake",), **more: object) -> Plan:
    settings = [f"{t}.acts={list(acts)!r}" for t in targets]
    return replace(make_plan(Request(targets=targets, dut="fake", settings=settings)), **more)  # type: ignore[arg-type]


def run(
    what: Plan,
    path: Path,
    *,
    resume: bool = False,
    observer: Observer | None = None,
    interrupts: Interrupts | None = None,
) -> Outcome:
    document = RunDocument(id="x", suite=what.suite, command=["flowgauge"], config=what.config())
    directory = RunWriter.resume(path) if resume else RunWriter.create(path, document)
    try:
        with interrupts or Interrupts() as held:
            watcher = observer or Observer()
            return Runner(
                what, directory, watcher, Bench(what, directory, watcher, held, fakes.SEAM), held
            ).run()
    finally:
        directory.close()


def statuses(path: Path) -> list[str]:
    return [t.status for t in reader.read_trials(path)]


def reasons(path: Path) -> list[str]:
    return [t.reason or "" for t in reader.read_trials(path) if t.status != "ok"]


def test_all_well(tmp_path: Path) -> None:
    outcome = run(plan(repeat=2, openflow="1.0", seed=5), tmp_path / "run")
    assert (outcome.status, outcome.exit_code, outcome.failed) == ("complete", 0, 0)
    document = reader.read_document(tmp_path / "run")
    assert document.status == "complete"
    assert document.dut["driver"] == "fake"
    assert document.dut["switch"] == {"manufacturer": "nobody"}
    assert document.loopback is not None
    assert document.loopback["max_pps"] == {"64": 1e6}
    assert [(f.name, f.value, f.count) for f in document.figures] == [("n_mean", 0.5, 4)]
    trials = reader.read_trials(tmp_path / "run")
    assert [(t.point["n"], t.repeat) for t in trials] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert trials[0].metrics == {"delay_mean_us": 0.333333333, "lost": 0, "nothing": None}
    assert set(reader.read_timings(tmp_path / "run")) == {t.id for t in trials}
    stored = samples.read(tmp_path / "run" / "samples", trials[0].id)
    assert stored["latency.count"].tolist() == [1, 2]
    assert stored["raw"].tolist() == [0, 1, 2]
    assert fakes.events()[0] == "open 1.0 5"
    assert fakes.events()[-1] == "stop"


@pytest.mark.parametrize(
    ("act", "reason", "opens", "recovered"),
    [
        ("exit", "worker-died: the worker process ended with status 7", 2, True),
        ("kill", "worker-died: the worker process was killed by SIGKILL", 2, True),
        (
            "dut-dies",
            "dut-died: the DUT stopped during the trial (the switch closed the channel)",
            2,
            False,
        ),
        (
            "dut-dies-quietly",
            "dut-died: the DUT stopped during the trial",
            2,
            False,
        ),
        ("channel", "channel-closed: the switch closed the channel", 2, False),
        ("reject", "rejected: the switch said no", 1, False),
        ("raise", "trial: fake broke: ZeroDivisionError: oh", 2, False),
        ("ragged", "trial: fake broke: ValueError: samples 'latency' differ in length", 2, False),
    ],
)
def test_a_trial_that_breaks_is_recorded_and_the_run_goes_on(
    tmp_path: Path, act: str, reason: str, opens: int, recovered: bool
) -> None:
    outcome = run(plan(["ok", act, "ok"]), tmp_path / "run")
    assert (outcome.status, outcome.exit_code, outcome.failed) == ("complete", 1, 1)
    assert statuses(tmp_path / "run") == ["ok", "failed", "ok"]
    assert reasons(tmp_path / "run")[0].startswith(reason)
    assert sum(e.startswith("open") for e in fakes.events()) == opens
    assert ("recover fake" in fakes.events()) == recovered


def test_the_log_holds_what_the_worker_printed(tmp_path: Path) -> None:
    run(plan(["raise"]), tmp_path / "run")
    assert "ZeroDivisionError: oh" in (tmp_path / "run" / "log.txt").read_text()


def test_an_invalid_trial_is_repeated(tmp_path: Path, fake: Path) -> None:
    (fake / "lose").write_text("2")
    assert run(plan(["lost-once"]), tmp_path / "run").exit_code == 0
    assert reader.read_trials(tmp_path / "run")[0].attempts == 3


def test_a_trial_that_stays_invalid_says_so(tmp_path: Path) -> None:
    outcome = run(plan(["lost", "ok"]), tmp_path / "run")
    assert (outcome.exit_code, outcome.invalid) == (1, 1)
    assert reasons(tmp_path / "run") == ["tester-loss: 3 frames were dropped by the tester (4 attempts)"]


def test_the_first_set_up_must_work(tmp_path: Path, fake: Path) -> None:
    (fake / "fail-setup").write_text("1")
    outcome = run(plan(), tmp_path / "run")
    assert (outcome.status, outcome.exit_code) == ("interrupted", 3)
    assert outcome.error is not None
    assert outcome.error.message == "the fake does not start"
    assert reader.read_document(tmp_path / "run").reason == "setup: the fake does not start"


@pytest.mark.parametrize(("dut", "code"), [("unknown", 2), ("no-root", 3)])
def test_errors_of_the_driver_keep_their_kind(tmp_path: Path, dut: str, code: int) -> None:
    outcome = run(plan(dut=dut), tmp_path / "run")
    assert outcome.exit_code == code


def test_two_failed_set_ups_are_survived(tmp_path: Path, fake: Path) -> None:
    class Sabotage(Observer):
        def result(self, item: Item, record: TrialRecord, seconds: float, state: State) -> None:
            (fake / "fail-setup").write_text("2" if record.status == "failed" else "0")

    outcome = run(plan(["ok", "exit", "ok"]), tmp_path / "run", observer=Sabotage())
    assert (outcome.status, outcome.exit_code) == ("complete", 1)
    assert statuses(tmp_path / "run") == ["ok", "failed", "ok"]


def test_three_failed_set_ups_end_the_run_and_it_can_go_on(tmp_path: Path, fake: Path) -> None:
    class Sabotage(Observer):
        def result(self, item: Item, record: TrialRecord, seconds: float, state: State) -> None:
            (fake / "fail-setup").write_text("9" if record.status == "failed" else "0")

    what = plan(["ok", "exit", "ok"])
    outcome = run(what, tmp_path / "run", observer=Sabotage())
    assert (outcome.status, outcome.exit_code) == ("interrupted", 3)
    assert statuses(tmp_path / "run") == ["ok", "failed"]
    (fake / "fail-setup").unlink()
    fakes.note("resumed")
    outcome = run(what, tmp_path / "run", resume=True)
    assert statuses(tmp_path / "run") == ["ok", "failed", "ok"]
    since = fakes.events()[fakes.events().index("resumed") :]
    assert [e for e in since if e.startswith("trial")] == ["trial 1 exit", "trial 2 ok"]


def test_missing_ports_and_features_skip_a_benchmark(tmp_path: Path) -> None:
    outcome = run(plan(targets=["wide", "fancy", "fake"]), tmp_path / "run")
    assert outcome.exit_code == 0
    assert [(s.benchmark, s.reason) for s in reader.read_document(tmp_path / "run").skipped] == [
        ("wide", "it needs 5 ports; the DUT has 2"),
        ("fancy", "the switch does not support meters"),
    ]
    assert statuses(tmp_path / "run") == ["ok", "ok"]


def test_what_can_not_be_done_through_a_controller_skips_a_benchmark(tmp_path: Path) -> None:
    outcome = run(replace(plan(targets=["timing", "fake"]), controller="ovs-ofctl"), tmp_path / "run")
    assert outcome.exit_code == 0
    document = reader.read_document(tmp_path / "run")
    assert [(s.benchmark, s.reason) for s in document.skipped] == [
        ("timing", "timed ECHO_REQUESTs can't be had through the controller ovs-ofctl")
    ]
    assert document.config.controller == "ovs-ofctl"
    assert document.dut["controller"] == {"name": "ovs-ofctl"}
    assert statuses(tmp_path / "run") == ["ok", "ok"]


def test_a_switch_that_died_stands_beside_the_figures_of_its_point(tmp_path: Path) -> None:
    run(plan(["ok", "dut-dies", "ok"]), tmp_path / "run")
    first, second, third = reader.read_trials(tmp_path / "run")
    for trial in (first, third):
        assert ("dut-restart", CheckState.PASS) in [(c.name, c.state) for c in trial.checks]
    (check,) = second.checks
    assert (second.status, check.name, check.state) == ("failed", "dut-restart", CheckState.FAIL)
    (figure,) = reader.read_document(tmp_path / "run").figures
    (shown,) = [c for c in figure.checks if c.state is CheckState.FAIL]
    assert shown.text.startswith("1 of 3 trials broke: the DUT stopped during the trial")
    assert shown.advice


def test_a_broken_benchmark_does_not_stop_the_others(tmp_path: Path) -> None:
    first = plan(["ok", "break-points"]).items[0]
    broken = plan(["ok", "break-figures"], targets=["searching"]).items[0]
    last = plan(targets=["fancy"]).items[0]
    last.benchmark.features  # noqa: B018
    outcome = run(replace(plan(), items=(first, broken, last)), tmp_path / "run")
    assert (outcome.status, outcome.exit_code) == ("complete", 1)
    skipped = [s.reason for s in reader.read_document(tmp_path / "run").skipped]
    assert skipped[:2] == [
        "it broke while choosing its points: ValueError: no such point",
        "its figures could not be computed: KeyError: 'delay'",
    ]


def test_a_search_sees_results_and_may_visit_a_point_again(tmp_path: Path) -> None:
    run(plan(targets=["searching"]), tmp_path / "run")
    trials = reader.read_trials(tmp_path / "run")
    assert [t.repeat for t in trials] == [0, 1, 2]
    assert len({t.id for t in trials}) == 3


def test_the_dut_is_reset_between_benchmarks(tmp_path: Path) -> None:
    run(plan(["ok"], targets=["fake", "searching"]), tmp_path / "run")
    assert fakes.events().count("reset") == 1


class Stopper(Observer):
    """Sends Ctrl-C while a trial sleeps."""

    def trial(self, item: Item, point: Point, repeat: int, state: State) -> None:
        if point["act"] == "sleep":
            threading.Thread(target=self._interrupt).start()

    def _interrupt(self) -> None:
        while not any("sleep" in e for e in fakes.events()):
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_keeps_what_was_measured(tmp_path: Path) -> None:
    begin = time.monotonic()
    outcome = run(plan(["ok", "sleep", "ok"]), tmp_path / "run", observer=Stopper())
    assert time.monotonic() - begin < 20
    assert (outcome.status, outcome.exit_code) == ("interrupted", 130)
    document = reader.read_document(tmp_path / "run")
    assert (document.status, document.reason) == ("interrupted", "stopped by the user")
    assert statuses(tmp_path / "run") == ["ok"]
    assert [f.count for f in document.figures] == [1]
    assert fakes.events()[-1] == "stop"


def test_resuming_measures_only_what_is_missing(tmp_path: Path) -> None:
    what = plan(["ok", "ok", "ok"])
    run(what, tmp_path / "run")
    file = tmp_path / "run" / "trials.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0] + lines[1][:50])
    outcome = run(what, tmp_path / "run", resume=True)
    assert outcome.exit_code == 0
    again = reader.read_trials(tmp_path / "run")
    assert [t.point["n"] for t in again] == [0, 1, 2]
    assert [e for e in fakes.events() if e.startswith("trial")].count("trial 0 ok") == 1


def test_resuming_a_complete_run_starts_nothing(tmp_path: Path) -> None:
    what = plan()
    run(what, tmp_path / "run")
    before = fakes.events()
    assert run(what, tmp_path / "run", resume=True).exit_code == 0
    assert fakes.events() == before


def test_a_channel_that_ended_is_not_used_again(tmp_path: Path) -> None:
    outcome = run(plan(["channel-ends", "ok"]), tmp_path / "run")
    assert outcome.exit_code == 0, "a closed channel may be what a trial found"
    assert sum(e.startswith("open") for e in fakes.events()) == 2
