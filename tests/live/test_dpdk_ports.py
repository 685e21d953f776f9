"""DPDK ports from Python, in processes of their own: DPDK starts once in each. Skipped without libdpdk or the shim."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from flowgauge import _core
from flowgauge.errors import DpdkMissingError

PROGRAM = """
import json, os, sys
sys.path[:0] = {path!r}
from flowgauge import _core, errors
from flowgauge.flows import FlowSet, Increment, Schedule
from flowgauge.testbed.interface import Stream
from flowgauge.testbed.transmission import LiveTransmission, spec

def port(device, **options):
    return _core.open_dpdk(device, hugepages="no", memory_mib=128, **options)

def trial(ports, stream):
    started = _core.Transmission(ports, [spec(stream, len(ports))], drain_ns=50_000_000, core=None, connection=None)
    transmission = LiveTransmission([stream], started, lambda channel: None)
    transmission.wait()
    return transmission.reception(0)
"""


@pytest.fixture(autouse=True, scope="module")
def shim() -> None:
    try:
        _core.dpdk_version()
    except DpdkMissingError as missing:
        pytest.skip(f"{missing}; {missing.advice}")


def run(body: str) -> Any:
    """What the body prints, as JSON."""
    program = PROGRAM.format(path=sys.path) + body
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_frames_come_back_from_a_ring_trial_after_trial() -> None:
    counts = run("""
found = []
ring = port("net_ring0")
for _ in range(3):
    flows = FlowSet({"ipv4_dst": Increment("10.0.0.1")}, count=10)
    stream = Stream(flows, 64, Schedule.cbr(10_000), duration_s=0.1)
    reception = trial([ring], stream)
    found.append([reception.sent, reception.received, reception.lost])
ring.close()
again = port("net_ring0")
found.append([again.describe()])
print(json.dumps(found))
""")
    assert counts == [[1000, 1000, 0]] * 3 + [["dpdk net_ring0"]]


def test_a_refused_device_and_a_socket_that_nobody_connects_to(tmp_path: Path) -> None:
    socket = tmp_path / "socket"
    texts = run(f"""
found = []
for device in ("net_nonsense0", "net_virtio_user0,path={socket},server=1"):
    try:
        port(device, link_wait_s=0.3)
    except errors.DpdkError as error:
        found.append([str(error), error.advice])
print(json.dumps(found))
""")
    (refused, advice), (alone, _) = texts
    assert "net_nonsense0" in refused
    assert "dpdk-devbind.py --status" in advice
    assert "nobody connected to its socket within 0.3 s" in alone
    assert not socket.exists()


@pytest.mark.parametrize("cores", [[], [0, 1]])
def test_streams_of_two_queues_come_back_to_one_port(cores: list[int]) -> None:
    found = run(f"""
ring = port("net_ring0", queues=2)
flows = FlowSet({{"ipv4_dst": Increment("10.0.0.1")}}, count=10)
streams = [Stream(flows, 64, Schedule.cbr(10_000), duration_s=0.1) for _ in range(3)]
cores = [core for core in {cores} if core in os.sched_getaffinity(0)]
started = _core.Transmission(
    [ring], [spec(s, 1) for s in streams], drain_ns=50_000_000, core=None, cores=cores, connection=None
)
transmission = LiveTransmission(streams, started, lambda channel: None)
transmission.wait()
receptions = [transmission.reception(i) for i in range(3)]
counts = [[r.sent, r.received, r.lost, r.reordered, r.duplicated] for r in receptions]
print(json.dumps([ring.queues, ring.describe(), counts, ring.counters()["rx_frames"]]))
""")
    assert found == [2, "dpdk net_ring0 (2 queues)", [[1000, 1000, 0, 0, 0]] * 3, 3000]


def test_a_null_device_sends_by_two_queues_and_has_no_more_than_it_has() -> None:
    sent, name, text, advice = run("""
null = port("net_null0,no-rx=1", queues=2)
streams = [Stream(FlowSet(), 64, Schedule.max(), count=50_000) for _ in range(2)]
started = _core.Transmission([null], [spec(s, 1) for s in streams], drain_ns=0, core=None, connection=None)
transmission = LiveTransmission(streams, started, lambda channel: None)
transmission.wait()
sent = [transmission.reception(i).sent for i in range(2)]
try:
    port("net_null1", queues=17)
except errors.TooFewQueuesError as error:
    print(json.dumps([sent, error.name, str(error), error.advice]))
""")
    assert (sent, name) == ([50_000, 50_000], "too-few-queues")
    assert "does not have 17 queues" in text
    assert "queues=17" in advice
