"""The same small set through each controller, on Open vSwitch and on the embedded switch; and a benchmark through each."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import osken
import pytest

from flowgauge.controllers import rest
from flowgauge.duts.openvswitch import OpenVSwitch
from flowgauge.errors import (
    DutDiedError,
    FlowgaugeError,
    RejectedError,
    UnknownSwitchError,
)
from flowgauge.flows import FlowSet, Increment, Schedule
from flowgauge.testbed import loopback
from flowgauge.testbed.interface import Control, Entry, OpenOptions, Stream
from flowgauge.testbed.live import LiveTestbed, open_testbed

pytestmark = pytest.mark.live

FLOWS = FlowSet(
    {"eth_type": 0x0800, "ip_proto": 17, "ipv4_dst": Increment("198.19.0.1"), "udp_dst": 7}, count=20
)
PROGRAM = [sys.executable, "-c", "from flowgauge.cli import main; main()"]
SETTLE_S = 0.3
ATTEMPTS = 10


@pytest.fixture(scope="module")
def rest_controller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if reason := osken.missing():
        pytest.skip(reason)
    with osken.controller(tmp_path_factory.mktemp("osken") / "log") as name:
        yield name


@pytest.fixture(scope="module", params=["builtin", "ovs-ofctl", "rest"])
def controller(request: pytest.FixtureRequest) -> str:
    return request.getfixturevalue("rest_controller") if request.param == "rest" else request.param


@pytest.fixture(scope="module", params=["ovs 1.3", "embedded 1.3", "ovs 1.0", "embedded 1.0"])
def opened(request: pytest.FixtureRequest, controller: str) -> Iterator[LiveTestbed]:
    dut, version = request.param.split()
    measured, loopback.cached = loopback.cached, lambda backend: None
    try:
        with open_testbed(f"{dut}:ports=3", OpenOptions(version, controller=controller)) as (_, testbed):
            yield testbed
    finally:
        loopback.cached = measured


@pytest.fixture
def testbed(opened: LiveTestbed) -> LiveTestbed:
    opened.control.delete_all()
    opened.control.delete_groups()
    opened.control.delete_meters()
    return opened


@pytest.fixture
def control(testbed: LiveTestbed) -> Control:
    return testbed.control


def skip_1_0(control: Control) -> None:
    if control.version == "1.0":
        pytest.skip("OpenFlow 1.0 has none")


def must_forward(testbed: LiveTestbed, sink: int, *, nothing: bool = False) -> None:
    """All probes of the last flow (or none) come out at a port, if not at once (Open vSwitch's caches, a busy host) then soon."""
    for _ in range(ATTEMPTS):
        received, sent = forwarded(testbed, sink)
        if sent > 0 and received == (0 if nothing else sent):
            return
    pytest.fail(f"{received} of {sent} probes came out")


def forwarded(testbed: LiveTestbed, sink: int) -> tuple[int, int]:
    """How many of how many probes of the last flow come out at a port."""
    testbed.clock.sleep(SETTLE_S)
    transmission = testbed.transmit(
        Stream(FLOWS.last(), 100, Schedule.cbr(300), source=0, sink=sink, duration_s=0.3), drain_s=0.3
    )
    transmission.wait()
    found = transmission.reception(0)
    return found.received, found.sent


def test_entries_are_installed_counted_and_removed(testbed: LiveTestbed) -> None:
    control = testbed.control
    control.install_table_miss("drop")
    control.install(Entry(FLOWS, "output:2", in_port=1))
    assert control.count_entries() == 21
    must_forward(testbed, 1)
    result = control.modify(Entry(FLOWS, "output:3", in_port=1)).wait(30)
    assert (result.requested, result.sent, list(result.errors)) == (20, 20, [])
    assert result.barrier_ns is not None
    assert result.first_byte_ns is not None
    assert result.barrier_ns > result.first_byte_ns
    must_forward(testbed, 2)
    control.delete(Entry(FLOWS.last(), in_port=1)).wait(30)
    must_forward(testbed, 2, nothing=True)
    assert control.count_entries() == 20
    control.delete_all()
    assert control.count_entries() == 0


def test_entries_as_texts(control: Control) -> None:
    control.add_flows("priority=9,udp,nw_dst=198.19.0.1,tp_dst=7 actions=output:2", "ip actions=drop")
    control.add_flows("ip actions=output:3")  # replaces one
    assert control.count_entries() == 2
    udp, ip = sorted(control.dump_flows(), key=lambda line: "priority=9," not in line)
    assert "n_packets=0" in udp
    assert "198.19.0.1" in udp
    assert udp.endswith("actions=output:2")
    assert ip.endswith("actions=output:3")
    control.modify_flows("udp actions=output:1")
    assert any(line.endswith("actions=output:1") for line in control.dump_flows())
    control.delete_flows("priority=8,udp,nw_dst=198.19.0.1,tp_dst=7", strict=True)
    assert control.count_entries() == 2
    control.delete_flows("udp")
    assert control.count_entries() == 1


def test_a_group_forwards(testbed: LiveTestbed) -> None:
    control = testbed.control
    skip_1_0(control)
    control.add_group("group_id=7,type=indirect,bucket=actions=output:2")
    control.install_table_miss("drop")
    control.install(Entry(FLOWS, "group:7", in_port=1))
    must_forward(testbed, 1)
    control.modify_group("group_id=7,type=all,bucket=actions=output:3")
    must_forward(testbed, 2)
    control.delete_groups("group_id=7")
    assert control.count_entries() == 1, "entries that lead to a deleted group go with it"


def test_a_meter_is_added_and_deleted(control: Control) -> None:
    skip_1_0(control)
    control.add_meter("meter=1,pktps,bands=type=drop,rate=100")
    control.modify_meter("meter=1,pktps,bands=type=drop,rate=200")
    control.add_flows("ip actions=meter:1,output:2")
    control.delete_meters()
    assert control.count_entries() == 0, "entries with a deleted meter go with it"


def test_what_the_switch_refuses(control: Control) -> None:
    with pytest.raises(RejectedError) as caught:
        control.add_flows("priority=5,in_port=1 actions=output:2", "priority=5,check_overlap,ip actions=drop")
    assert caught.value.message
    assert control.count_entries() == 1
    skip_1_0(control)
    with pytest.raises(RejectedError):
        control.add_flows("ip actions=group:99")


def test_the_switch_describes_itself(testbed: LiveTestbed, controller: str) -> None:
    about = testbed.control.describe()
    assert {1, 2, 3} <= {p["of_port"] for p in about["ports"]}
    assert about["openflow"] == testbed.control.version
    assert testbed.controller["name"] == controller.partition(":")[0]


@pytest.mark.parametrize("dut", ["ovs", "embedded"])
def test_a_benchmark_runs_through_each(tmp_path: Path, controller: str, dut: str) -> None:
    run = tmp_path / "run"
    targets = ["flow_add", "control_channel_delay"]
    quick = ["--quick", "--repeat", "2", "--set", "flow_add.warm_up_s=0.2", "--set", "flow_add.entries=[5]"]
    done = subprocess.run(
        [*PROGRAM, "run", *targets, *quick, "--dut", dut, "--controller", controller, "-o", str(run)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr + (run / "log.txt").read_text()
    document = json.loads((run / "run.json").read_text())
    assert document["config"]["controller"] == controller
    assert document["dut"]["controller"]["name"] == controller.partition(":")[0]
    skipped = [s["benchmark"] for s in document["skipped"]]
    assert skipped == ([] if controller == "builtin" else ["control_channel_delay"])
    figures = {f["name"]: f["value"] for f in document["figures"] if f["benchmark"] == "flow_add"}
    assert figures["activation_us"] > 0
    assert figures["barrier_us"] > 0
    trials = [json.loads(line) for line in (run / "trials.jsonl").read_text().splitlines()]
    held = [t["metrics"]["held"] for t in trials if t["benchmark"] == "flow_add"]
    assert held == [5, 5]


def test_a_switch_that_dies_is_the_reason(rest_controller: str) -> None:
    for name in ("ovs-ofctl", rest_controller):
        with open_testbed("ovs:ports=2", OpenOptions("1.3", controller=name)) as (driver, testbed):
            assert isinstance(driver, OpenVSwitch)
            os.kill(driver.pids["ovs-vswitchd"], signal.SIGKILL)
            driver._daemons._running["ovs-vswitchd"].wait(5)
            with pytest.raises(DutDiedError):
                testbed.control.count_entries()


def test_a_controller_that_the_switch_does_not_reach(
    rest_controller: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rest, "CONNECT_S", 0.5)
    url = rest_controller.partition(",")[0]
    elsewhere = f"{url},openflow=127.0.0.1:{osken.free_port()}"
    for dut in ("embedded", "ovs:ports=2"):
        with (
            pytest.raises(UnknownSwitchError, match="not connected"),
            open_testbed(dut, OpenOptions("1.3", controller=elsewhere)),
        ):
            pass


def test_a_controller_that_is_not_there() -> None:
    done = subprocess.run(
        [
            *PROGRAM,
            "run",
            "flow_add",
            "--quick",
            "--controller",
            f"rest:http://127.0.0.1:{osken.free_port()}",
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 3
    assert "no controller answers at http://127.0.0.1" in done.stderr
    assert "curl" in done.stderr


def test_a_version_that_ovs_ofctl_and_the_switch_do_not_share() -> None:
    from flowgauge.controllers.ovs_ofctl import OvsOfctlControl
    from flowgauge.errors import VersionMismatchError

    driver = OpenVSwitch("ports=2")
    try:
        target = driver.start("1.0").ofctl
        assert target is not None
        with pytest.raises(VersionMismatchError):
            OvsOfctlControl(target, "1.3", lambda _: None).count_entries()
        with pytest.raises(FlowgaugeError, match="does not reach the switch"):
            OvsOfctlControl(target + "x", "1.0", lambda _: None).count_entries()
    finally:
        driver.stop()
