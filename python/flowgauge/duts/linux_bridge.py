"""`linux-bridge`: the kernel's Ethernet bridge on veth pairs, in namespaces of its own. It forwards by addresses that it learns, and has
no OpenFlow: what needs flow entries or messages is skipped.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

from flowgauge.duts import netns
from flowgauge.duts.cores import core_plan
from flowgauge.duts.host import call, need_root, need_tool
from flowgauge.duts.interface import TO_US, Leads, PortWiring, Wiring
from flowgauge.duts.lease import NETNS_DIR, Lease
from flowgauge.duts.options import BACKEND, MTU, Option, parse, whole
from flowgauge.errors import ConfigError

BRIDGE = "fg-br"
NO_OPENFLOW = "none"
"""The only "version" that it has."""
AGEING_CS = 360_000
"""An hour in hundredths of a second: no address is forgotten during a trial."""
OPTIONS = {
    "ports": Option(whole(2, 64), 2, "2..64 ports"),
    "mtu": MTU,
    "backend": BACKEND,
}


class LinuxBridge:
    """The driver `linux-bridge`; options as in `linux-bridge:ports=3,backend=af_xdp`."""

    name = "linux-bridge"
    versions = (NO_OPENFLOW,)

    def __init__(self, options: str = "") -> None:
        """`options` as on the command line. Raises ConfigError. Nothing is started."""
        self._options = parse(self.name, options, OPTIONS)
        self._lease: Lease | None = None
        self._namespace = ""

    def start(self, version: str, leads: Leads = TO_US) -> Wiring:
        """Make bridge and wires. Raises ConfigError when OpenFlow or a controller is asked for."""
        if version != NO_OPENFLOW or leads.to != "us":
            raise ConfigError(
                "linux-bridge has no OpenFlow",
                advice="leave --openflow and --controller out; or choose another DUT",
            )
        check_host()
        self._lease = Lease.take("Linux bridge")
        try:
            return self._wire(self._lease)
        except BaseException:
            self.stop()
            raise

    def reset(self) -> None:
        """Forget the learnt addresses."""
        call(["ip", "-n", self._namespace, "link", "set", BRIDGE, "type", "bridge", "fdb_flush"])

    def settle(self) -> None:
        """It has no entries."""

    def describe(self) -> Mapping[str, Any]:
        """The kernel, which is its version, and its ports."""
        return {
            "kind": "Linux bridge",
            "driver": self.name,
            "version": platform.release(),
            "spanning_tree": False,
            "multicast_snooping": False,
            "ports": [
                {"of_port": n, "interface": _dut_end(n), "wire": "veth", "mtu": self._options["mtu"]}
                for n in self._numbers()
            ],
            "cores": list(core_plan().dut),
        }

    def alive(self) -> bool:
        """Whether it is there: the kernel does not stop."""
        return self._lease is not None and (NETNS_DIR / self._namespace).exists()

    def stop(self) -> None:
        """Remove the namespaces, and with them bridge and wires."""
        if self._lease is not None:
            self._lease.end()
            self._lease = None

    def _wire(self, lease: Lease) -> Wiring:
        dut, tester = netns.add(lease, "dut"), netns.add(lease, "test")
        self._namespace = dut
        settings = f"stp_state 0 mcast_snooping 0 ageing_time {AGEING_CS} forward_delay 0".split()
        call(["ip", "-n", dut, "link", "add", BRIDGE, "type", "bridge", *settings])
        for number in self._numbers():
            ends = ((dut, _dut_end(number)), (tester, _tester_end(number)))
            netns.veth(ends, self._options["mtu"])
            call(["ip", "-n", dut, "link", "set", _dut_end(number), "master", BRIDGE])
        call(["ip", "-n", dut, "link", "set", BRIDGE, "mtu", str(self._options["mtu"]), "arp", "off", "up"])
        ports = (
            PortWiring(n, self._options["backend"], _tester_end(n), netns=tester) for n in self._numbers()
        )
        return Wiring(tuple(ports), None)

    def _numbers(self) -> range:
        return range(1, self._options["ports"] + 1)


def check_host() -> None:
    """Raises MissingToolError or PermissionNeededError when this host can't run it."""
    need_tool("ip")
    need_root("making a bridge")


def _dut_end(number: int) -> str:
    return f"fg-dut{number}"


def _tester_end(number: int) -> str:
    return f"fg-test{number}"
