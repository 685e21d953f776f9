"""The live testbed on the embedded switch: control and data path in both versions, and truth through a known delay."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from truth import Measured, must_find_again

from flowgauge.errors import ChannelClosedError, DutDiedError, RejectedError, UsageError
from flowgauge.flows import FlowSet, Increment, Schedule
from flowgauge.results import reader
from flowgauge.testbed import loopback
from flowgauge.testbed.interface import CONTROL, Entry, Loopback, OpenOptions, Stream
from flowgauge.testbed.live import LiveTestbed, open_testbed

FLOWS = FlowSet(
    {"eth_type": 0x0800, "ip_proto": 17, "ipv4_dst": Increment("198.19.0.1"), "udp_dst": 7}, count=20
)
OWN = Loopback("ring", {64: 1e6}, 100.0, 50.0, "2026-01-01T00:00:00+00:00", 20_000.0)


@pytest.fixture(autouse=True)
def _known_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loopback, "cached", lambda backend: OWN)


@pytest.fixture(params=["1.0", "1.3"])
def testbed(request: pytest.FixtureRequest) -> Iterator[LiveTestbed]:
    with open_testbed("embedded", OpenOptions(request.param)) as (driver, testbed):
        assert driver.alive()
        assert testbed.control.version == request.param
        testbed.control.delete_all()
        yield testbed
    assert not driver.alive()


def test_who_runs_a_testbed_keeps_off_its_workers_cores() -> None:
    before = os.sched_getaffinity(0)
    with open_testbed("embedded", OpenOptions("1.3")) as (_, testbed):
        workers = set(testbed.core_plan["workers"])
        assert not workers & os.sched_getaffinity(0)
    assert os.sched_getaffinity(0) == before


def test_entries_are_installed_counted_and_removed(testbed: LiveTestbed) -> None:
    control = testbed.control
    control.install(Entry(FLOWS, "output:2", in_port=1))
    assert control.count_entries() == 20
    control.install_table_miss("drop")
    assert control.count_entries() == 21
    result = control.delete(Entry(FLOWS.last(), in_port=1)).wait()
    assert (result.sent, result.errors) == (1, [])
    assert control.count_entries() == 20
    control.delete_all()
    assert control.count_entries() == 0


def test_probes_take_the_entry_and_others_are_dropped(testbed: LiveTestbed) -> None:
    testbed.control.install_table_miss("drop")
    testbed.control.install(Entry(FLOWS.last(), "output:2", in_port=1))
    hit = Stream(FLOWS.last(), 100, Schedule.cbr(2000), source=0, sink=1, duration_s=0.2)
    miss = Stream(FlowSet(FLOWS.fields), 100, Schedule.cbr(2000), source=0, sink=1, duration_s=0.2, name="m")
    transmission = testbed.transmit(hit, miss)
    transmission.wait()
    assert (transmission.reception(0).received, transmission.reception(0).lost) == (400, 0)
    assert (transmission.reception(1).received, transmission.reception(1).lost) == (0, 400)


def test_frames_at_another_port_are_misrouted(testbed: LiveTestbed) -> None:
    testbed.control.install_table_miss("drop")
    testbed.control.install(Entry(FLOWS, "output:3", in_port=1))
    transmission = testbed.transmit(
        Stream(FLOWS, 100, Schedule.cbr(1000), source=0, sink=1, duration_s=0.1), drain_s=1.0
    )
    transmission.wait()
    found = transmission.reception(0)
    assert (found.received, found.misrouted, found.lost) == (0, 100, 100)


def test_a_modify_moves_the_probes(testbed: LiveTestbed) -> None:
    testbed.control.install_table_miss("drop")
    testbed.control.install(Entry(FLOWS, "output:2", in_port=1))
    result = testbed.control.modify(Entry(FLOWS, "output:3", in_port=1)).wait()
    assert result.sent == 20
    assert result.barrier_ns is not None
    assert result.first_byte_ns is not None
    assert result.barrier_ns > result.first_byte_ns
    transmission = testbed.transmit(Stream(FLOWS, 100, Schedule.cbr(1000), source=0, sink=2, duration_s=0.1))
    transmission.wait()
    found = transmission.reception(0)
    assert (found.received, found.lost) == (found.sent, 0)


@pytest.mark.parametrize("length", [65535, 80])
def test_misses_come_as_packet_ins(testbed: LiveTestbed, length: int) -> None:
    if testbed.control.version != "1.0":
        testbed.control.install_table_miss(f"CONTROLLER:{length}")
    testbed.control.set_miss_send_len(length)
    transmission = testbed.transmit(
        Stream(FLOWS, 100, Schedule.cbr(1000), source=0, sink=CONTROL, duration_s=0.2, record=500)
    )
    transmission.wait()
    found = transmission.reception(0)
    assert (found.sent, found.received, found.lost, found.duplicated) == (200, 200, 0, 0)
    assert found.packet_in_bytes_min == min(96, length)
    assert (found.arrivals_rx_ns > found.arrivals_tx_ns).all()


def test_frames_leave_one_by_one_when_asked(testbed: LiveTestbed) -> None:
    testbed.control.install(Entry(None, "output:2"))
    stream = Stream(FLOWS, 64, Schedule.max(), source=0, sink=1, count=500, record=500)
    transmission = testbed.transmit(stream, burst=1)
    transmission.wait()
    departures = transmission.reception(0).departures_ns
    assert len(set(departures.tolist())) == 500
    with pytest.raises(UsageError, match="at least 1 frame"):
        testbed.transmit(stream, burst=0)


def test_packet_outs_leave_at_the_port(testbed: LiveTestbed) -> None:
    stream = Stream(FLOWS, 100, Schedule.cbr(1000), source=CONTROL, sink=0)
    transmission = testbed.transmit(stream)
    result = testbed.control.packet_out(stream, testbed.ports[0].of_port, 0.2).wait()
    transmission.stop()
    found = transmission.reception(0)
    assert (result.requested, result.sent, result.acknowledged) == (200, 200, 200)
    assert (found.sent, found.received, found.lost) == (200, 200, 0)
    assert found.latency.count == 200


def test_packet_outs_need_a_running_stream(testbed: LiveTestbed) -> None:
    stream = Stream(FLOWS, 100, Schedule.cbr(1000), source=CONTROL, sink=0)
    with pytest.raises(UsageError, match="not being transmitted"):
        testbed.control.packet_out(stream, 1, 0.1)


def test_echoes_come_back_unchanged(testbed: LiveTestbed) -> None:
    result = testbed.control.echo(Schedule.cbr(500), 0.2).wait()
    assert (result.requested, result.sent) == (100, 100)
    assert result.payload_intact.all()
    assert (result.reply_ns > result.sent_ns).all()
    assert result.closed is None


def test_a_refused_entry_is_named(testbed: LiveTestbed) -> None:
    with pytest.raises(RejectedError, match="message 2 of 2"):
        testbed.control.install(Entry(None, "output:1"), Entry(None, "output:0"))


def test_the_switch_describes_itself(testbed: LiveTestbed) -> None:
    about = testbed.control.describe()
    assert about["openflow"] == testbed.control.version
    assert [p["of_port"] for p in about["ports"]] == [1, 2, 3]
    assert "workers" in testbed.core_plan


def test_a_stream_without_an_end_is_stopped_not_waited_for(testbed: LiveTestbed) -> None:
    transmission = testbed.transmit(Stream(FLOWS, 64, Schedule.cbr(1000), source=0, sink=1), drain_s=0.0)
    with pytest.raises(UsageError, match="stop"):
        transmission.wait()
    with pytest.raises(UsageError, match="has not ended"):
        transmission.reception(0)
    testbed.clock.sleep(0.05)
    transmission.stop()
    assert transmission.reception(0).sent > 10


def test_a_forgotten_transmission_is_ended_by_the_next(testbed: LiveTestbed) -> None:
    testbed.transmit(Stream(FLOWS, 64, Schedule.cbr(1000), source=0, sink=1))
    again = testbed.transmit(Stream(FLOWS, 64, Schedule.cbr(1000), source=0, sink=1, duration_s=0.02))
    again.wait()
    assert again.reception(0).sent == 20


def test_a_switch_that_dies_in_a_trial_is_dut_died() -> None:
    with open_testbed("embedded", OpenOptions("1.3")) as (driver, testbed):
        transmission = testbed.transmit(
            Stream(FLOWS, 64, Schedule.cbr(1000), source=0, sink=1, duration_s=30)
        )
        driver.stop()
        with pytest.raises(DutDiedError):
            transmission.wait()
        with pytest.raises(DutDiedError):
            testbed.transmit(Stream(FLOWS, 64, Schedule.cbr(1000), source=0, sink=1, duration_s=0.1))


def test_a_channel_that_closes_in_a_trial_is_channel_closed() -> None:
    with open_testbed("embedded", OpenOptions("1.3")) as (_, testbed):
        transmission = testbed.transmit(
            Stream(FLOWS, 64, Schedule.cbr(1000), source=0, sink=1, duration_s=30)
        )
        testbed._connection.close()
        with pytest.raises(ChannelClosedError):
            transmission.wait()


def test_reset_empties_the_table() -> None:
    with open_testbed("embedded", OpenOptions("1.3")) as (driver, testbed):
        testbed.control.install(Entry(FLOWS, "drop"))
        driver.reset()
        assert testbed.control.count_entries() == 0


def through(dut: str) -> Measured:
    """Probes through one entry."""
    with open_testbed(dut, OpenOptions("1.3")) as (_, testbed):
        testbed.control.install(Entry(None, "output:2", in_port=1))
        transmission = testbed.transmit(
            Stream(FLOWS, 64, Schedule.cbr(10_000), source=0, sink=1, duration_s=0.3), drain_s=0.3
        )
        transmission.wait()
        return transmission.reception(0), transmission.tester


@pytest.mark.parametrize(("text", "delay_ns"), [("100us", 100_000), ("1ms", 1_000_000)])
def test_a_known_delay_behind_the_switch_is_found_again(text: str, delay_ns: int) -> None:
    """The floor is what tester and switch take without the delay line."""
    impaired = f"embedded:ports=2,delay={text},loss=1000"
    must_find_again(delay_ns, 1000, lambda: through("embedded:ports=2"), lambda: through(impaired))


def test_the_loopback_is_measured_once_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(loopback, "cache_file", lambda: tmp_path / "cache" / "loopback.json")
    measured = []

    def measure(backend: str) -> tuple[Loopback, bool]:
        measured.append(backend)
        when = (
            "2020-01-01T00:00:00+00:00"
            if len(measured) == 1
            else loopback.datetime.now(loopback.UTC).isoformat()
        )
        return Loopback(backend, {64: 1e6}, 100.0, 50.0, when), True

    monkeypatch.setattr(loopback, "measure_steadily", measure)
    for _ in range(3):
        found = loopback.cached("ring")
        assert found is not None
        assert found.max_pps == {64: 1e6}
    assert measured == ["ring", "ring"], "the first was too old, the second is kept"


@pytest.mark.parametrize(("steady", "pps", "taken"), [(True, 1e6, 1), (False, 1e6, 2), (True, 0.0, 2)])
def test_a_loopback_of_a_disturbed_host_is_not_kept(
    steady: bool, pps: float, taken: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(loopback, "cache_file", lambda: tmp_path / "loopback.json")
    measured = []

    def measure(backend: str) -> tuple[Loopback, bool]:
        measured.append(backend)
        now = loopback.datetime.now(loopback.UTC).isoformat()
        return Loopback(backend, {64: pps}, 15_000.0, 50.0, now), steady

    monkeypatch.setattr(loopback, "measure_steadily", measure)
    for _ in range(2):
        assert loopback.cached("ring") is not None
    assert len(measured) == taken


def test_the_loopback_of_rings() -> None:
    found = loopback.measure("ring")
    assert found.max_pps[64] > 10_000
    assert found.delay_ns < 1e6
    assert found.echo_ns is not None


def test_percentiles_of_latency_are_within_the_histogram(testbed: LiveTestbed) -> None:
    testbed.control.install(Entry(None, "output:2", in_port=1))
    transmission = testbed.transmit(
        Stream(FLOWS, 64, Schedule.poisson(5000, seed=1), source=0, sink=1, duration_s=0.1)
    )
    transmission.wait()
    latency = transmission.reception(0).latency
    assert latency.min_ns is not None
    assert latency.max_ns is not None
    median = latency.percentile_ns(50)
    assert median is not None
    assert latency.min_ns <= median <= latency.max_ns * 1.001
    assert np.all(np.diff(latency.values_ns) > 0)


def test_a_benchmark_whose_feature_fails_is_skipped_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A feature test is made for it when none is known of the last day; a known failure skips it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert (
        flowgauge("run", "flow_delete", "--quick", "--set", "flow_delete.entries=[1]", "-o", tmp_path / "one")
        == 0
    )
    (book,) = (tmp_path / "flowgauge" / "features").glob("*.json")
    known = json.loads(book.read_text())
    assert known["flow_mod.delete.strict"]["result"] == "passed"
    known["flow_mod.delete.strict"] |= {"result": "refused", "detail": "OFPFMFC_BAD_COMMAND"}
    book.write_text(json.dumps(known))
    flowgauge("run", "flow_delete", "--quick", "-o", tmp_path / "two")
    (skipped,) = reader.read_document(tmp_path / "two").skipped
    assert (
        skipped.reason
        == "the switch fails the feature test flow_mod.delete.strict (refused: OFPFMFC_BAD_COMMAND)"
    )


def flowgauge(*arguments: object) -> int:
    return subprocess.run(
        [sys.executable, "-m", "flowgauge", *map(str, arguments)], capture_output=True, timeout=120
    ).returncode
