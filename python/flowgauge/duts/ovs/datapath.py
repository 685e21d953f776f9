"""What the datapaths of the driver `ovs` have in common; the plain one, `ovs`: in user space, on veth pairs by AF_PACKET sockets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flowgauge.duts import netns
from flowgauge.duts.cores import CorePlan, core_plan
from flowgauge.duts.host import find_tool, need_root, need_tool
from flowgauge.duts.interface import PortWiring
from flowgauge.duts.lease import Lease
from flowgauge.duts.options import BACKEND, MTU, PORTS, Option, yes_or_no
from flowgauge.duts.ovs.daemons import Daemons, find_schema

TOOLS = ("ip", "ovsdb-tool", "ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovs-ofctl", "ovs-appctl")


class Datapath:
    """The plain datapath, and the base of the others. `name` as on the command line."""

    name = "ovs"
    type = "netdev"
    wire = "veth"
    polls = False
    """Whether a thread of it spins."""
    served_first = False
    """Whether it and the tester run at the highest priority. Not where frames pass through the kernel, whose own threads would wait."""
    tools: Sequence[str] = TOOLS
    options: Mapping[str, Option] = {
        "ports": PORTS,
        "mtu": MTU,
        "tls": Option(yes_or_no, False, "yes or no"),
        "backend": BACKEND,
    }

    def __init__(self, values: Mapping[str, Any], *, pinned: bool = True) -> None:
        """`values` of the options; `pinned`: the switch keeps to the DUT's cores."""
        self._values = values
        self._pinned = pinned
        self._namespaces = ("", "")

    @property
    def plan(self) -> CorePlan:
        """Who runs where."""
        return core_plan(polls=self.polls, ports=self._values["ports"], queues=self._values.get("queues", 1))

    def check_host(self) -> None:
        """Raises SetupError and its kinds when this host can't run it."""
        for name in self.tools:
            need_tool(name)
        find_schema()
        need_root("starting Open vSwitch")

    def program(self) -> list[str]:
        """The switch's program, kept to the DUT's cores."""
        return [*self._pin(), need_tool("ovs-vswitchd")]

    def switch_options(self) -> list[str]:
        """Options of the switch's program."""
        return ["--disable-system", "--disable-system-route"]

    def configure(self, lease: Lease, daemons: Daemons) -> None:
        """What must be set in the database before the switch starts."""

    def cable(self, namespaces: tuple[str, str], numbers: Sequence[int]) -> None:
        """Make the wires between the namespaces of DUT and tester."""
        dut, tester = self._namespaces = namespaces
        for number in numbers:
            netns.veth(((dut, self.interface(number)), (tester, tester_end(number))), self._values["mtu"])

    def interface(self, number: int) -> str:
        """The switch's name of a port."""
        return f"fg-dut{number}"

    def settings(self, number: int) -> list[str]:
        """Columns of a port's interface in the database."""
        return []

    def port(self, number: int) -> PortWiring:
        """The tester's end of a wire."""
        return PortWiring(number, self._values["backend"], tester_end(number), netns=self._namespaces[1])

    def joined(self, daemons: Daemons, numbers: Sequence[int]) -> None:
        """Until the wires are up, once the tester has opened its ends."""

    def describe(self, daemons: Daemons) -> Mapping[str, Any]:
        """What is peculiar to it, for the record."""
        return {}

    def _pin(self) -> list[str]:
        """The command that keeps what follows to the DUT's cores; nothing where it is not installed."""
        cores, taskset = self.plan.dut, find_tool("taskset")
        return [taskset, "-c", ",".join(map(str, cores))] if self._pinned and cores and taskset else []


def tester_end(number: int) -> str:
    """The tester's end of a veth pair."""
    return f"fg-test{number}"
