"""Drivers: they start, wire, reset, describe and stop a DUT."""

from __future__ import annotations

from pathlib import Path

from flowgauge.duts.interface import Driver
from flowgauge.duts.simulated import is_simulated
from flowgauge.names import unknown

DRIVERS = {
    "embedded": "our software switch in this process over ring ports: no root, no set-up",
    "ovs": "a private Open vSwitch, user-space datapath, on veth pairs in namespaces of its own: needs root",
    "ovs:afxdp": "the same with AF_XDP sockets and a thread that polls them",
    "ovs:dpdk": "Open vSwitch with DPDK: vhost-user ports, one polling thread, hugepages set up and given back",
    "ovs:kernel": "Open vSwitch with its datapath in the kernel: needs the module openvswitch",
    "linux-bridge": "the kernel's Ethernet bridge on veth pairs, without OpenFlow: needs root",
    "sim": "a simulated device in virtual time, `sim:MODEL` (flowgauge models list) or `sim:FILE.toml`: no root, no set-up",
}
"""Name -> what it is. Anything that ends in `.toml` describes a switch of yours."""


def create(dut: str) -> Driver:
    """The driver for a DUT as the command line names it: `embedded`, `ovs`, either with `:option=value,...`, `sim:MODEL`, or a TOML file.

    Nothing is started. Raises UnknownNameError or ConfigError.
    """
    if is_simulated(dut):
        from flowgauge.duts.simulated import Simulated

        return Simulated(dut)
    if dut.endswith(".toml"):
        from flowgauge.duts.external import External

        return External(Path(dut))
    name, _, options = dut.partition(":")
    if name == "embedded":
        from flowgauge.duts.embedded import Embedded

        return Embedded(options)
    if name == "ovs":
        from flowgauge.duts.openvswitch import OpenVSwitch

        return OpenVSwitch(options)
    if name == "linux-bridge":
        from flowgauge.duts.linux_bridge import LinuxBridge

        return LinuxBridge(options)
    raise unknown("DUT", name, [*DRIVERS, "FILE.toml"])
