"""The seam between Python and Rust: values that cross it, and errors that arrive under their names."""

from __future__ import annotations

import numpy as np
import pytest
from truth import Measured, must_find_again

from flowgauge import _core, errors
from flowgauge.duts.cores import core_plan
from flowgauge.flows import Cycle, FlowOrder, FlowSet, Increment, Random, Schedule
from flowgauge.testbed.control import flow_mods
from flowgauge.testbed.interface import Entry, Stream
from flowgauge.testbed.transmission import LiveTransmission, spec

DRAIN_NS = 50_000_000


def run(
    ports: tuple[_core.Port, _core.Port],
    stream: Stream,
    core: int | None = None,
    drain_ns: int | None = None,
) -> LiveTransmission:
    started = _core.Transmission(ports, [spec(stream, 2)], drain_ns=drain_ns, core=core, connection=None)
    transmission = LiveTransmission([stream], started, lambda channel: None)
    transmission.wait()
    return transmission


def test_addresses_are_read_and_patterns_expand() -> None:
    flows = FlowSet(
        {
            "eth_dst": "02:00:00:00:00:01",
            "ipv4_dst": Increment("10.0.0.255"),
            "udp_src": Cycle((1, 2)),
            "udp_dst": Random(seed=7, mask=0xFF),
        },
        count=3,
    )
    rows = _core.flow_values(flows)
    assert [row["ipv4_dst"] for row in rows] == [0x0A0000FF, 0x0A000100, 0x0A000101]
    assert [row["udp_src"] for row in rows] == [1, 2, 1]
    assert {row["eth_dst"] for row in rows} == {0x020000000001}
    assert all(row["udp_dst"] < 256 for row in rows)
    assert _core.flow_values(flows.last()) == rows[2:]


def test_ipv6_hexadecimal_and_steps_downwards() -> None:
    flows = FlowSet({"ipv6_dst": "2001:db8::1", "udp_dst": Increment("0x10", step=-1)}, count=2)
    rows = _core.flow_values(flows)
    assert rows[1] == {"ipv6_dst": 0x20010DB8 << 96 | 1, "udp_dst": 0xF}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"ipv4_dest": 1}, "no field is called"),
        ({"ipv4_dst": "10.0.0"}, "an IPv4 address such as"),
        ({"udp_dst": 65536}, "at most 16 bits"),
        ({"eth_dst": "zz"}, "an Ethernet address such as"),
        ({"udp_dst": 7, "tcp_dst": 7}, "leave one of them out"),
        ({"udp_dst": Cycle(())}, "at least one"),
    ],
)
def test_wrong_flow_sets_say_what_is_allowed(fields: dict[str, object], said: str) -> None:
    with pytest.raises(errors.UsageError, match=said):
        _core.flow_values(FlowSet(fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("command", "entry", "said"),
    [
        ("add", Entry(None, actions="output:"), "output"),
        ("add", Entry(None, actions="nonsense"), "nonsense"),
        ("replace", Entry(None), "no FLOW_MOD command"),
    ],
)
def test_wrong_entries_are_refused_before_anything_is_sent(command: str, entry: Entry, said: str) -> None:
    with pytest.raises(errors.UsageError, match=said):
        flow_mods(command, entry)


def test_entries_are_as_many_as_flows() -> None:
    assert len(flow_mods("add", Entry(FlowSet({"ipv4_dst": Increment("10.0.0.1")}, count=7)))) == 7
    assert len(flow_mods("add", Entry(None))) == 1


def test_frames_cross_a_ring_and_are_accounted_for() -> None:
    ports = _core.ring_pair(1024)
    flows = FlowSet({"ipv4_dst": Increment("10.0.0.1")}, count=4)
    transmission = run(
        ports, Stream(flows, 64, Schedule.cbr(5000), source=0, sink=1, duration_s=0.1, record=100)
    )
    found = transmission.reception(0)
    assert (found.requested, found.sent, found.received, found.lost) == (500, 500, 500, 0)
    assert len(found.departures_ns) == len(found.arrivals_seq) == 100
    assert (found.arrivals_rx_ns >= found.arrivals_tx_ns).all()
    assert (found.first_arrival_ns > 0).all()
    assert len(found.first_arrival_ns) == 4
    assert found.latency.counts.sum() == 500
    assert found.windows_count.sum() == 500
    assert transmission.tester.rx_dropped == 0


def test_arrays_own_their_memory_and_ports_come_back() -> None:
    ports = _core.ring_pair(1024)
    stream = Stream(FlowSet(), 64, Schedule.cbr(1000), source=0, sink=1, duration_s=0.02, record=10)
    first = run(ports, stream).reception(0)
    kept = first.departures_ns.copy()
    run(ports, stream)
    assert np.array_equal(first.departures_ns, kept)


def test_a_port_that_is_in_use_is_not_given_away() -> None:
    ports = _core.ring_pair(1024)
    stream = Stream(FlowSet(), 64, Schedule.cbr(1000), source=0, sink=1)
    core = _core.Transmission(ports, [spec(stream, 2)], drain_ns=0, core=None, connection=None)
    with pytest.raises(errors.UsageError, match="in use"):
        _core.Transmission(ports, [spec(stream, 2)], drain_ns=0, core=None, connection=None)
    core.stop()
    core.finish()
    run(ports, Stream(FlowSet(), 64, Schedule.cbr(1000), source=0, sink=1, duration_s=0.01))


def test_a_stream_has_an_order_a_late_policy_and_a_weight_and_workers_count_together() -> None:
    ports = _core.ring_pair(1024)
    flows = FlowSet({"ipv4_dst": Increment("10.0.0.1")}, count=6)
    paced = Stream(
        flows, 64, Schedule.cbr(2000), source=0, sink=1, count=18, flow_order=FlowOrder.blocks(2, 3)
    )
    back = Stream(
        flows, 64, Schedule.cbr(2000), source=1, sink=0, count=12, late="skip", flow_order=FlowOrder.random(7)
    )
    specs = [spec(paced, 2), spec(back, 2), spec(Stream(flows, 64, Schedule.max(), count=3, weight=2), 2)]
    both = _core.Transmission(
        ports, specs, drain_ns=DRAIN_NS, core=None, connection=None, cores=core_plan().dut * 2, burst=1
    )
    transmission = LiveTransmission([paced, back, paced], both, lambda channel: None)
    transmission.wait()
    found = [transmission.reception(i) for i in range(3)]
    assert [r.requested for r in found] == [18, 12, 3]
    assert all(r.sent == r.received and r.lost == 0 for r in found)
    assert found[0].sent == 18
    first = found[0].first_arrival_ns
    assert first[0] > 0
    assert (np.diff(first) >= 0).all(), "block after block"


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        (Stream(FlowSet(), 64, Schedule.max(), late="never"), "catch_up, skip"),
        (Stream(FlowSet(), 64, Schedule.max(), weight=0), "at least 1"),
        (Stream(FlowSet(), 64, Schedule.max(), flow_order=FlowOrder("zigzag")), "sequential, blocks, random"),
        (Stream(FlowSet(), 64, Schedule.max(), flow_order=FlowOrder.blocks(0, 1)), "block of a flow order"),
    ],
)
def test_what_a_stream_can_not_be(stream: Stream, said: str) -> None:
    with pytest.raises(errors.UsageError, match=said):
        spec(stream, 2)


def test_streams_that_name_what_is_not_there() -> None:
    with pytest.raises(errors.UsageError, match=r"index 2; the testbed has 0\.\.1"):
        spec(Stream(FlowSet(), 64, Schedule.max(), source=2), 2)
    with pytest.raises(errors.UsageError, match="allowed: 64 to"):
        spec(Stream(FlowSet(), 40, Schedule.max()), 2)
    with pytest.raises(errors.UsageError, match="needs a rate"):
        spec(Stream(FlowSet(), 64, Schedule("cbr")), 2)
    ports = _core.ring_pair(64)
    long = spec(Stream(FlowSet(), 9000, Schedule.max(), source=0, sink=1, duration_s=0.01), 2)
    with pytest.raises(errors.UsageError, match="8996 bytes"):
        _core.Transmission(ports, [long], drain_ns=0, core=None, connection=None)


@pytest.mark.parametrize(("delay_ns", "loss"), [(100_000, 1000), (1_000_000, 1000), (0, 7)])
def test_a_known_delay_and_loss_are_found_again(delay_ns: int, loss: int) -> None:
    """Without a switch in between."""

    def measured(delay_ns: int, loss: int | None) -> Measured:
        left, right = _core.ring_pair(4096)
        ports = (left, _core.impaired(right, delay_ns, loss))
        stream = Stream(FlowSet(), 64, Schedule.cbr(7_000), source=0, sink=1, duration_s=0.15)
        transmission = run(ports, stream, core_plan().worker, DRAIN_NS)
        return transmission.reception(0), transmission.tester

    must_find_again(delay_ns, loss, lambda: measured(0, None), lambda: measured(delay_ns, loss))


def test_entries_are_told_as_texts() -> None:
    flows = FlowSet({"eth_type": 0x0800, "ipv4_dst": Increment("10.0.0.1"), "udp_dst": 7}, count=2)
    entry = Entry(flows, "mod_nw_ttl:3,output:2", priority=9, in_port=1, idle_timeout=5)
    expected = [
        f"idle_timeout=5,priority=9,udp,in_port=1,nw_dst=10.0.0.{n},tp_dst=7 actions=mod_nw_ttl:3,output:2"
        for n in (1, 2)
    ]
    assert flow_mods("add", entry).texts() == expected
    assert flow_mods("modify_strict", entry).texts() == expected
    assert flow_mods("delete_strict", entry).texts() == [e.partition(" actions")[0] for e in expected]
    assert _core.FlowMods("delete", "").texts() == [""]
    assert _core.FlowMods("delete", "table=3,ip").texts() == ["table=3,ip"]
    assert _core.FlowMods("add", "").texts() == ["actions=drop"]


def test_messages_are_encoded_from_texts() -> None:
    flow = _core.encode_flow("udp,tp_dst=7 actions=output:2", "1.3")
    assert (flow[0], flow[1], int.from_bytes(flow[2:4], "big")) == (4, 14, len(flow))
    group = _core.encode_group("add", "group_id=7,type=all,bucket=output:1,bucket=output:2", "1.3")
    assert (group[1], group[8:10], group[12:16]) == (15, b"\0\0", b"\0\0\0\7")
    assert _core.encode_group("delete", "", "1.3")[8:16] == b"\0\2\0\0\xff\xff\xff\xfc"
    meter = _core.encode_meter("modify", "meter=1,pktps,bands=type=drop,rate=100", "1.3")
    assert (meter[1], meter[8:16]) == (29, b"\0\1\0\2\0\0\0\1")
    assert _core.encode_meter("delete", "", "1.3")[12:16] == b"\xff\xff\xff\xff"
    with pytest.raises(errors.UsageError, match="column"):
        _core.encode_group("add", "group_id=7,type=some", "1.3")
    with pytest.raises(errors.ChannelError):
        _core.encode_group("add", "group_id=7,type=all", "1.0")


def test_every_error_of_the_core_has_its_class() -> None:
    for name, class_name in _core.error_classes():
        kind = getattr(errors, class_name)
        assert issubclass(kind, errors.FlowgaugeError), name


def test_a_missing_interface_is_an_interface_error_with_advice() -> None:
    with pytest.raises((errors.InterfaceError, errors.PermissionNeededError)) as caught:
        _core.open_af_packet("fg-none")
    assert caught.value.advice


def test_a_missing_namespace_is_a_setup_error() -> None:
    with pytest.raises(errors.SetupError, match="fg-none"):
        _core.open_af_packet("lo", "fg-none")


def test_a_busy_port_names_how_to_find_who_has_it() -> None:
    first = _core.Channel("listen", "127.0.0.1", 0, netns=None, versions=["1.3"], spin_us=0)
    host, port = first.address
    with pytest.raises(errors.PortBusyError) as caught:
        _core.Channel("listen", host, port, netns=None, versions=["1.3"], spin_us=0)
    assert caught.value.advice is not None
    assert str(port) in caught.value.advice
    first.close()


def test_nobody_connects() -> None:
    channel = _core.Channel("listen", "127.0.0.1", 0, netns=None, versions=["1.3"], spin_us=0)
    with pytest.raises(errors.NeverConnectedError):
        channel.wait_connected(0.15)
    channel.close()


def test_no_common_version() -> None:
    switch = _core.Switch([], versions=["1.0"], datapath_id=1)
    host, port = switch.address
    channel = _core.Channel("connect", host, port, netns=None, versions=["1.3"], spin_us=0)
    with pytest.raises(errors.VersionMismatchError) as caught:
        channel.wait_connected(2)
    assert caught.value.advice is not None
    channel.close()
    switch.stop()
