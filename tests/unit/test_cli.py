"""The command line as a program: help, exit codes, speed."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flowgauge.cli import main
from flowgauge.cli.app import COMMANDS
from golden import check

ROOT = Path(__file__).parents[2]


def flowgauge(*arguments: str, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "COLUMNS": "100", **env}
    return subprocess.run(
        [sys.executable, "-m", "flowgauge", *arguments],
        capture_output=True,
        text=True,
        env=environment,
        cwd=cwd,
        timeout=60,
        check=False,
    )


def test_help_takes_less_than_300_ms() -> None:
    def once() -> float:
        begin = time.perf_counter()
        assert flowgauge("--help").returncode == 0
        return time.perf_counter() - begin

    assert min(once() for _ in range(5)) < 0.3


def test_help_imports_nothing_heavy() -> None:
    code = "import sys; from flowgauge.cli.app import build; build([]); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT / "python", check=True
    )
    heavy = {
        "numpy",
        "pydantic",
        "rich",
        "pyarrow",
        "altair",
        "scipy",
        "flowgauge._core",
        "asyncio",
        "multiprocessing",
    }
    assert not heavy & set(done.stdout.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_the_program_says_what_the_command_says(name: str) -> None:
    if importlib.util.find_spec(f"flowgauge.cli.{name}") is None:
        pytest.skip("not there yet")
    module = importlib.import_module(f"flowgauge.cli.{name}")
    if hasattr(module, "command"):
        assert (module.command.__doc__ or "").strip().splitlines()[0] == COMMANDS[name]


@pytest.mark.parametrize("command", [(), ("run",), ("list",), ("show",), ("generate",), ("capture",)])
def test_help(command: tuple[str, ...]) -> None:
    text = flowgauge(*command, "--help").stdout
    # Typer's versions differ in how they show types and where they wrap.
    words = re.sub(r"\s*<list\[str\]>|\s*\[(\d+<=)?x[<>]=\d+\]", "", text)
    check(
        f"help{'_'.join(('', *command))}.txt",
        "\n".join(" ".join(line.split()) for line in words.splitlines()) + "\n",
    )


def test_errors_are_one_message_with_advice_and_an_exit_code() -> None:
    done = flowgauge("run", "quik")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines()[0].startswith(
        'flowgauge: no suite or benchmark is called "quik"; there are: quick, '
    )
    assert done.stderr.splitlines()[1] == '  Did you mean "quick"?'
    assert len(done.stderr.splitlines()) == 2


def test_debug_shows_the_traceback() -> None:
    assert "Traceback" in flowgauge("run", "quik", FLOWGAUGE_DEBUG="1").stderr


@pytest.mark.parametrize(
    "arguments", [("run", "--zork"), ("run", "quick", "--repeat", "0"), ("run", "quick", "--openflow", "2")]
)
def test_wrong_options_are_usage_errors(arguments: tuple[str, ...]) -> None:
    done = flowgauge(*arguments)
    assert done.returncode == 2
    assert "Error" in done.stderr


def test_show_of_what_is_no_run(tmp_path: Path) -> None:
    done = flowgauge("show", str(tmp_path))
    assert done.returncode == 2
    assert "is no run directory: it has no run.json" in done.stderr


@pytest.mark.parametrize("what", ["suites", "benchmarks", "duts", "models", "published", "features"])
def test_lists(what: str) -> None:
    done = flowgauge("list", what)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()


def test_the_list_of_duts_names_every_kind() -> None:
    check("list_duts.txt", flowgauge("list", "duts").stdout)


def test_list_shows_a_benchmarks_parameters() -> None:
    done = flowgauge("list", "benchmarks", "packet_in")
    assert "rates_mbps" in done.stdout
    assert flowgauge("list", "benchmarks", "paket_in").returncode == 2
    assert flowgauge("list", "duts", "ovs").returncode == 2


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.setenv("HOME", "")
    monkeypatch.setattr(sys, "argv", ["flowgauge", "--version"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert os.environ["HOME"] == "/nonexistent"
