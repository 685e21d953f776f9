"""Ports of several queues as Python asks for them: divided streams, files of DUTs, and what is said of mistakes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowgauge import _core
from flowgauge.cli.app import build
from flowgauge.duts.cores import core_plan, plan
from flowgauge.duts.external import External
from flowgauge.duts.interface import TO_US, PortWiring
from flowgauge.errors import ConfigError, TooFewQueuesError, UsageError
from flowgauge.flows import FlowSet, Increment, Schedule
from flowgauge.packets.spread import spread
from flowgauge.packets.streams import Planned
from flowgauge.testbed.interface import Stream
from flowgauge.testbed.openers import OPENERS, SINGLE, open_port
from flowgauge.testbed.transmission import LiveTransmission, spec

FILE = """[control]
listen = "0.0.0.0:6653"
[[port]]
device = "0000:03:00.0"
backend = "dpdk"
of_port = 1
queues = 4
[[port]]
device = "0000:03:00.1"
backend = "dpdk"
of_port = 2
"""


def planned(flows: int, schedule: Schedule, count: int | None = None) -> Planned:
    what = FlowSet({"ipv4_dst": Increment("10.0.0.1")}, count=flows, first=5)
    return Planned(Stream(what, 64, schedule, sink=1, count=count, name="stream 1"), "some flows")


def frames_by_flow(streams: list[Planned]) -> Counter[int]:
    """Frames that each flow gets, in sequential order."""
    found: Counter[int] = Counter()
    for one in streams:
        flows, count = one.stream.flows, one.stream.count
        assert isinstance(flows, FlowSet)
        assert count is not None
        for i in range(flows.count):
            found[flows.first + i] = count // flows.count + (i < count % flows.count)
    return found


@given(flows=st.integers(1, 200), count=st.integers(1, 1000), queues=st.integers(1, 16))
def test_a_divided_stream_sends_the_same_frames(flows: int, count: int, queues: int) -> None:
    whole = planned(flows, Schedule.max(), count)
    parts = spread([whole], queues)
    assert len(parts) <= queues
    assert +frames_by_flow(parts) == +frames_by_flow([whole])
    sizes = [part.stream.flows.count for part in parts]
    assert max(sizes) - min(sizes) <= 1


def test_a_divided_stream_is_told_apart() -> None:
    first, second = spread([planned(9, Schedule.max())], 2)
    assert (first.stream.name, second.stream.name) == ("stream 1, part 1 of 2", "stream 1, part 2 of 2")
    assert (first.title, second.title) == ("flows 1 to 4: some flows", "flows 5 to 9: some flows")
    assert first.stream.count is None


def test_what_is_not_divided_says_why() -> None:
    (paced,) = spread([planned(9, Schedule.cbr(1000))], 4)
    assert "it has a pace" in paced.notes[0]
    (single,) = spread([planned(1, Schedule.max())], 4)
    assert "it has one flow" in single.notes[0]
    both = [planned(9, Schedule.max()), planned(9, Schedule.max())]
    assert spread(both, 2) == spread(both, 3) == both
    assert len(spread(both, 4)) == 4


def test_a_file_of_a_dut_asks_for_queues(tmp_path: Path) -> None:
    path = tmp_path / "lab.toml"
    path.write_text(FILE)
    driver = External(path)
    first, second = driver.start("1.3", TO_US).ports
    assert (first.queues, second.queues) == (4, None)
    assert driver.plan == core_plan(ports=2, queues=4)
    assert [port.get("queues") for port in driver.describe()["ports"]] == [4, None]
    path.write_text(FILE.replace("queues = 4", ""))
    assert External(path).plan == core_plan()


@pytest.mark.parametrize("wrong", ["0", "65", "true", '"4"', "2.0"])
def test_numbers_of_queues_that_make_no_sense(wrong: str, tmp_path: Path) -> None:
    path = tmp_path / "lab.toml"
    path.write_text(FILE.replace("queues = 4", f"queues = {wrong}"))
    with pytest.raises(ConfigError, match="a whole number from 1 to 64") as caught:
        External(path)
    assert "7" in caught.value.message


def test_a_backend_of_one_queue_says_so() -> None:
    for backend in SINGLE:
        with pytest.raises(TooFewQueuesError, match=f"a port of {backend} has one queue, not 2") as caught:
            open_port(PortWiring(1, backend, queues=2), core_plan())
        assert "af_xdp" in str(caught.value.advice)
    assert set(OPENERS) >= SINGLE
    (words,) = (["generate", "--port", "ring", "--queues", "2"],)
    with pytest.raises(UsageError, match="one queue"):
        build(words)(words, prog_name="flowgauge", standalone_mode=False)


@pytest.mark.parametrize(
    ("cores", "polls", "ports", "queues", "workers"),
    [
        (1, False, 2, 2, ()),
        (2, False, 2, 4, (1,)),
        (2, True, 2, 4, (1,)),
        (4, False, 2, 2, (2, 3)),
        (4, True, 2, 2, (2, 3)),
        (8, True, 1, 3, (5, 6, 7)),
        (16, False, 1, 4, (12, 13, 14, 15)),
        (16, True, 2, 4, (8, 9, 10, 11, 12, 13, 14, 15)),
        (16, True, 2, 1, (14, 15)),
    ],
)
def test_queues_get_cores(cores: int, polls: bool, ports: int, queues: int, workers: tuple[int, ...]) -> None:
    found = plan(range(cores), polls=polls, ports=ports, queues=queues)
    assert found.workers == workers
    assert found.channel
    assert not set(found.workers) & {*found.channel, found.dut_pmd}


def test_a_port_of_one_queue_is_given_back_whole() -> None:
    ports = _core.ring_pair(64)
    assert [port.queues for port in ports] == [1, 1]
    stream = Stream(FlowSet(), 64, Schedule.cbr(1000), sink=1, count=3)
    for _ in range(2):
        started = _core.Transmission(ports, [spec(stream, 2)], drain_ns=None, core=None, connection=None)
        transmission = LiveTransmission([stream], started, lambda _channel: None)
        transmission.wait()
        assert transmission.reception().received == 3
    assert ports[1].counters()["rx_frames"] == 6
    ports[1].close()
    with pytest.raises(UsageError, match="in use"):
        _core.Transmission(ports, [spec(stream, 2)], drain_ns=None, core=None, connection=None)
    assert ports[0].describe() == "ring"
