"""What reports look like, as kept texts: terminal (wide and narrow), Markdown, CSV, JSON."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from fake_run import small_run
from rich.console import Console

import golden
from flowgauge.errors import UnknownNameError
from flowgauge.report import exporters
from flowgauge.report.rundata import Run, load_run
from flowgauge.report.terminal import print_run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return load_run(small_run(tmp_path / "small"))


@pytest.mark.parametrize("form", ["md", "csv", "json"])
def test_formats(run: Run, form: str) -> None:
    golden.check(f"report.{form}", exporters.render(run, form))


@pytest.mark.parametrize("width", [110, 46])
def test_terminal(run: Run, width: int) -> None:
    out = io.StringIO()
    print_run(run, Console(file=out, width=width, force_terminal=False))
    assert all(len(line) <= width for line in out.getvalue().splitlines())
    golden.check(f"report_terminal_{width}.txt", out.getvalue())


def test_missing_is_empty_or_null_and_zero_stays_zero(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(exporters.render(run, "csv"))))
    dead = {r["figure"]: r["value"] for r in rows if r["benchmark"] == "packet_out"}
    assert dead == {"delay_median_us": "", "received": "0"}
    document = json.loads(exporters.render(run, "json"))
    figures = next(b for b in document["benchmarks"] if b["name"] == "packet_out")["points"][0]["figures"]
    assert figures["delay_median_us"]["value"] is None
    assert figures["received"]["value"] == 0


def test_unknown_format_lists_those_that_exist(run: Run) -> None:
    with pytest.raises(UnknownNameError) as error:
        exporters.render(run, "pdf")
    assert error.value.advice == "there are: html, md, csv, json"
