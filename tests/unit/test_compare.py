"""Comparisons: what joins, what may be concluded, what must be known."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import fake_run
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from scipy.stats import ttest_ind

import golden
from flowgauge import compare
from flowgauge.compare import join, sources
from flowgauge.compare.context import caveats, differences
from flowgauge.compare.significance import Verdict
from flowgauge.compare.significance import compare as judge
from flowgauge.compare.terminal import print_comparison
from flowgauge.compare.welch import welch
from flowgauge.errors import UnknownNameError, UsageError
from flowgauge.model import Figure
from flowgauge.results.reader import RunDirectoryError

SPREAD = st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=6, max_size=30)


@given(SPREAD, SPREAD)
def test_welch_agrees_with_scipy(a: list[float], b: list[float]) -> None:
    if min(np.std(a), np.std(b)) < 1e-6 * (1 + max(np.abs(a + b))):
        return
    assert welch(a, b).p == pytest.approx(ttest_ind(a, b, equal_var=False).pvalue, rel=1e-6, abs=1e-12)


def test_welch_without_spread_or_values() -> None:
    assert welch([1, 1], [1, 1]).p == 1
    assert welch([1, 1], [2, 2]).p == 0
    with pytest.raises(ValueError, match="two values"):
        welch([1], [1, 2])


def figure(
    value: float | None, low: float | None = None, high: float | None = None, interval: str = "none"
) -> Figure:
    return Figure("delay_mean_us", value, "us", low=low, high=high, interval=interval)


def test_verdicts() -> None:
    six, more = [1.0, 1.1, 0.9, 1.0, 1.05, 0.95], [5.0, 5.1, 4.9, 5.0, 5.05, 4.95]
    assert judge(figure(1), figure(5), six, more).verdict is Verdict.DIFFER
    assert judge(figure(1), figure(1), six, six).verdict is Verdict.NOT_SHOWN
    few = judge(figure(1), figure(5), six[:5], more)
    assert (few.verdict, few.reason) == (Verdict.NONE, "fewer than 6 trials (5 and 6)")
    assert few.difference == 4
    a, b, c = figure(1, 0, 2, "t"), figure(5, 4, 6, "order"), figure(1.5, 1, 3, "t")
    assert judge(a, b, [], []).verdict is Verdict.APART
    assert judge(b, a, [], []).verdict is Verdict.APART
    assert judge(a, c, [], []).verdict is Verdict.OVERLAP
    assert judge(figure(1, 0, 2, "range"), b, [], []).verdict is Verdict.NONE
    assert judge(figure(1), figure(5), six, more, published=True).reason == "no repeats are published"


def test_missing_and_zero_baselines() -> None:
    assert judge(None, figure(1), [], []).difference is None
    assert judge(figure(None), figure(1), [], []).ratio is None
    found = judge(figure(0), figure(3), [], [])
    assert (found.difference, found.ratio) == (3, None)
    assert judge(Figure("x", 1, "us"), Figure("x", 1, "ms"), [], []).reason == "units differ: us and ms"


@pytest.fixture
def pair(tmp_path: Path) -> compare.Comparison:
    a = fake_run.small_run(tmp_path / "a")
    b = fake_run.small_run(tmp_path / "b", speed=2.0, dut={"driver": "embedded", "version": "0.1.0"})
    return compare.build(sources.resolve([str(a), str(b)]))


@pytest.mark.parametrize("form", ["md", "csv", "json"])
def test_formats(pair: compare.Comparison, form: str) -> None:
    golden.check(f"compare.{form}", compare.render(pair, form))


def test_terminal(pair: compare.Comparison) -> None:
    out = io.StringIO()
    print_comparison(pair, Console(file=out, width=120))
    golden.check("compare_terminal.txt", out.getvalue())


def test_differing_configuration_is_named(pair: compare.Comparison) -> None:
    keys = {d.key: d.values for d in pair.differences}
    assert keys["device"] == ("Open vSwitch 3.1.0", "the embedded software switch")
    assert keys["dut driver"] == ("ovs", "embedded")
    assert not any("started" in k for k in keys)


def test_openflow_is_what_the_switch_took_where_nobody_asked(tmp_path: Path) -> None:
    config = {"benchmarks": [], "dut": "ovs"}
    runs = [
        fake_run.small_run(
            tmp_path / taken, config=config, dut={"driver": "ovs", "switch": {"openflow": taken}}
        )
        for taken in ("1.0", "1.3")
    ]
    found = {d.key: d.values for d in differences(sources.resolve([str(run) for run in runs]))}
    assert found["OpenFlow"] == ("1.0", "1.3")


def test_with_published_results(tmp_path: Path) -> None:
    path = fake_run.small_run(tmp_path / "mine")
    runs = sources.resolve([str(path), "published:alien/netfpga"])
    assert caveats(runs)[0].startswith("published:alien/netfpga: rate_mbps is a label")
    assert ("OpenFlow", ("1.3", "1.0")) in [(d.key, d.values) for d in differences(runs)]
    rows = list(csv.DictReader(io.StringIO(compare.render(compare.build(runs), "csv"))))
    mine = [r for r in rows if r["benchmark"] == "packet_in" and r["figure"] == "delay_median_us"]
    assert [(r["rate_mbps"], r["frame_size"], r["other_value"]) for r in mine] == [
        ("10", "100", "566"),
        ("10", "1500", "686"),
    ]
    assert mine[0]["other_failing_checks"] == "load_label_1000x"
    assert {r["verdict"] for r in mine} == {"not comparable"}
    notes = join.group(runs, "packet_in").notes
    assert any("1/1000 of the label" in n.check.text for n in notes)


def test_points_join_on_what_all_have(tmp_path: Path) -> None:
    run = fake_run.FakeRun(tmp_path / "r")
    run.figure("control_channel_delay", "delay_mean_us", 50.0, "us", {"echo_rate": 3})
    path = run.write()
    found = join.groups(sources.resolve([str(path), "published:alien/openvswitch"]))
    line = found[0].tables[0].lines[0]
    assert [f.value if f else None for f in line.figures] == [50, 354]


def test_points_that_cannot_join_are_told(tmp_path: Path) -> None:
    run = fake_run.FakeRun(tmp_path / "r")
    for rate in (3, 30):
        run.figure("control_channel_delay", "delay_mean_us", 50.0 * rate, "us", {"echo_rate": rate})
    found = join.groups(sources.resolve([str(run.write()), "published:alien/openvswitch"]))
    assert "varies echo_rate as well" in found[0].tables[0].remarks[0]
    assert found[0].tables[0].lines == []


def test_json_keeps_missing_as_null(pair: compare.Comparison) -> None:
    document = json.loads(compare.render(pair, "json"))
    out = next(b for b in document["benchmarks"] if b["name"] == "packet_out")
    point = out["figures"][0]["points"][0]
    assert point["figures"][0]["value"] is None
    assert point["against_first"][0]["difference"] is None


def test_html_is_complete_in_itself(pair: compare.Comparison, tmp_path: Path) -> None:
    from test_report_html import read, specs

    page = compare.render(pair, "html")
    assert all(a.startswith("#") for a in read(page).addresses)
    assert specs(page)


def test_nothing_in_common(tmp_path: Path) -> None:
    run = fake_run.FakeRun(tmp_path / "r")
    run.figure("other", "x", 1.0, "", {})
    comparison = compare.build(sources.resolve([str(run.write()), "published:alien/netfpga"]))
    for form in compare.FORMATS:
        compare.render(comparison, form)
    assert "nothing to compare" in compare.render(comparison, "md")


def test_sources_that_are_wrong(tmp_path: Path) -> None:
    path = str(fake_run.small_run(tmp_path / "r"))
    with pytest.raises(UsageError, match="two runs"):
        sources.resolve([path])
    with pytest.raises(UnknownNameError):
        sources.resolve([path, "published:nothing"])
    with pytest.raises(RunDirectoryError):
        sources.resolve([path, str(tmp_path / "none")])
    with pytest.raises(UnknownNameError):
        compare.render(compare.build(sources.resolve([path, path])), "pdf")


def test_labels_of_equal_ids_are_paths(tmp_path: Path) -> None:
    paths = [str(fake_run.small_run(tmp_path / d / "same")) for d in ("x", "y")]
    assert [r.label for r in sources.resolve(paths)] == paths
