"""The live testbed on Open vSwitch: data path, PACKET_IN, PACKET_OUT, flow entries in both versions, and a switch that dies."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flowgauge.duts import netns
from flowgauge.duts.lease import Lease
from flowgauge.duts.openvswitch import OpenVSwitch
from flowgauge.errors import ChannelClosedError, DutDiedError, NeverConnectedError, PortBusyError
from flowgauge.flows import FlowSet, Increment, Schedule
from flowgauge.testbed import live, loopback
from flowgauge.testbed.interface import CONTROL, Entry, OpenOptions, Stream
from flowgauge.testbed.live import LiveTestbed, open_testbed

pytestmark = pytest.mark.live

FLOWS = FlowSet(
    {"eth_type": 0x0800, "ip_proto": 17, "ipv4_dst": Increment("198.19.0.1"), "udp_dst": 7}, count=50
)

FEW = 300
"""Frames per second; half a second of them fits into the switch's socket buffer, however long a busy host keeps it waiting."""
PORT = 20000 + os.getpid() % 10000
SETTLE_S = 0.3
"""Open vSwitch answers a barrier before its cached megaflows are revalidated: what comes at once may take an old one."""


@pytest.fixture(autouse=True)
def _no_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loopback, "cached", lambda backend: None)


@pytest.fixture(scope="module", params=["1.0", "1.3"])
def opened(request: pytest.FixtureRequest) -> Iterator[LiveTestbed]:
    measured, loopback.cached = loopback.cached, lambda backend: None
    with open_testbed("ovs:ports=2", OpenOptions(request.param)) as (_, testbed):
        yield testbed
    loopback.cached = measured


@pytest.fixture
def testbed(opened: LiveTestbed) -> LiveTestbed:
    opened.control.delete_all()
    return opened


def test_probes_through_one_entry_arrive_without_loss(testbed: LiveTestbed) -> None:
    testbed.control.install_table_miss("drop")
    testbed.control.install(Entry(None, "output:2", in_port=1))
    assert testbed.control.count_entries() == 2
    testbed.clock.sleep(SETTLE_S)
    transmission = testbed.transmit(Stream(FLOWS, 100, Schedule.cbr(FEW), source=0, sink=1, duration_s=0.5))
    transmission.wait()
    found = transmission.reception(0)
    assert (found.received, found.lost, found.misrouted) == (found.sent, 0, 0)
    assert found.sent == FEW // 2
    low, median = found.latency.percentile_ns(1), found.latency.percentile_ns(50)
    assert low is not None
    assert median is not None
    assert low > 1_000
    assert median < 20_000_000
    assert transmission.tester.timestamps == "user transmit (kernel samples), kernel receive"
    assert sum(transmission.tester.foreign) == 0, "the wires are silent"


def test_misses_come_as_packet_ins(testbed: LiveTestbed) -> None:
    if testbed.control.version != "1.0":
        testbed.control.install_table_miss("CONTROLLER:65535")
    testbed.control.set_miss_send_len(65535)
    testbed.clock.sleep(SETTLE_S)
    transmission = testbed.transmit(
        Stream(FLOWS, 300, Schedule.cbr(FEW), source=0, sink=CONTROL, duration_s=0.5)
    )
    transmission.wait()
    found = transmission.reception(0)
    assert (found.sent, found.received, found.lost) == (FEW // 2, FEW // 2, 0)
    assert found.packet_in_bytes_min == 296


def test_packet_outs_leave_at_the_port(testbed: LiveTestbed) -> None:
    stream = Stream(FLOWS, 300, Schedule.cbr(FEW), source=CONTROL, sink=0)
    transmission = testbed.transmit(stream)
    result = testbed.control.packet_out(stream, testbed.ports[0].of_port, 0.5).wait()
    transmission.stop()
    found = transmission.reception(0)
    assert (result.sent, result.acknowledged) == (FEW // 2, FEW // 2)
    assert (found.sent, found.received) == (FEW // 2, FEW // 2)


def test_entries_are_added_and_deleted(testbed: LiveTestbed) -> None:
    control = testbed.control
    control.install_table_miss("drop")
    testbed.clock.sleep(SETTLE_S)
    probes = Stream(FLOWS.last(), 100, Schedule.cbr(2000), source=0, sink=1, record=100_000)
    transmission = testbed.transmit(probes, drain_s=0.3)

    def until(what: Callable[[int], bool]) -> None:
        deadline = testbed.clock.now() + 10**10
        while not what(transmission.progress().received[0]):
            assert testbed.clock.now() < deadline
            testbed.clock.sleep(0.1)

    testbed.clock.sleep(0.1)
    added = control.add(Entry(FLOWS, "output:2", in_port=1)).wait(10)
    assert (added.sent, list(added.errors)) == (50, [])
    assert control.count_entries() == 51
    until(lambda received: received > 0)
    deleted = control.delete(Entry(FLOWS, in_port=1)).wait(10)
    assert (deleted.sent, list(deleted.errors)) == (50, [])
    counts = [0]
    until(lambda received: counts.append(received) or counts[-1] == counts[-2])
    transmission.stop()
    assert control.count_entries() == 1
    found = transmission.reception(0)
    first, last = int(found.arrivals_seq.min()), int(found.arrivals_seq.max())
    assert added.first_byte_ns is not None
    assert deleted.first_byte_ns is not None
    assert 0 < first < last < len(found.departures_ns) - 1
    # Probes may wait on their way while the table changes, on a busy host for long.
    assert found.departures_ns[first] > added.first_byte_ns - 200_000_000
    assert found.arrivals_rx_ns.max() > deleted.first_byte_ns - 200_000_000


def test_the_switch_describes_itself(testbed: LiveTestbed) -> None:
    about = testbed.control.describe()
    assert about["hardware"] == "Open vSwitch"
    assert {1, 2} <= {p["of_port"] for p in about["ports"]}


def test_a_switch_that_is_killed_in_a_trial() -> None:
    with open_testbed("ovs:ports=2", OpenOptions("1.3")) as (driver, testbed):
        assert isinstance(driver, OpenVSwitch)
        testbed.control.install(Entry(None, "output:2", in_port=1))
        transmission = testbed.transmit(
            Stream(FLOWS, 100, Schedule.cbr(1000), source=0, sink=1, duration_s=30)
        )
        testbed.clock.sleep(0.1)
        os.kill(driver.pids["ovs-vswitchd"], signal.SIGKILL)
        with pytest.raises((DutDiedError, ChannelClosedError)):
            transmission.wait()
        assert transmission.reception(0).received > 0, "what was measured is kept"
        assert not driver.alive()
        with pytest.raises(DutDiedError):
            testbed.transmit(Stream(FLOWS, 100, Schedule.cbr(1000), source=0, sink=1, duration_s=1))


def test_a_switch_that_never_connects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "CONNECT_S", 0.0)
    with pytest.raises(NeverConnectedError), open_testbed("ovs:ports=2", OpenOptions("1.3")):
        pass


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Path]:
    """A TOML file with two wires that end nowhere, in a namespace of ours."""
    lease = Lease.take("test")
    try:
        inside = netns.add(lease, "lab")
        netns.veth(((inside, "fg-a"), (inside, "fg-b")), 1500)
        path = tmp_path / "lab.toml"
        ports = "".join(
            f'[[port]]\ninterface = "{name}"\nof_port = {n}\nnetns = "{inside}"\n'
            for n, name in enumerate(("fg-a", "fg-b"), 1)
        )
        path.write_text(f'[control]\nlisten = "127.0.0.1:{PORT}"\n{ports}')
        yield path
    finally:
        lease.end()


def test_an_external_switch_that_never_connects(lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "CONNECT_S", 0.2)
    with pytest.raises(NeverConnectedError, match=str(PORT)), open_testbed(str(lab), OpenOptions()):
        pass


def test_a_busy_port_and_an_interface_that_is_down(lab: Path) -> None:
    from flowgauge import _core
    from flowgauge.errors import InterfaceError

    first = _core.Channel("listen", "127.0.0.1", PORT, netns=None, versions=["1.3"], spin_us=0)
    try:
        with pytest.raises(PortBusyError), open_testbed(str(lab), OpenOptions()):
            pass
    finally:
        first.close()
    inside = next(line.split('"')[1] for line in lab.read_text().splitlines() if line.startswith("netns"))
    subprocess.run(["ip", "-n", inside, "link", "set", "fg-a", "down"], check=True)
    with pytest.raises(InterfaceError) as caught, open_testbed(str(lab), OpenOptions()):
        pass
    assert caught.value.advice == f"ip -n {inside} link set fg-a up"
