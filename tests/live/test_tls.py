"""The channel over TLS with a real Open vSwitch and keys by `ovs-pki`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from flowgauge import _core
from flowgauge.duts import pki
from flowgauge.duts.openvswitch import OpenVSwitch
from flowgauge.errors import ConfigError, MissingToolError, TlsError, TlsFileError
from flowgauge.flows import FlowSet, Increment, Schedule
from flowgauge.testbed import loopback
from flowgauge.testbed.interface import CONTROL, Entry, OpenOptions, Stream
from flowgauge.testbed.live import open_channel, open_testbed

pytestmark = pytest.mark.live

FLOWS = FlowSet({"eth_type": 0x0800, "ipv4_dst": Increment("198.19.0.1")}, count=500)


@pytest.fixture(autouse=True)
def _no_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loopback, "cached", lambda backend: None)


@pytest.fixture(scope="module")
def _tools() -> None:
    try:
        pki.check_host()
    except MissingToolError as error:
        pytest.skip(f"{error.message}; {error.advice}")


@pytest.fixture
def switch(_tools: None) -> Iterator[OpenVSwitch]:
    driver = OpenVSwitch("ports=2,tls=yes")
    yield driver
    driver.stop()


@pytest.mark.parametrize("version", ["1.0", "1.3"])
@pytest.mark.usefixtures("_tools")
def test_entries_and_echoes_pass_as_without_tls(version: str) -> None:
    with open_testbed("ovs:ports=2,tls=yes", OpenOptions(version)) as (driver, testbed):
        assert driver.describe()["bridge"]["controller"].startswith("ssl:")
        testbed.control.delete_all()
        result = testbed.control.add(Entry(FLOWS, "output:2", priority=5)).wait()
        assert (result.sent, result.acknowledged, list(result.errors)) == (500, 500, [])
        assert testbed.control.count_entries() == 500
        echoes = testbed.control.echo(Schedule.cbr(200), 0.5).wait()
        assert echoes.sent == 100
        assert echoes.payload_intact.all()
        assert (echoes.reply_ns > echoes.sent_ns).all()


@pytest.mark.usefixtures("_tools")
def test_packets_pass_inside_messages_and_are_accounted_for() -> None:
    flows = FlowSet(
        {"eth_type": 0x0800, "ip_proto": 17, "ipv4_dst": Increment("198.19.0.1"), "udp_dst": 7}, count=50
    )
    with open_testbed("ovs:ports=2,tls=yes", OpenOptions("1.3")) as (_, testbed):
        control, port = testbed.control, testbed.ports[0].of_port
        out = Stream(flows, 300, Schedule.cbr(300), source=CONTROL, sink=0)
        transmission = testbed.transmit(out)
        sent = control.packet_out(out, port, 0.5).wait()
        transmission.stop()
        found = transmission.reception(0)
        assert (sent.sent, sent.acknowledged, found.received) == (150, 150, 150)
        control.install_table_miss("CONTROLLER:65535")
        control.set_miss_send_len(65535)
        testbed.clock.sleep(0.3)
        misses = Stream(flows, 300, Schedule.cbr(300), source=0, sink=CONTROL, duration_s=0.5)
        transmission = testbed.transmit(misses)
        transmission.wait()
        found = transmission.reception(0)
        assert (found.received, found.lost) == (found.sent, 0)


def test_who_it_is_and_how_it_is_stamped(switch: OpenVSwitch) -> None:
    wiring = switch.start("1.3")
    channel = open_channel(wiring.control)
    connection = channel.wait_connected(15)
    assert connection.peer_name is not None
    assert connection.peer_name.startswith("sc id:")
    counters = connection.counters()
    assert (counters["timestamps"], counters["log_dropped"]) == ("decryption", 0)
    assert connection.datapath_id == connection.describe(5)["datapath_id"]
    channel.close()


def test_the_wrong_authority_is_named_on_our_side(switch: OpenVSwitch) -> None:
    control = switch.start("1.3").control
    files = control.tls
    assert files is not None
    wrong = str(Path(files.private_key).parent / "pki/controllerca/cacert.pem")
    keys = (files.private_key, files.certificate, wrong)
    channel = _core.Channel(
        control.mode, control.host, control.port, netns=control.netns, versions=["1.3"], spin_us=0, tls=keys
    )
    with pytest.raises(TlsError, match=r"no authority in .*controllerca/cacert\.pem has signed"):
        channel.wait_connected(15)
    channel.close()


def test_a_switch_with_tls_at_our_plain_port_is_understood(switch: OpenVSwitch) -> None:
    control = switch.start("1.3").control
    channel = _core.Channel(
        control.mode, control.host, control.port, netns=control.netns, versions=["1.3"], spin_us=0
    )
    with pytest.raises(TlsError, match="the peer speaks TLS") as caught:
        channel.wait_connected(15)
    assert caught.value.advice is not None
    assert "pssl:" in caught.value.advice
    channel.close()


@pytest.mark.usefixtures("_tools")
def test_a_key_of_another_certificate_is_refused_by_name(tmp_path: Path) -> None:
    controller, other = pki.make(tmp_path)
    with pytest.raises(TlsFileError, match=r"private_key .*sc-privkey.pem: is not the key of .*ctl-cert.pem"):
        _core.Channel(
            "listen",
            "127.0.0.1",
            0,
            netns=None,
            versions=["1.3"],
            spin_us=0,
            tls=(other.private_key, controller.certificate, controller.ca),
        )


def test_an_option_that_is_neither_yes_nor_no() -> None:
    with pytest.raises(ConfigError, match="yes or no"):
        OpenVSwitch("tls=maybe")


def test_without_the_tool_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, path=None: None)
    with pytest.raises(MissingToolError, match="ovs-pki is not installed"):
        pki.check_host()
