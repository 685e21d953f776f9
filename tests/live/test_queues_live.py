"""Ports of several queues on veth pairs: streams are spread, and what arrives by any queue counts as one port's arrivals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live_helpers import ip, veth_of_queues

from flowgauge import _core
from flowgauge.duts import netns
from flowgauge.duts.cores import core_plan
from flowgauge.duts.interface import PortWiring
from flowgauge.duts.lease import Lease
from flowgauge.errors import SetupError, TooFewQueuesError
from flowgauge.flows import FlowSet, Increment, Schedule
from flowgauge.testbed.interface import Stream
from flowgauge.testbed.openers import open_port
from flowgauge.testbed.transmission import LiveTransmission, spec

pytestmark = pytest.mark.live

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "python")}
FLOWS = FlowSet({"ipv4_dst": Increment("10.0.0.1"), "udp_dst": 7}, count=64)


@pytest.fixture
def space() -> Iterator[str]:
    """A namespace with the pair `va`, `vb`, each end with two queues."""
    with veth_of_queues(2) as name:
        yield name


def _open(backend: str, space: str) -> list[_core.Port]:
    wirings = [PortWiring(n, backend, end, space, queues=2) for n, end in enumerate(("va", "vb"))]
    try:
        return [open_port(wiring, core_plan()) for wiring in wirings]
    except TooFewQueuesError:
        raise
    except SetupError as error:
        pytest.skip(f"no {backend} here: {error}")


@pytest.mark.parametrize("backend", ["af_xdp", "af_packet"])
@pytest.mark.parametrize("cores", [[], sorted(os.sched_getaffinity(0))[-2:]])
def test_streams_of_two_queues_arrive_whole(backend: str, cores: list[int], space: str) -> None:
    ports = _open(backend, space)
    try:
        assert [port.queues for port in ports] == [2, 2]
        assert "(2 queues" in ports[0].describe()
        there = Stream(FLOWS, 64, Schedule.cbr(5000), source=0, sink=1, count=1000, record=100)
        back = Stream(FLOWS, 64, Schedule.cbr(5000), source=1, sink=0, count=1000)
        streams = [there, there, back]
        specs = [spec(stream, 2) for stream in streams]
        for _ in range(2):
            started = _core.Transmission(ports, specs, drain_ns=None, core=None, cores=cores, connection=None)
            transmission = LiveTransmission(streams, started, lambda _channel: None)
            transmission.wait()
            for number in range(3):
                found = transmission.reception(number)
                counts = (found.sent, found.received, found.lost, found.duplicated, found.reordered)
                assert counts == (1000, 1000, 0, 0, 0)
                assert found.latency.count == 1000
                assert (found.first_arrival_ns >= 0).all()
            assert len(transmission.reception(0).arrivals_seq) == 100
            assert len(transmission.tester.foreign) == 2, "by port, not by queue"
        assert ports[0].counters()["tx_frames"] == 4000
    finally:
        for port in ports:
            port.close()


@pytest.mark.parametrize("backend", ["af_xdp", "af_packet"])
def test_generate_divides_a_stream_and_counts_all(backend: str, space: str) -> None:
    words = ["--netns", space, "--queues", "2", "--flows", "ipv4_dst=10.0.0.1..10.0.0.50", "--count", "2000"]
    found = _generate(f"{backend}:va", "--receive", f"{backend}:vb", *words)
    assert [stream["name"] for stream in found["streams"]] == [
        "stream 1, part 1 of 2",
        "stream 1, part 2 of 2",
    ]
    assert [stream["sent"] for stream in found["streams"]] == [1000, 1000]
    together = found["together"]
    assert together["sent"] == 2000 == together["received"] + together["lost"]
    assert "(2 queues" in found["port"]
    assert "(2 queues" in found["receive_port"]


def test_capture_reads_all_queues_of_a_port(space: str, tmp_path: Path) -> None:
    file = tmp_path / "got.pcapng"
    words = ["--netns", space, "--queues", "2", "--probes", "--json", "-w", str(file), "--duration", "10"]
    capture = subprocess.Popen(
        [sys.executable, "-m", "flowgauge", "capture", "--port", "af_packet:vb", *words, "--count", "400"],
        stdout=subprocess.PIPE, text=True, env=ENVIRONMENT,
    )  # fmt: skip
    while not (file.exists() and file.stat().st_size):
        assert capture.poll() is None
    flows = ["--flows", "ipv4_dst=10.0.0.1..10.0.0.64", "--rate", "5k", "--count", "400"]
    _generate("af_packet:va", "--netns", space, *flows)
    out, _ = capture.communicate(timeout=20)
    found = json.loads(out)
    (port,) = found["ports"]
    assert (port["frames"] >= 400, port["dropped"]) == (True, 0)
    (probes,) = found["probes"]
    assert probes["received"] >= 390, "the kernel's own chatter may count as some of the 400 frames"
    assert probes["reordered"] is None


@pytest.mark.parametrize("options", [[], ["--receive", "af_xdp:vb"]])
def test_a_port_with_fewer_queues_says_how_it_gets_more(options: list[str], space: str) -> None:
    words = ["generate", "--port", "af_xdp:va", *options, "--netns", space, "--queues", "3", "--count", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "flowgauge", *words], capture_output=True, text=True, env=ENVIRONMENT, check=False
    )  # fmt: skip
    assert done.returncode == 3
    assert "does not have 3 queues, but 2" in done.stderr
    assert f"`ip netns exec {space} ethtool -L va combined 3`" in " ".join(done.stderr.split())


def test_the_file_of_a_dut_asks_for_queues(tmp_path: Path) -> None:
    lease = Lease.take("queues")
    switch = None
    try:
        space = netns.add(lease, "lab")
        ip(space, "link set lo up")
        text = '[control]\nlisten = "127.0.0.1:6653"\n'
        for n, end in enumerate("ab", 1):
            queues = "numrxqueues 2 numtxqueues 2"
            ip(space, f"link add t{end} {queues} type veth peer name s{end} {queues}")
            for side in "ts":
                ip(space, f"link set {side}{end} up")
            text += f'[[port]]\ninterface = "t{end}"\nof_port = {n}\nbackend = "af_packet"\nqueues = 2\n'
        file, run = tmp_path / "lab.toml", tmp_path / "run"
        file.write_text(text)
        inside = ["ip", "netns", "exec", space, sys.executable, "-m", "flowgauge"]
        ports = ["--port", "sa", "--port", "sb", "--controller", "tcp:127.0.0.1:6653"]
        switch = subprocess.Popen([*inside, "switch", *ports], env=ENVIRONMENT, stdout=subprocess.DEVNULL)
        settings = ["duration_s=0.2", "repeats=1", "rates_mbps=[1]", "frame_sizes=[100]"]
        words = ["data_path_delay", *(w for s in settings for w in ("--set", f"data_path_delay.{s}"))]
        done = subprocess.run(
            [*inside, "run", *words, "--dut", str(file), "-o", str(run)],
            env=ENVIRONMENT, capture_output=True, text=True, timeout=100, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        record = json.loads((run / "run.json").read_text())
        assert [port["queues"] for port in record["dut"]["ports"]] == [2, 2]
        assert "(2 queues)" in json.dumps(record["environment"])
    finally:
        if switch is not None:
            switch.terminate()
            switch.wait(10)
        lease.end()


def _generate(port: str, *words: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "flowgauge", "generate", "--port", port, "--json", *words],
        capture_output=True, text=True, env=ENVIRONMENT, timeout=60, check=False,
    )  # fmt: skip
    if done.returncode == 3 and "af_xdp" in port:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
