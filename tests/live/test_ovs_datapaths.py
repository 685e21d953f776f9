"""Open vSwitch by its other datapaths, and the Linux bridge: measured on as a user does, skipped with the reason where the host lacks
something, and nothing is left behind.

DPDK starts once per process, so whatever needs it runs in a process of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from live_helpers import flowgauge, trials

from flowgauge import _core
from flowgauge.duts import hugepages
from flowgauge.duts.interface import TO_NOBODY
from flowgauge.duts.linux_bridge import LinuxBridge
from flowgauge.duts.openvswitch import OpenVSwitch
from flowgauge.errors import ConfigError, FlowgaugeError, MissingToolError
from flowgauge.testbed.loopback import joined_ports

pytestmark = pytest.mark.live

BENCHMARK = "data_path_delay"
SHORT = [
    *("--quick", "--repeat", "1"),
    *("--set", f"{BENCHMARK}.duration_s=0.2", "--set", f"{BENCHMARK}.rates_mbps=[1]"),
]


def need(*looks: Callable[[], object]) -> None:
    """Skip with the reason unless this host has it all."""
    for look in looks:
        try:
            look()
        except FlowgaugeError as error:
            pytest.skip(f"{error.message}; {error.advice}")


def measured(dut: str, run: Path, *more: str) -> dict[str, Any]:
    """The document of a run on a DUT in which every trial was good."""
    code, out, err = flowgauge("run", BENCHMARK, *SHORT, "--dut", dut, "-o", run, *more)
    assert code == 0, out + err
    assert {status for status, _ in trials(run)} == {"ok"}
    document: dict[str, Any] = json.loads((run / "run.json").read_text())
    return document


@pytest.mark.parametrize("options", ["", ",hugepages=no,packed=no,queues=2"])
def test_dpdk(tmp_path: Path, options: str) -> None:
    need(OpenVSwitch("dpdk").check_host, _core.dpdk_version)
    before = hugepages.pool()
    document = measured(f"ovs:dpdk{options}", tmp_path / "run")
    dut = document["dut"]
    assert dut["datapath_type"] == "netdev"
    assert {port["wire"] for port in dut["ports"]} == {"vhost-user"}
    assert (dut["hugepages_mib"] > 0) == (not options)
    assert dut["queues"] == (2 if options else 1)
    assert all(
        ("(2 queues)" in port["name"]) == bool(options) for port in document["environment"]["tester_ports"]
    )
    assert dut["pmd_core"] == document["environment"]["core_plan"]["dut_pmd"]
    assert document["loopback"]["backend"] == "dpdk"
    assert hugepages.pool() == before, "hugepages were given back"


@pytest.mark.parametrize("options", ["", ",pmd=no,backend=af_xdp"])
def test_afxdp(tmp_path: Path, options: str) -> None:
    need(OpenVSwitch("afxdp").check_host)
    dut = measured(f"ovs:afxdp{options}", tmp_path / "run")["dut"]
    assert dut["xdp_mode"] in ("native", "native-with-zerocopy", "generic")
    assert (dut["pmd_core"] is None) == ("pmd=no" in options)


def test_kernel(tmp_path: Path) -> None:
    need(OpenVSwitch("kernel").check_host)
    assert measured("ovs:kernel", tmp_path / "run")["dut"]["datapath_type"] == "system"


def test_what_is_missing_is_said_before_anything_is_started() -> None:
    lack = ""
    try:
        OpenVSwitch("kernel").check_host()
    except MissingToolError as error:
        lack = error.message
    if not lack:
        pytest.skip("this kernel has the module openvswitch")
    code, _, err = flowgauge("run", BENCHMARK, "--dut", "ovs:kernel")
    assert code == 3
    assert lack in err


def test_the_bridge_is_measured_and_what_needs_openflow_is_skipped(tmp_path: Path) -> None:
    run = tmp_path / "run"
    document = measured("linux-bridge", run, "flow_add", "control_channel_delay")
    assert document["dut"]["controller"] == {"name": "none"}
    skipped = {s["benchmark"]: s["reason"] for s in document["skipped"]}
    assert skipped == {
        "flow_add": "it needs flow entries, and the DUT has no OpenFlow",
        "control_channel_delay": "it needs timed ECHO_REQUESTs, and the DUT has no OpenFlow",
    }
    (trial,) = {line["metrics"]["loss_ratio"] for line in map(json.loads, (run / "trials.jsonl").open())}
    assert trial == 0


def test_the_bridge_refuses_openflow_and_controllers() -> None:
    for arguments in (("1.3",), ("none", TO_NOBODY)):
        with pytest.raises(ConfigError, match="no OpenFlow"):
            LinuxBridge().start(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("backend", ["ring", "af_packet", "af_xdp"])
def test_joined_ports_are_each_others_cable_end(backend: str) -> None:
    with joined_ports(backend) as ports:
        rates, delay_ns, spread_ns = _core.measure_loopback(ports, (64,), core=None, trial_ns=10_000_000)
    assert [size for size, _ in rates] == [64]
    assert delay_ns > 0
    assert spread_ns >= 0
