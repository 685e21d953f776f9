"""Device models: files, their errors, the command line, and models made from runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from flowgauge import models
from flowgauge.cli.app import build
from flowgauge.errors import ConfigError, RunDirectoryError, UnknownNameError
from flowgauge.models import fitting
from flowgauge.models.sweep import Job, sweep
from flowgauge.report.rundata import load_run
from flowgauge.truth.devices import Device
from flowgauge.truth.harness import LIMIT_PLAN, measure


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "device.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[link]\nloss = 0\nrate = 3\n",
            "device.toml, line 3: link: unknown field `rate`, expected one of `rate_mbps`",
        ),
        ("[wheels]\nround = 4\n", "device.toml, line 1: wheels: unknown field `wheels`"),
        ("[link]\nloss = 1.5\n", "device.toml, line 2: link.loss: 1.5 is not allowed, only 0 to 1"),
        ("link = 3\n", "device.toml, line 1: link is 3; allowed: a group of parameters [link]"),
        ("title = 3\n", "device.toml, line 1: title is 3; allowed: a text"),
        ('[sources]\n"link.loss" = "x"\n', "there is no parameter link.loss in this file"),
        ('[link]\nloss = 0\n[sources]\n"link.loss" = 3\n', "the source of link.loss is 3; allowed: a text"),
    ],
)
def test_errors_name_file_line_and_key(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        models.load(str(written(tmp_path, text)))
    assert said in caught.value.message


def test_an_unknown_model_names_those_that_are_there() -> None:
    with pytest.raises(UnknownNameError, match="there are: netfpga, ezappliance, ideal, openvswitch"):
        models.load("nettfpga")


def test_the_command_line_lists_and_shows_models() -> None:
    listed = CliRunner().invoke(build(), ["models", "list"]).output
    assert "netfpga" in listed
    shown = CliRunner().invoke(build(), ["models", "show", "netfpga"]).output
    assert "control.packet_in.buffers" in shown
    assert "Table 1-1" in shown
    whole = CliRunner().invoke(build(), ["models", "show", "ideal", "--all"]).output
    assert "queues.parallel" in whole


DEVICE = """
[link]
rate_mbps = 10_000
[forwarding]
latency = { kind = "lognormal", mean_ns = 50_000, std_ns = 5_000 }
latency_per_byte_ns = 20
[control]
echo = { mean_ns = 300_000 }
[control.packet_in]
latency = { mean_ns = 400_000 }
latency_per_byte_ns = 100
[control.packet_out]
latency = { mean_ns = 200_000 }
[table]
write = { mean_ns = 100_000 }
per_entry_ns = 500
"""


def test_a_simulated_device_is_found_again(tmp_path: Path) -> None:
    device = written(tmp_path, DEVICE)
    settings = ("--set", "flow_add.entries=[1,10,30,100]", "--set", "flow_add.repeats=3")
    arguments = ("--quick", *settings)
    job = Job(
        ("packet_in", "packet_out", "control_channel_delay", "data_path_delay", "flow_add"),
        f"sim:{device}",
        tmp_path / "run",
        arguments,
    )
    (ended,) = sweep([job])
    assert ended.exit_code == 0, ended.output
    fitted = tmp_path / "fitted.toml"
    fitting.write(fitting.fit(load_run(tmp_path / "run")), fitted)
    found, true = models.load(str(fitted)), models.load(str(device))
    for key, value in true.parameters().items():
        tolerance = {"forwarding.latency.std_ns": 0.15, "table.per_entry_ns": 0.3}.get(key, 0.05)
        if isinstance(value, str):
            assert found.parameters()[key] == value
        else:
            assert found.parameters()[key] == pytest.approx(value, rel=tolerance), key
    assert all(found.sources[key] for key in found.parameters())


def test_a_run_without_delays_makes_no_model() -> None:
    from flowgauge import published

    run = published.load("alien/openvswitch")
    empty = type(run)(run.label, run.path, run.document, {}, ())
    with pytest.raises(RunDirectoryError, match="holds no figures"):
        fitting.fit(empty)


def test_a_slow_table_ends_the_search_for_its_size() -> None:
    device = Device(1, 0, {"table": {"write": {"mean_ns": 10_000_000}}})
    records, figures = measure(device, "flow_add_max", {**LIMIT_PLAN, "timeout_s": 1.5})
    assert [r.point.integer("entries") for r in records] == [20, 100, 200]
    assert all(r.status == "ok" for r in records)
    (limit,) = (f for f in figures if f.name == "max_entries")
    assert (limit.value, limit.note) == (100, ">= 100: 200 take longer than 1.5 s, not the table's end")
