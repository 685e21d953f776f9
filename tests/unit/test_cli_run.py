"""`flowgauge run` as a user sees it: what it prints, what it refuses, what it leaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import fakes
import pytest

from flowgauge.cli import ending, running
from flowgauge.errors import ConfigError, FlowgaugeError, UnknownNameError, UsageError
from flowgauge.runner.plan import Request
from golden import check

pytestmark = pytest.mark.usefixtures("fake")


@pytest.fixture(autouse=True)
def _no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "print_run", lambda path: print("(tables)"))
    monkeypatch.setattr(ending, "_report", lambda path: path / "report.html")


def request(*acts: str, **more: object) -> Request:
    values = {"targets": ["fake"], "dut": "fake", "settings": [f"fake.acts={list(acts)!r}"], **more}
    return Request(**values)  # type: ignore[arg-type]


def run(what: Request, path: Path, *, resume: bool = False) -> int:
    return running.run(what, path, resume=resume, seam=fakes.SEAM)


def test_lines_of_a_run_with_all_that_can_go_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    what = request("ok", "warn", "exit", "lost", "reject", targets=["fake", "wide"], repeat=2, openflow="1.3")
    assert run(what, Path("out")) == 1
    printed = capsys.readouterr()
    assert printed.err == ""
    check("run_lines.txt", printed.out)


def test_a_run_that_ends_early_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(request("ok", dut="no-root"), Path("my run")) == 3
    printed = capsys.readouterr()
    check("run_no_setup.txt", printed.out + printed.err)
    document = json.loads(Path("my run/run.json").read_text())
    assert (document["status"], document["figures"]) == ("interrupted", [])


def test_the_record_says_how_to_repeat_the_run(tmp_path: Path) -> None:
    assert run(request("ok", seed=7), tmp_path / "out") == 0
    document = json.loads((tmp_path / "out" / "run.json").read_text())
    assert document["schema"] == 1
    config = document["config"]
    assert (config["dut"], config["seed"], config["repeat"], config["openflow"]) == ("fake", 7, None, None)
    assert config["benchmarks"][0]["params"] == {"acts": ["ok"], "repeats": 1, "duration_s": 0.01, "seed": 7}
    environment = document["environment"]
    assert environment["tool"]["version"]
    assert environment["cpu"]["model"]
    assert environment["ended"] >= environment["started"]
    assert not {"started", "seconds"} & set((tmp_path / "out" / "trials.jsonl").read_text())


def test_quick_repeat_and_set_reach_the_parameters(tmp_path: Path) -> None:
    what = Request(targets=["fake"], dut="fake", settings=["fake.duration_s=0.02"], quick=True, repeat=3)
    assert run(what, tmp_path / "out") == 0
    config = json.loads((tmp_path / "out" / "run.json").read_text())["config"]
    assert config["benchmarks"][0]["params"] == {"acts": ["ok"], "repeats": 3, "duration_s": 0.02, "seed": 1}
    assert len((tmp_path / "out" / "trials.jsonl").read_text().splitlines()) == 3


def test_a_resumed_run_takes_its_own_configuration(tmp_path: Path) -> None:
    run(request("ok", "reject", seed=3), tmp_path / "out")
    assert run(Request(targets=()), tmp_path / "out", resume=True) == 1
    assert run(request("ok", "reject", seed=3), tmp_path / "out", resume=True) == 1
    assert [e for e in fakes.events() if e.startswith("trial")] == ["trial 0 ok"] + 3 * ["trial 1 reject"]
    assert len(json.loads((tmp_path / "out" / "run.json").read_text())["environment"]["resumed"]) == 2


def test_an_impossible_run_leaves_no_directory(tmp_path: Path) -> None:
    assert run(request("ok", dut="unknown"), tmp_path / "out") == 2
    assert not (tmp_path / "out").exists()


def refusals(folder: Path) -> dict[str, tuple[Request, Path | None, bool]]:
    done, other = folder / "done", folder / "other"
    return {
        "nothing asked": (Request(targets=()), None, False),
        "unknown suite or benchmark": (request(targets=["faek"]), other, False),
        "unknown DUT": (request(dut="no-such"), other, False),
        "unknown parameter": (request(settings=["fake.duration=1"]), other, False),
        "value not allowed": (request(settings=["fake.duration_s=-1"]), other, False),
        "value of another type": (request(settings=["fake.acts=[1]"]), other, False),
        "repeats not allowed": (request(settings=["fake.repeats=0"]), other, False),
        "setting of a benchmark that is not run": (request(settings=["wide.seed=1"]), other, False),
        "setting without a benchmark": (request(settings=["duration_s=1"]), other, False),
        "setting that is not TOML": (request(settings=["fake.acts=[1"]), other, False),
        "the same twice": (request(targets=["fake", "fake"]), other, False),
        "existing run": (request("ok"), done, False),
        "existing file": (request("ok"), folder / "file", False),
        "resume without a directory": (Request(targets=()), None, True),
        "resume what is no run": (Request(targets=()), other, True),
        "resume with options": (Request(targets=(), dut="fake", quick=True), done, True),
        "resume another configuration": (request("ok", "ok"), done, True),
        "no such suite file": (request(targets=["lab/none.toml"]), other, False),
    }


def test_refusals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path(".")
    run(request("ok"), folder / "done")
    (folder / "file").write_text("x")
    before = fakes.events()
    text = ""
    for title, (what, path, resume) in refusals(folder).items():
        with pytest.raises(FlowgaugeError) as caught:
            running.run(what, path, resume=resume, seam=fakes.SEAM)
        assert isinstance(caught.value, UsageError), title
        text += f"# {title}: {caught.value.name}\n{caught.value.message}\n"
        text += f"  {caught.value.advice}\n\n" if caught.value.advice else "\n"
    check("refusals.txt", text)
    assert fakes.events() == before
    assert sorted(p.name for p in folder.iterdir()) == ["done", "fake", "file"]


def test_a_killed_run_leaves_no_worker_and_loses_nothing(tmp_path: Path, fake: Path) -> None:
    """The worker notices that its parent is gone, stops the DUT and ends; the run can be resumed."""
    code = (
        "import fakes; from pathlib import Path; from flowgauge import benchmarks; from flowgauge.cli import running; "
        "from flowgauge.runner.plan import Request; benchmarks.BUILTIN = fakes.BENCHMARKS; "
        "running.run(Request(['fake'], 'fake', settings=['fake.acts=[\"ok\", \"sleep\"]']), Path('out'), "
        "resume=False, seam=fakes.SEAM)"
    )
    path = os.pathsep.join(p for p in sys.path if p)
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}
    )
    wait_for("trial 1 sleep")
    process.kill()
    process.wait()
    wait_for("stop")
    document = json.loads((tmp_path / "out" / "run.json").read_text())
    assert document["status"] == "running"
    assert len((tmp_path / "out" / "trials.jsonl").read_text().splitlines()) == 1


def wait_for(event: str) -> None:
    deadline = time.monotonic() + 20
    while event not in fakes.events():
        assert time.monotonic() < deadline, fakes.events()
        time.sleep(0.05)


SUITES = {
    "no equals sign": 'title "x"\n',
    "open string": 'title = "x"\n\n[[benchmark]]\nname = "fake\n',
    "unknown key": 'titel = "x"\n[[benchmark]]\nname = "fake"\n',
    "quick is a text": 'title = "x"\nquick = "yes"\n[[benchmark]]\nname = "fake"\n',
    "no benchmark": 'title = "x"\n',
    "no name": 'title = "x"\n[[benchmark]]\nduration_s = 1\n',
    "unknown benchmark": 'title = "x"\n[[benchmark]]\nname = "fake"\n\n[[benchmark]]\nname = "fakee"\n',
    "unknown parameter": '[[benchmark]]\nname = "wide"\n[[benchmark]]\nname = "fake"\nrepeat = 1\n',
    "value not allowed": '[[benchmark]]\nname = "wide"\nrepeats = 1\n[[benchmark]]\nname = "fake"\nrepeats = 0\n',
    "value of another type": '[[benchmark]]\nname = "fake"\nacts = [\n  "ok",\n  7,\n]\n',
    "quick value not allowed": '[[benchmark]]\nname = "fake"\nrepeats = 2\n[benchmark.quick]\nrepeats = 0\n',
    "quick is no table": '[[benchmark]]\nname = "fake"\nquick = true\n',
    "listed twice": '[[benchmark]]\nname = "fake"\n[[benchmark]]\nname = "fake"\n',
}


def test_suites_with_mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = ""
    for title, content in SUITES.items():
        Path("lab.toml").write_text(content)
        with pytest.raises((ConfigError, UnknownNameError)) as caught:
            running.run(
                request(targets=["lab.toml"], settings=[], quick=True),
                Path("out"),
                resume=False,
                seam=fakes.SEAM,
            )
        text += f"# {title}: {caught.value.name}\n{caught.value.message}\n\n"
    check("suite_mistakes.txt", text)
