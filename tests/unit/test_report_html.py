"""report.html: well-formed, complete in itself, and honest about what failed."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import fake_run
import pytest
import vl_convert

from flowgauge import published
from flowgauge.report import charts, write_report
from flowgauge.report.charts import theme
from flowgauge.report.html import render
from flowgauge.report.html.page import library
from flowgauge.report.rundata import load_run

VOID = {"meta", "br", "hr", "img", "input", "link", "wbr"}


class Reader(HTMLParser):
    """Checks nesting; collects addresses, ids and text outside scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        values = dict(attrs)
        self.addresses += [
            v for k, v in values.items() if k in ("src", "href", "action", "data", "poster") and v
        ]
        if values.get("id"):
            self.ids.append(str(values["id"]))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> without a start"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("script", "style"):
            self.text += data


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


def specs(html: str) -> list[dict[str, Any]]:
    found = re.search(r'<script type="application/json" id="charts">(.*?)</script>', html, re.S)
    data: list[dict[str, Any]] = json.loads(found.group(1)) if found else []
    return data


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fake_run.alien_run(tmp_path_factory.mktemp("runs") / "alien", repeats=6)


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return write_report(folder).read_text()


def test_it_is_written_beside_the_results(folder: Path, page: str) -> None:
    assert (folder / "report.html").read_text() == page
    assert 1_000_000 < len(page) < 3_000_000


def test_well_formed_and_complete_in_itself(page: str) -> None:
    reader = read(page)
    assert reader.addresses
    assert all(a.startswith("#") for a in reader.addresses), "nothing may be loaded from elsewhere"
    assert len(reader.ids) == len(set(reader.ids))
    assert {a[1:] for a in reader.addresses} <= set(reader.ids), "every link has its target"
    assert "default-src 'none'" in page
    own = page.replace(library(), "")
    assert not re.search(r"https?://", own), "no address anywhere but in the library's own text"


def test_every_chart_can_be_drawn(page: str) -> None:
    found = specs(page)
    assert len(found) >= 12
    for spec in found:
        assert vl_convert.vegalite_to_svg(theme.resolve(spec)).startswith("<svg")
    colors = set(re.findall(r"var\((--[\w-]+)\)", json.dumps(found)))
    assert colors <= set(theme.LIGHT) == set(theme.DARK)


def test_alien_tests_have_one_panel_per_rate(page: str) -> None:
    first = specs(page)[0]
    assert [p["vconcat"][0]["title"] for p in first["concat"]] == [
        f"rate {r:,} Mbit/s" for r in fake_run.RATES
    ]


def test_failing_checks_stand_beside_figures_with_meaning_and_advice(page: str) -> None:
    text = read(page).text
    assert "Reasons for caution" in text
    assert "the mean delay grows" in text
    assert "Read the forwarding rate; the mean delay depends on the trial's length." in text
    assert "Checks that did not fail, explained" in text
    assert "steal time can't be read in this container" in text
    assert re.search(r'<sup><a href="#packet_in-1">1</a></sup>', page)


def test_failures_and_skips_are_told(page: str) -> None:
    text = read(page).text
    assert "the switch reset the connection after 3333 messages" in text
    assert "the switch has no meters" in text
    assert "flowgauge run alien --quick --dut ovs --seed 1" in text


def test_text_of_others_is_escaped(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    path = fake_run.small_run(
        tmp_path / "r", dut={"name": evil}, skipped=[{"benchmark": evil, "reason": evil}]
    )
    text = (
        (path / "run.json")
        .read_text()
        .replace("use a faster backend", evil)
        .replace('"loss_ratio"', json.dumps(evil))
    )
    (path / "run.json").write_text(text)
    page = render(load_run(path))
    assert evil not in page
    read(page)


def test_wrong_declarations_are_told_and_break_nothing(tmp_path: Path) -> None:
    path = fake_run.small_run(tmp_path / "r")
    document = json.loads((path / "run.json").read_text())
    document["config"]["benchmarks"][0]["charts"] = [
        {"kind": "pie"},
        {"kind": "cdf", "colour": "x"},
        {"kind": "cdf"},
    ]
    (path / "run.json").write_text(json.dumps(document))
    run = load_run(path)
    drawn, wrong = charts.build(run, "packet_in")
    assert len(drawn) == 1
    assert len(wrong) == 2
    assert "colour" in wrong[1]
    assert "A chart could not be drawn" in render(run)


@pytest.mark.parametrize("name", published.names())
def test_published_results_can_be_read_as_reports(name: str) -> None:
    page = render(published.load(name))
    read(page)
    for spec in specs(page):
        assert vl_convert.vegalite_to_svg(theme.resolve(spec)).startswith("<svg")
