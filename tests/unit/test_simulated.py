"""The simulated testbed: what a model says is what a benchmark finds, and what can't be is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from flowgauge.benchmarks.common import probe_flows
from flowgauge.duts import DRIVERS, create
from flowgauge.errors import (
    ChannelClosedError,
    ConfigError,
    RejectedError,
    ReplyTimeoutError,
    UnknownNameError,
    UsageError,
)
from flowgauge.flows import Schedule
from flowgauge.testbed import open_testbed, recover
from flowgauge.testbed.interface import CONTROL, Entry, OpenOptions, Stream
from flowgauge.testbed.simulated import SimulatedTestbed


@contextmanager
def simulated(folder: Path, model: str, version: str = "1.3") -> Iterator[SimulatedTestbed]:
    """A testbed on a model's text."""
    path = folder / "device.toml"
    path.write_text(model)
    with open_testbed(f"sim:{path}", OpenOptions(openflow=version)) as (_, testbed):
        assert isinstance(testbed, SimulatedTestbed)
        yield testbed


def test_frames_take_as_long_as_the_model_says_and_time_stands_still_meanwhile(tmp_path: Path) -> None:
    with simulated(
        tmp_path, "[link]\nrate_mbps = 1000\n[forwarding]\nlatency = { mean_ns = 5000 }"
    ) as testbed:
        testbed.control.add_flows("in_port=1,actions=output:2")
        before = testbed.clock.now()
        stream = Stream(probe_flows(), 100, Schedule.cbr(1000), source=0, sink=1, duration_s=0.1)
        transmission = testbed.transmit(stream)
        assert testbed.clock.now() == before
        transmission.wait()
        found = transmission.reception(0)
        assert (found.sent, found.received, found.requested) == (100, 100, 100)
        # Stored and forwarded: the frame once, then the latency.
        assert (found.latency.min_ns, found.latency.max_ns) == (5800, 5800)
        assert transmission.tester.rx_dropped == 0
        assert testbed.clock.now() - before >= 100_000_000


def test_the_control_path_takes_as_long_as_the_model_says(tmp_path: Path) -> None:
    model = "[control]\ndelay = { mean_ns = 100000 }\necho = { mean_ns = 50000 }\n[table]\nwrite = { mean_ns = 1000000 }"
    with simulated(tmp_path, model) as testbed:
        echoes = testbed.control.echo(Schedule.cbr(100), 0.1).wait()
        assert set(echoes.reply_ns - echoes.sent_ns) == {250_000}
        assert echoes.payload_intact.all()
        flows = probe_flows(10)
        added = testbed.control.add(Entry(flows, "output:2")).wait()
        assert (added.barrier_ns or 0) - (added.first_byte_ns or 0) == 10_200_000
        assert testbed.control.count_entries() == 10


@pytest.mark.parametrize("version", ["1.0", "1.3", "1.4", "1.5"])
def test_packet_ins_and_packet_outs_are_accounted_for(tmp_path: Path, version: str) -> None:
    model = "[control.packet_in]\nlatency = { mean_ns = 30000 }\n[control.packet_out]\nlatency = { mean_ns = 20000 }"
    with simulated(tmp_path, model, version) as testbed:
        assert testbed.control.version == version
        if version != "1.0":
            testbed.control.install_table_miss("CONTROLLER:65535")
        testbed.control.set_miss_send_len(65535)
        punts = testbed.transmit(
            Stream(probe_flows(), 100, Schedule.cbr(1000), source=0, sink=CONTROL, duration_s=0.1)
        )
        punts.wait()
        found = punts.reception(0)
        assert (found.sent, found.received, found.packet_in_bytes_min) == (100, 100, 96)
        assert found.latency.min_ns == 30_080
        stream = Stream(probe_flows(), 100, Schedule.cbr(1000), source=CONTROL, sink=0)
        outs = testbed.transmit(stream)
        played = testbed.control.packet_out(stream, testbed.ports[0].of_port, 0.1).wait()
        outs.stop()
        found = outs.reception(0)
        assert (played.acknowledged, found.sent, found.received) == (100, 100, 100)
        # To the first bit: the cable has no length.
        assert found.latency.min_ns == found.latency.max_ns == 20_000


def test_a_full_table_a_silent_switch_and_a_restart_are_told(tmp_path: Path) -> None:
    with simulated(tmp_path, "[table]\nentries = 5") as testbed, pytest.raises(RejectedError):
        testbed.control.install(Entry(probe_flows(6), "drop"))
    with simulated(tmp_path, "[control]\nmessage = { mean_ns = 1e12 }") as testbed:
        before = testbed.clock.now()
        with pytest.raises(ReplyTimeoutError):
            testbed.control.echo(Schedule.cbr(10), 0.2).wait(2.0)
        assert testbed.clock.now() - before == 2_000_000_000
    with simulated(tmp_path, "[control]\nrestart_s = 2") as testbed:
        testbed.control.install(Entry(probe_flows(6), "drop"))
        testbed.clock.sleep(5)
        assert not testbed.connected
        with pytest.raises(ChannelClosedError):
            testbed.control.count_entries()


def test_counters_are_told_as_the_model_says(tmp_path: Path) -> None:
    model = '[statistics]\nrefresh_ms = 1000\nresolution = "bytes"'
    with simulated(tmp_path, model) as testbed:
        testbed.control.add_flows("in_port=1,actions=output:2")
        stream = Stream(probe_flows(), 100, Schedule.cbr(1000), source=0, sink=1, duration_s=0.2)
        testbed.transmit(stream).wait()
        assert "n_packets=0, n_bytes=0" in testbed.control.dump_flows()[0]
        testbed.clock.sleep(1.0)
        assert "n_packets=0, n_bytes=19200" in testbed.control.dump_flows()[0]


def test_trials_do_not_depend_on_what_was_measured_before(tmp_path: Path) -> None:
    model = '[forwarding]\nlatency = { mean_ns = 5000, kind = "exponential" }'

    def delays(testbed: SimulatedTestbed, trial: str) -> np.ndarray:
        testbed.begin(trial)
        assert testbed.control.count_entries() == 0
        testbed.control.add_flows("in_port=1,actions=output:2")
        stream = Stream(probe_flows(), 100, Schedule.cbr(1000), source=0, sink=1, duration_s=0.1, record=100)
        transmission = testbed.transmit(stream)
        transmission.wait()
        return transmission.reception(0).arrivals_rx_ns

    with simulated(tmp_path, model) as testbed:
        first, second, again = (delays(testbed, trial) for trial in "aba")
    assert (first == again).all()
    assert not (first == second).all()


def test_names_files_and_options_that_cannot_be_are_refused(tmp_path: Path) -> None:
    assert "sim" in DRIVERS
    assert recover("sim:ideal") == []
    with pytest.raises(UnknownNameError, match="ideal"):
        create("sim:wheel")
    with pytest.raises(UsageError, match="sim:ideal"):
        create("sim")
    with pytest.raises(ConfigError, match="ports"):
        create("sim:ideal,ports=1")
    path = tmp_path / "bad.toml"
    path.write_text("[table]\nwrite = { mean_ns = -1 }")
    with pytest.raises(ConfigError, match=r"bad\.toml.*table\.write\.mean_ns"):
        create(f"sim:{path}")
    with (
        pytest.raises(UsageError, match="built-in"),
        open_testbed("sim:ideal", OpenOptions(controller="ovs-ofctl")),
    ):
        pass
    with open_testbed("sim:ideal,ports=8", OpenOptions()) as (driver, testbed):
        assert len(testbed.ports) == 8
        assert driver.describe()["model"] == "ideal"
