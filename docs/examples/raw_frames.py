"""Raw frames over an in-process ring: made by scapy, sent byte for byte, counted and timed by their probes."""

from scapy.all import IP, UDP, Ether

from flowgauge import _core
from flowgauge.flows import Frames, Schedule
from flowgauge.testbed.interface import Reception, Stream
from flowgauge.testbed.transmission import LiveTransmission, spec


def send(frames: Frames, count: int) -> Reception:
    """Send frames in turn at 10 000 per second, and say what came of them."""
    stream = Stream(frames, 64, Schedule.cbr(10_000), source=0, sink=1, count=count)
    core = _core.Transmission(_core.ring_pair(4096), [spec(stream, 2)], drain_ns=None, core=None, connection=None)
    transmission = LiveTransmission([stream], core, lambda _channel: None)
    transmission.wait()
    return transmission.reception()


packets = [Ether() / IP(dst=f"10.0.0.{i}") / UDP(dport=7) / bytes(18 + i) for i in range(1, 9)]

if __name__ == "__main__":
    result = send(Frames.of(*packets, probe=True), count=800)
    print(f"sent {result.sent}, lost {result.lost}, median delay {result.latency.percentile_ns(50)} ns")
