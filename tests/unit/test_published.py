"""The shipped ALIEN tables: printed values unchanged, every defect beside its value."""

from __future__ import annotations

from decimal import Decimal

import pytest

from flowgauge import published
from flowgauge.errors import UnknownNameError
from flowgauge.model import Figure
from flowgauge.published.convert import number, parse_notes
from flowgauge.report.rundata import Run

ROWS = {
    "alien/netfpga": {"packet_in": 48, "packet_out": 21, "data_path_delay": 12, "flow_add": 11, "flow_add_max": 16},
    "alien/ezappliance": {
        "packet_in": 48, "packet_out": 57, "data_path_delay": 13, "flow_add": 11, "flow_add_max": 16,
        "control_channel_delay": 1,
    },
    "alien/openvswitch": {"control_channel_delay": 1},
}  # fmt: skip


def at(run: Run, benchmark: str, name: str, **point: int) -> Figure:
    return next(f for f in run.figures[benchmark] if f.name == name and dict(f.at) == point)


@pytest.mark.parametrize("name", published.names())
def test_every_printed_row_is_a_trial(name: str) -> None:
    run = published.load(name)
    rows = {b: sum(t.status == "ok" for t in run.trials_of(b)) for b in run.benchmarks()}
    assert {b: n for b, n in rows.items() if n} == ROWS[name]
    assert run.published is not None
    assert len({t.id for t in run.trials}) == len(run.trials)


def test_printed_values() -> None:
    run = published.load("alien/netfpga")
    point = {"rate_mbps": 1000, "frame_size": 100}
    assert at(run, "packet_in", "delay_mean_us", **point).value == 1681487
    assert at(run, "packet_in", "throughput_ratio", **point).value == 0.0003
    assert at(run, "packet_in", "loss_ratio", **point).value == 0.9997
    assert at(run, "packet_in", "received", **point).value == 418
    slow = published.load("alien/ezappliance")
    assert at(slow, "flow_add_max", "activation_us", entries=1000).value == 630_000_000
    assert at(slow, "flow_add", "per_entry_us", entries=1).value == 14_900


@pytest.mark.parametrize("name", published.names())
def test_loss_is_one_minus_the_printed_ratio_exactly(name: str) -> None:
    for trial in published.load(name).trials:
        ratio, loss = trial.metrics.get("throughput_ratio"), trial.metrics.get("loss_ratio")
        assert (ratio is None) == (loss is None)
        if ratio is not None:
            assert Decimal(str(ratio)) + Decimal(str(loss)) == 1


@pytest.mark.parametrize("name", published.names())
def test_every_note_has_its_meaning(name: str) -> None:
    run = published.load(name)
    assert run.published is not None
    meanings = run.published["notes"]
    checks = [c for t in run.trials for c in t.checks] + [
        c for fs in run.figures.values() for f in fs for c in f.checks
    ]
    assert checks
    for check in checks:
        assert check.text.startswith(meanings[check.name])


def test_notes_touch_what_they_speak_of() -> None:
    run = published.load("alien/netfpga")
    point = {"rate_mbps": 10, "frame_size": 1500}
    assert [c.name for c in at(run, "packet_out", "loss_ratio", **point).checks] == [
        "load_label_1000x",
        "ratio_artefact",
    ]
    assert [c.name for c in at(run, "packet_out", "delay_mean_us", **point).checks] == ["load_label_1000x"]
    assert at(run, "flow_add", "activation_us", entries=20).checks[0].name == "probe_quantised"
    trial = next(t for t in run.trials_of("packet_out") if dict(t.point) == point)
    assert [c.name for c in trial.checks] == ["load_label_1000x", "ratio_artefact"]


def test_every_load_label_row_says_so() -> None:
    for name in ("alien/netfpga", "alien/ezappliance"):
        for trial in published.load(name).trials:
            if trial.status == "ok" and "rate_mbps" in trial.point:
                assert {"load_label_1000x", "unpaced"} & {c.name for c in trial.checks}


def test_values_of_running_text_and_resets() -> None:
    run = published.load("alien/netfpga")
    stated = at(run, "control_channel_delay", "delay_stated_us")
    assert stated.value == 1280
    assert stated.checks[0].name == "table_missing"
    resets = [t for t in run.trials_of("packet_out") if t.status == "failed"]
    assert [t.point["rate_mbps"] for t in resets] == [100, 250, 500, 1000]
    span = at(published.load("alien/ezappliance"), "flow_add", "per_entry_stated_us")
    assert (span.value, span.low, span.high) == (None, 40_000, 50_000)


def test_what_was_not_published_is_said() -> None:
    skipped = published.load("alien/openvswitch").document["skipped"]
    assert {s["benchmark"] for s in skipped} == {
        "packet_in",
        "packet_out",
        "data_path_delay",
        "flow_add",
        "flow_add_max",
    }


def test_names() -> None:
    assert published.devices("published:alien") == ["alien/ezappliance", "alien/netfpga", "alien/openvswitch"]
    for wrong in ("alien/nothing", "alie", "published:alien/net", "../alien"):
        with pytest.raises(UnknownNameError):
            published.devices(wrong)
    with pytest.raises(UnknownNameError, match="several"):
        published.load("alien")


def test_conversion_of_cells() -> None:
    assert number("0.05", Decimal(1_000_000)) == 50_000
    assert number("") is None
    assert parse_notes("a: x; y; b", {"a": "", "b": ""}) == [("a", "x; y"), ("b", "")]
    with pytest.raises(ValueError, match="unknown"):
        parse_notes("c: x", {"a": ""})
