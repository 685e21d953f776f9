"""Ports as people write them on a command line: `af_packet:eth0`."""

from __future__ import annotations

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
    text: str, netns: str | None = None, *, option: str = "--port", receive: bool = True
) -> PortWiring:
    """How to open it. Raises UsageError.

    >>> parse_port("af_xdp:veth0", "lab").interface, parse_port("dpdk:net_ring0").backend
    ('veth0', 'dpdk')
    """
    backend, colon, device = text.partition(":")
    listed = ", ".join(BACKENDS.values())
    if backend not in BACKENDS:
        advice = f"An interface by packet sockets: {option} af_packet:{text}" if not colon and text else None
        raise UsageError(f"{option} {text}: expected one of {listed}", advice=advice)
    if (backend == "ring") == bool(device):
        raise UsageError(f"{option} {text}: expected {BACKENDS[backend]}")
    # The namespace is of interfaces; files, rings and DPDK's devices are in none.
    if backend not in ("af_packet", "af_xdp"):
        return PortWiring(of_port=0, backend=backend, interface=device)
    options = {} if receive else {"receive": False}
    return PortWiring(of_port=0, backend=backend, interface=device, netns=netns, options=options)
