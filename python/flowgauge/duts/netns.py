"""Network namespaces of our own, and veth pairs whose ends are born in them: the host's own namespace is never touched."""

from __future__ import annotations

from flowgauge.duts.host import call, find_tool
from flowgauge.duts.lease import Lease

_OFFLOADS = ("rx", "tx", "sg", "tso", "gso", "gro")


def add(lease: Lease, role: str) -> str:
    """Make a namespace `fg-<lease>-<role>` that is silent: no IPv6, so no neighbour discovery or router solicitation."""
    name = lease.namespace(role)
    call(["ip", "netns", "add", name])
    quiet = "for f in all default; do echo 1 > /proc/sys/net/ipv6/conf/$f/disable_ipv6; done"
    call(["ip", "netns", "exec", name, "sh", "-c", f"[ ! -d /proc/sys/net/ipv6 ] || {{ {quiet}; }}"])
    call(["ip", "-n", name, "link", "set", "lo", "up"])
    return name


def veth(ends: tuple[tuple[str, str], tuple[str, str]], mtu: int) -> None:
    """Make a veth pair; each end is (namespace, interface name).

    ARP is off, so that only our frames travel; offloads are off where ethtool is there, so that each frame carries
    its own checksum. Receive packet steering and reverse-path filters stay as they are.
    """
    (ns_a, a), (ns_b, b) = ends
    call(["ip", "link", "add", a, "netns", ns_a, "type", "veth", "peer", "name", b, "netns", ns_b])
    for namespace, interface in ends:
        call(["ip", "-n", namespace, "link", "set", interface, "mtu", str(mtu), "arp", "off"])
        if find_tool("ethtool"):
            switches = [word for name in _OFFLOADS for word in (name, "off")]
            call(["ip", "netns", "exec", namespace, "ethtool", "-K", interface, *switches])
        call(["ip", "-n", namespace, "link", "set", interface, "up"])
