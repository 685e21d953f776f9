"""Controllers without a switch: names, options, and how what they say or don't say becomes an error of the catalogue."""

from __future__ import annotations

import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_rest import Answers, serving

from flowgauge import controllers
from flowgauge.controllers import ovs_ofctl, rest, rest_control
from flowgauge.controllers.ovs_ofctl import OvsOfctl, OvsOfctlControl
from flowgauge.controllers.rest import Rest
from flowgauge.controllers.rest_api import Api
from flowgauge.controllers.rest_control import RestControl
from flowgauge.duts import host
from flowgauge.duts.interface import ControlWiring, Leads, Wiring
from flowgauge.duts.relay import Relay
from flowgauge.errors import (
    ControllerError,
    ControllerUnreachableError,
    MissingToolError,
    NeverConnectedError,
    NotOfferedError,
    RejectedError,
    ReplyTimeoutError,
    UnknownNameError,
    UnknownSwitchError,
    UsageError,
    VersionMismatchError,
)
from flowgauge.flows import FlowSet, Increment, Schedule
from flowgauge.testbed.interface import Entry

NOWHERE = ControlWiring("connect", "", 0)
FLOWS = FlowSet({"eth_type": 0x0800, "ipv4_dst": Increment("198.19.0.1")}, count=3)


def no_guard(_: bool) -> None:
    pass


# Names


def test_names() -> None:
    assert controllers.create("builtin") is None
    assert isinstance(controllers.create("ovs-ofctl"), OvsOfctl)
    made = controllers.create("rest:http://10.0.0.2:8080")
    assert isinstance(made, Rest)
    assert made.leads == Leads("other", "10.0.0.2", 6653)
    with pytest.raises(UnknownNameError, match="ovs-ofctl"):
        controllers.create("ovs-ofclt")


@pytest.mark.parametrize(
    "name", ["rest", "rest:", "rest:8080", "rest:https://10.0.0.1", "rest:http://h:port"]
)
def test_a_rest_controller_needs_a_url(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        controllers.create(name)
    assert "rest:http://127.0.0.1:8080" in (caught.value.advice or "")


def test_options_of_rest() -> None:
    made = Rest("http://10.0.0.2:8080/api/,openflow=[::1]:6633,datapath_id=0x2a")
    assert made.leads == Leads("other", "::1", 6633)
    assert made.name == "rest:http://10.0.0.2:8080/api"
    for wrong in ("openflow=6633", "openflow=h:0", "datapath_id=one", "speed=1"):
        with pytest.raises(UsageError, match="allowed: openflow=HOST:PORT"):
            Rest(f"http://10.0.0.2:8080,{wrong}")


# ovs-ofctl


def test_ovs_ofctl_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "find_tool", lambda name: None)
    with pytest.raises(MissingToolError) as caught:
        OvsOfctl().check()
    assert caught.value.advice == "apt-get install openvswitch-switch"


def test_a_dut_that_ovs_ofctl_can_not_reach() -> None:
    with pytest.raises(UsageError) as caught:
        OvsOfctl().control(Wiring((), NOWHERE), "1.3", no_guard)
    assert "ovs_ofctl" in (caught.value.advice or "")


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("OFPT_ERROR (OF1.3) (xid=0x6): OFPFMFC_TABLE_FULL\n(***truncated to 64 bytes***)", RejectedError),
        ("OFPT_ERROR (xid=0x4): OFPFMFC_TABLE_FULL", RejectedError),
        (
            "ovs-ofctl: tcp:10.0.0.1:6653: failed to connect to socket (Connection refused)",
            NeverConnectedError,
        ),
        ("ovs-ofctl: fg-br is not a bridge or a socket", NeverConnectedError),
        (
            "2026|vconn|WARN|unix: version negotiation failed (we support 0x04, peer 0x01)\novs-ofctl: x",
            VersionMismatchError,
        ),
        ("ovs-ofctl: -:1: unknown keyword speed", ControllerError),
    ],
)
def test_what_ovs_ofctl_says_becomes_an_error(said: str, kind: type[Exception]) -> None:
    error = ovs_ofctl.error_of("ovs-ofctl add-flows", said)
    assert type(error) is kind
    assert error.advice
    if kind is RejectedError:
        assert error.message.endswith("OFPFMFC_TABLE_FULL")


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in the place of ovs-ofctl."""
    path = tmp_path / "ovs-ofctl"
    path.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\ncat >> {tmp_path}/stdin\necho " flow_count=3"\n'
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return path


def test_what_ovs_ofctl_is_told(program: Path) -> None:
    control = OvsOfctl().control(Wiring((), NOWHERE, ofctl="tcp:10.0.0.1:6653"), "1.3", no_guard)
    control.install(Entry(FLOWS, "output:2", in_port=1))
    control.delete_flows("ip")
    control.add_group("group_id=1,type=all,bucket=output:1")
    assert control.count_entries() == 3
    result = control.delete(Entry(FLOWS, in_port=1)).wait(5)
    assert (result.requested, result.sent, list(result.errors)) == (3, 3, [])
    assert result.barrier_ns is not None
    assert result.first_byte_ns is not None
    assert result.barrier_ns > result.first_byte_ns
    asked = (program.parent / "asked").read_text().splitlines()
    assert asked[1] == "-O OpenFlow13 --no-names add-flows tcp:10.0.0.1:6653 -"
    assert asked[3].endswith("add-group tcp:10.0.0.1:6653 group_id=1,type=all,bucket=output:1")
    lines = (program.parent / "stdin").read_text().splitlines()
    assert lines[:2] == [
        "add ip,in_port=1,nw_dst=198.19.0.1 actions=output:2",
        "add ip,in_port=1,nw_dst=198.19.0.2 actions=output:2",
    ]
    assert lines[3:5] == ["delete ip", "delete_strict ip,in_port=1,nw_dst=198.19.0.1"]


def test_ovs_ofctl_that_hangs_is_ended(program: Path) -> None:
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    play = OvsOfctlControl("tcp:10.0.0.1:6653", "1.3", no_guard).add(Entry(FLOWS))
    with pytest.raises(ReplyTimeoutError, match=r"did not return within 0\.2 s"):
        play.wait(0.2)


def test_entries_that_the_switch_refuses_through_ovs_ofctl(program: Path) -> None:
    program.write_text(
        '#!/bin/sh\ncat >/dev/null\necho "OFPT_ERROR (OF1.3) (xid=0x6): OFPFMFC_TABLE_FULL" >&2\nexit 1\n'
    )
    control = OvsOfctlControl("tcp:10.0.0.1:6653", "1.3", no_guard)
    with pytest.raises(RejectedError, match="OFPFMFC_TABLE_FULL"):
        control.install(Entry(FLOWS))
    result = control.add(Entry(FLOWS)).wait(5)
    assert "OFPFMFC_TABLE_FULL" in result.errors[0][3]


def test_what_needs_our_own_channel_is_refused_with_the_reason() -> None:
    control = OvsOfctlControl("tcp:10.0.0.1:6653", "1.3", no_guard)
    assert control.abilities == {"entries"}
    with pytest.raises(
        NotOfferedError, match="timed ECHO_REQUESTs can't be had through the controller ovs-ofctl"
    ):
        control.echo(Schedule.cbr(1), 1)
    with pytest.raises(NotOfferedError):
        control.set_miss_send_len(128)
    with pytest.raises(NotOfferedError):
        control.request({})
    with pytest.raises(NotOfferedError, match="paced"):
        control.add(Entry(FLOWS), schedule=Schedule.cbr(10))


def test_descriptions_of_ovs_ofctl_are_read() -> None:
    desc = "OFPST_DESC reply (OF1.3) (xid=0x2):\nManufacturer: Nicira, Inc.\nHardware: Open vSwitch\nSoftware: 3.1.0\n"
    show = (
        "OFPT_FEATURES_REPLY (OF1.3) (xid=0x2): dpid:0000000000000001\nn_tables:254, n_buffers:0\n"
        "capabilities: FLOW_STATS TABLE_STATS\nOFPST_PORT_DESC reply (OF1.3) (xid=0x3):\n"
        " 1(fg-dut1): addr:02:00:00:00:00:01\n     config:     0\n LOCAL(fg-br): addr:02:00:00:00:00:02\n"
    )
    about = ovs_ofctl.described(desc, show)
    assert (about["hardware"], about["tables"], about["datapath_id"]) == (
        "Open vSwitch",
        254,
        "0000000000000001",
    )
    assert about["ports"] == [{"of_port": 1, "name": "fg-dut1", "mac": "02:00:00:00:00:01"}]


# REST


@pytest.fixture
def answers() -> Iterator[Answers]:
    with serving() as found:
        found.give("/stats/switches", [1])
        found.give("/stats/aggregateflow/1", {"1": [{"flow_count": 5}]})
        yield found


@pytest.fixture
def control(answers: Answers, monkeypatch: pytest.MonkeyPatch) -> RestControl:
    monkeypatch.setattr(rest_control, "APPEAR_S", 0.05)
    monkeypatch.setattr(rest_control, "RETURN_S", 0.1)
    return Rest(answers.url).control(Wiring((), NOWHERE, datapath_id=1), "1.3", no_guard)


def test_a_rest_controller_that_is_not_reachable() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ControllerUnreachableError, match="refused") as caught:
        Rest(f"http://127.0.0.1:{port}").check()
    assert "curl" in (caught.value.advice or "")


@pytest.mark.parametrize(
    ("status", "body", "what"),
    [
        (500, "no luck", "HTTP 500 Internal Server Error: no luck"),
        (404, "", "has no /stats/switches"),
        (200, "<html>", "not JSON"),
        (200, {"a": 1}, "no list of switches"),
    ],
)
def test_something_else_at_the_url(answers: Answers, status: int, body: Any, what: str) -> None:
    answers.give("/stats/switches", body, status=status)
    with pytest.raises(ControllerError) as caught:
        Rest(answers.url).check()
    assert what in caught.value.message
    assert caught.value.advice


def test_a_switch_that_is_not_connected(answers: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "CONNECT_S", 0.2)
    with pytest.raises(
        UnknownSwitchError, match=r"0x0000000000000002 not connected.*connected: 0x0000000000000001"
    ) as caught:
        Rest(answers.url).control(Wiring((), NOWHERE, datapath_id=2), "1.3", no_guard)
    assert "127.0.0.1:6653" in (caught.value.advice or "")
    answers.give("/stats/switches", [])
    with pytest.raises(UnknownSwitchError, match="no switch connected"):
        Rest(answers.url).control(Wiring((), NOWHERE), "1.3", no_guard)


def test_one_of_several_switches_must_be_named(answers: Answers) -> None:
    answers.give("/stats/switches", [1, 2])
    with pytest.raises(UsageError, match="several switches") as caught:
        Rest(answers.url).control(Wiring((), NOWHERE), "1.3", no_guard)
    assert "datapath_id" in (caught.value.advice or "")
    Rest(f"{answers.url},datapath_id=2").control(Wiring((), NOWHERE), "1.3", no_guard)


def test_a_switch_that_has_gone(answers: Answers, control: RestControl) -> None:
    answers.give("/stats/aggregateflow/1", "no such switch", status=404)
    with pytest.raises(UnknownSwitchError):
        control.count_entries()


def test_a_switch_that_does_not_come_back(answers: Answers, control: RestControl) -> None:
    answers.give("/stats/flowentry/clear/1", None, method="DELETE")
    answers.give("/stats/aggregateflow/1", "no such switch", status=404)
    with pytest.raises(UnknownSwitchError):
        control.delete_all()


def test_a_switch_that_does_not_answer_its_controller(answers: Answers, control: RestControl) -> None:
    answers.give("/stats/aggregateflow/1", {"1": [{}]})
    with pytest.raises(ControllerError, match="aggregateflow"):
        control.count_entries()


def test_entries_that_the_switch_does_not_hold_were_refused(answers: Answers, control: RestControl) -> None:
    answers.give("/stats/flowentry/add", None, method="POST")
    answers.give("/stats/flow/1", {"1": []}, method="POST")
    with pytest.raises(RejectedError, match=r"nw_dst=198\.19\.0\.1 actions=drop") as caught:
        control.install(Entry(FLOWS))
    assert "controller does not say why" in (caught.value.advice or "")
    answers.give("/stats/flow/1", {"1": [{"priority": 1}]}, method="POST")
    control.install(Entry(FLOWS))  # each replaced one that was there


def test_groups_and_meters_that_the_switch_does_not_hold(answers: Answers, control: RestControl) -> None:
    for path in ("groupentry", "meterentry"):
        answers.give(f"/stats/{path}/add", None, method="POST")
    answers.give("/stats/groupdesc/1", {"1": [{"group_id": 1}]})
    answers.give("/stats/meterconfig/1", {"1": []})
    control.add_group("group_id=1,type=all,bucket=output:1")
    with pytest.raises(RejectedError, match="no group 2"):
        control.add_group("group_id=2,type=all,bucket=output:1")
    with pytest.raises(RejectedError, match="no meter 1"):
        control.add_meter("meter=1,kbps,bands=type=drop,rate=1000")


def test_a_play_is_timed_call_by_call(answers: Answers, control: RestControl) -> None:
    answers.give("/stats/flowentry/delete_strict", None, method="POST")
    result = control.delete(Entry(FLOWS)).wait(5)
    assert (result.requested, result.sent) == (3, 3)
    assert (result.sent_ns[1:] >= result.reply_ns[:-1]).all()
    assert [body["match"]["ipv4_dst"] for _, path, body in answers.asked if "delete_strict" in path] == [
        "198.19.0.1",
        "198.19.0.2",
        "198.19.0.3",
    ]


def test_a_play_that_the_controller_refuses(control: RestControl) -> None:
    with pytest.raises(UnknownSwitchError):
        control.add(Entry(FLOWS)).wait(5)


def test_a_connection_that_the_controller_closed_is_made_anew(answers: Answers) -> None:
    api = Api(answers.url)
    assert api.switches() == [1]
    assert api._connection is not None
    assert api._connection.sock is not None
    api._connection.sock.shutdown(socket.SHUT_RDWR)
    assert api.switches() == [1]


# The relay


def test_a_relay_joins_a_switch_that_listens() -> None:
    with listener() as near, listener() as far:
        relay = Relay.connecting(near.getsockname(), far.getsockname())
        try:
            exchange(near.accept()[0], far.accept()[0])
            exchange(near.accept()[0], far.accept()[0])  # after the first pair has ended
        finally:
            relay.close()


def test_a_relay_joins_a_switch_that_connects(tmp_path: Path) -> None:
    path = tmp_path / "br.controller"
    with listener() as far:
        relay = Relay.listening(path, far.getsockname())
        try:
            switch = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            switch.connect(str(path))
            exchange(switch, far.accept()[0])
        finally:
            relay.close()
    assert not [t for t in threading.enumerate() if t.name.startswith("relay")]


def listener() -> socket.socket:
    made = socket.create_server(("127.0.0.1", 0))
    made.settimeout(5)
    return made


def exchange(switch: socket.socket, controller: socket.socket) -> None:
    with switch, controller:
        for end in (switch, controller):
            end.settimeout(5)
        controller.sendall(b"hello switch")
        assert switch.recv(100) == b"hello switch"
        switch.sendall(b"hello controller")
        assert controller.recv(100) == b"hello controller"
