"""Ports as people write them on a command line: `af_packet:eth0`, or `af_packet:eth0@lab` in a network namespace."""

from __future__ import annotations

from collections.abc import Sequence

from flowgauge.duts.interface import PortWiring
from flowgauge.errors import UsageError

BACKENDS = {
    "af_packet": "af_packet:INTERFACE",
    "af_xdp": "af_xdp:INTERFACE",
    "dpdk": "dpdk:DEVICE",
    "ring": "ring",
    "pcap": "pcap:FILE",
}
"""Backend -> how a port of it is written."""


def parse_port(
    text: str,
    netns: str | None = None,
    *,
    option: str = "--port",
    receive: bool = True,
    queues: int | None = None,
) -> PortWiring:
    """How to open it. Raises UsageError.

    >>> parse_port("dpdk:net_ring0").backend, parse_port("af_xdp:veth0", "lab").netns, parse_port("af_xdp:veth0@a", "lab").netns
    ('dpdk', 'lab', 'a')
    """
    backend, colon, device = text.partition(":")
    listed = ", ".join(BACKENDS.values())
    if backend not in BACKENDS:
        advice = f"An interface by packet sockets: {option} af_packet:{text}" if not colon and text else None
        raise UsageError(f"{option} {text}: expected one of {listed}", advice=advice)
    if (backend == "ring") == bool(device):
        raise UsageError(f"{option} {text}: expected {BACKENDS[backend]}")
    if backend == "dpdk":
        # Devices such as net_af_packet look for their interface where they are opened; "@" may be part of their arguments.
        return PortWiring(of_port=0, backend=backend, interface=device, netns=netns, queues=queues)
    if backend not in ("af_packet", "af_xdp"):
        return PortWiring(of_port=0, backend=backend, interface=device, queues=queues)
    interface, at, own = device.partition("@")
    if not interface or (at and not own):
        raise UsageError(f"{option} {text}: expected {BACKENDS[backend]} or {BACKENDS[backend]}@NETNS")
    options = {} if receive else {"receive": False}
    return PortWiring(0, backend, interface, own or netns, options=options, queues=queues)


def check_once(texts: Sequence[str], option: str = "--port") -> None:
    """Each port is opened once. Raises UsageError."""
    for text in texts:
        if texts.count(text) > 1:
            raise UsageError(f"{option} {text} is given {texts.count(text)} times; once is enough")
