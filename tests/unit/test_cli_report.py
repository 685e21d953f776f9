"""`flowgauge report` and `flowgauge compare`: what they write where, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fake_run import small_run
from test_cli import flowgauge


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return small_run(tmp_path / "mine")


def test_report_writes_html_into_the_run(run: Path) -> None:
    done = flowgauge("report", str(run))
    assert (done.returncode, done.stdout.strip()) == (0, str(run / "report.html"))
    assert (run / "report.html").read_text().startswith("<!doctype html>")


def test_report_prints_other_formats_or_writes_a_file(run: Path, tmp_path: Path) -> None:
    done = flowgauge("report", str(run), "-f", "json")
    assert json.loads(done.stdout)["run"] == "mine"
    target = tmp_path / "out.csv"
    assert flowgauge("report", str(run), "-f", "csv", "-o", str(target)).stdout.strip() == str(target)
    assert target.read_text().startswith("benchmark,")


def test_report_of_published_results(tmp_path: Path) -> None:
    done = flowgauge("report", "published:alien/openvswitch", "-f", "md")
    assert done.stdout.startswith("# ALIEN: Open vSwitch")


def test_compare_in_the_terminal_and_as_a_file(run: Path, tmp_path: Path) -> None:
    shown = flowgauge("compare", str(run), "published:alien/netfpga")
    assert shown.returncode == 0
    assert "rate_mbps is a label" in " ".join(shown.stdout.split())
    done = flowgauge("compare", str(run), "published:alien", "-f", "html", cwd=tmp_path)
    assert done.stdout.strip() == "comparison.html"
    assert (tmp_path / "comparison.html").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("report", "nothing"), "there is no such directory"),
        (("report", "published:alien"), "names several devices"),
        (("report", "published:x"), "no published result 'x'"),
        (("report", "RUN", "-f", "pdf"), "'html', 'md', 'csv', 'json'"),
        (("report", "RUN", "-f", "csv", "-o", "/nonexistent/x"), "can't be written"),
        (("compare", "RUN"), "needs two runs"),
        (("compare", "RUN", "RUN", "-o", "x"), "-o needs a format"),
        (("compare", "RUN", "published:alien/x"), "published:alien/netfpga"),
    ],
)
def test_refusals(run: Path, arguments: tuple[str, ...], said: str) -> None:
    done = flowgauge(*(str(run) if a == "RUN" else a for a in arguments))
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
