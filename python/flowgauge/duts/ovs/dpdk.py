"""`ovs:dpdk`: Open vSwitch with DPDK; its ports are vhost-user clients of sockets that the tester's virtio-user ports serve.

Open vSwitch and tester are two DPDK processes side by side, each with memory of its own and in no shared file. Hugepages are added for
both and given back at the end; where none can be had, both do without, at some cost in speed. The PMD thread has a core of its own.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flowgauge.duts import hugepages
from flowgauge.duts.interface import PortWiring
from flowgauge.duts.lease import PREFIX, Lease
from flowgauge.duts.options import MTU, Option, one_of, whole, yes_or_no
from flowgauge.duts.ovs.daemons import Daemons
from flowgauge.duts.ovs.datapath import Datapath
from flowgauge.errors import MissingToolError, SetupError

PROGRAM = Path("/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk")
PACKAGE = "openvswitch-switch-dpdk"
DPDK_RUN = Path("/run/dpdk")
"""Where DPDK makes a folder named after the process's file prefix, also when it puts nothing in it."""
TESTER_MIB = 512
"""What the tester's ports take."""
JOIN_S = 10.0
"""Open vSwitch tries once a second to connect."""
SETTLE_S = 1.5
"""A link that has just come up still loses frames for about a second."""


class Dpdk(Datapath):
    """Open vSwitch's user-space datapath on vhost-user ports."""

    name = "ovs:dpdk"
    wire = "vhost-user"
    polls = True
    served_first = True
    tools = tuple(tool for tool in Datapath.tools if tool != "ovs-vswitchd")
    options: Mapping[str, Option] = {
        "ports": Option(whole(2, 16), 2, "2..16 ports"),
        "mtu": MTU,
        "tls": Option(yes_or_no, False, "yes or no"),
        "packed": Option(yes_or_no, True, "yes or no: packed rings"),
        "queues": Option(whole(1, 8), 1, "1..8 queues of each port"),
        "hugepages": Option(one_of("auto", "yes", "no"), "auto", "auto, yes or no"),
        "memory": Option(whole(128, 65536), 512, "128..65536 MiB for Open vSwitch"),
    }

    def __init__(self, values: Mapping[str, Any], *, pinned: bool = True) -> None:
        """`values` of the options; `pinned`: the switch keeps to the DUT's cores."""
        super().__init__(values, pinned=pinned)
        self._home = Path()
        self._huge_mib = 0
        self._prefix = ""

    def check_host(self) -> None:
        """Raises MissingToolError without the program, too."""
        super().check_host()
        find_program()

    def program(self) -> list[str]:
        """Debian's program with DPDK by its path: the host's choice of alternatives stays."""
        return [*self._pin(), str(find_program())]

    def configure(self, lease: Lease, daemons: Daemons) -> None:
        """Hugepages, and the settings of DPDK."""
        self._home = lease.home
        self._huge_mib = self._take_hugepages(lease)
        prefix = f"{PREFIX}{lease.id}"
        self._prefix = f"{prefix}-tester"
        for name in (prefix, self._prefix):
            lease.adopt(DPDK_RUN / name)
        settings = dpdk_settings(
            prefix,
            self._values["memory"],
            huge=self.huge,
            lcore=self.plan.dut[0],
            pmd=self._pmd,
        )
        daemons.vsctl(
            "--no-wait", "set", "Open_vSwitch", ".", *(f"other_config:{k}={v}" for k, v in settings.items())
        )

    @property
    def huge(self) -> bool:
        """Whether DPDK has hugepages."""
        return self._huge_mib > 0

    @property
    def _pmd(self) -> int:
        pmd = self.plan.dut_pmd
        assert pmd is not None, "it polls"
        return pmd

    def cable(self, namespaces: tuple[str, str], numbers: Sequence[int]) -> None:
        """Nothing: sockets appear when the tester opens its ports."""

    def interface(self, number: int) -> str:
        """The switch's name of a port."""
        return f"fg-vhost{number}"

    def settings(self, number: int) -> list[str]:
        """A vhost-user client, which connects and connects again to our socket."""
        return [
            "type=dpdkvhostuserclient",
            f"options:vhost-server-path={self._socket(number)}",
            f"mtu_request={self._values['mtu']}",
        ]

    def port(self, number: int) -> PortWiring:
        """A virtio-user port that serves the socket."""
        queues = self._values["queues"]
        packed = ",packed_vq=1" if self._values["packed"] else ""
        rings = f"queues={queues},queue_size=1024{packed}"
        device = f"net_virtio_user{number},path={self._socket(number)},server=1,{rings}"
        memory = {"memory_mib": TESTER_MIB, "hugepages": "yes" if self.huge else "no"}
        options = {"mtu": self._values["mtu"], "file_prefix": self._prefix, **memory}
        return PortWiring(number, "dpdk", device, options=options, queues=queues if queues > 1 else None)

    def joined(self, daemons: Daemons, numbers: Sequence[int]) -> None:
        """Until Open vSwitch has connected to every socket, and frames pass."""
        deadline = time.monotonic() + JOIN_S
        waiting = list(numbers)
        while waiting:
            up = daemons.vsctl("get", "interface", self.interface(waiting[0]), "link_state").strip() == "up"
            if up:
                waiting.pop(0)
            elif time.monotonic() > deadline or not daemons.alive():
                raise SetupError(
                    f"Open vSwitch did not connect to {self._socket(waiting[0])} within {JOIN_S:g} s",
                    advice="log.txt and the log of Open vSwitch say why",
                )
            else:
                time.sleep(0.05)
        time.sleep(SETTLE_S)

    def describe(self, daemons: Daemons) -> Mapping[str, Any]:
        """DPDK's version and memory, the PMD's core, the rings."""
        return {
            "dpdk": daemons.vsctl("get", "Open_vSwitch", ".", "dpdk_version").strip().strip('"'),
            "hugepages_mib": self._huge_mib,
            "memory_mib": self._values["memory"],
            "pmd_core": self._pmd,
            "packed_rings": self._values["packed"],
            "queues": self._values["queues"],
        }

    def _socket(self, number: int) -> Path:
        return self._home / f"vhost{number}.sock"

    def _take_hugepages(self, lease: Lease) -> int:
        """MiB of hugepages that there are for both processes; 0: do without. Raises SetupError when they must be and are not."""
        need = int(self._values["memory"]) + TESTER_MIB
        choice = self._values["hugepages"]
        if choice == "no":
            return 0
        added = lease.take_hugepages(need) if hugepages.offered() else 0
        if added >= need or hugepages.free_mib() >= need:
            return need
        lease.give_hugepages_back()
        if choice == "yes":
            raise SetupError(
                f"{need} MiB of hugepages are needed; there is room for {added}",
                advice=f"echo {-(-need // hugepages.PER_MIB)} > {hugepages.POOL}/nr_hugepages, soon after boot; or hugepages=no",
            )
        return 0


def dpdk_settings(prefix: str, memory_mib: int, *, huge: bool, lcore: int, pmd: int) -> dict[str, str]:
    """`other_config` for one DPDK process beside others: nothing on the bus is touched, no file is shared.

    >>> dpdk_settings("fg-1", 512, huge=True, lcore=0, pmd=3)["pmd-cpu-mask"]
    '0x8'
    """
    # Open vSwitch adds --in-memory unless --legacy-mem stands there, and DPDK takes it for a contradiction to --no-huge. The pool that
    # all ports share starts at 760 MiB, and is made smaller only where hugepages are short. The limit keeps it off the tester's.
    common = f"--no-pci --file-prefix={prefix}"
    memory = (
        {
            "dpdk-socket-mem": str(memory_mib),
            "dpdk-socket-limit": str(memory_mib),
            "dpdk-extra": f"--in-memory {common}",
        }
        if huge
        else {
            "per-port-memory": "true",
            "dpdk-extra": f"--no-huge --legacy-mem --no-shconf -m {memory_mib} {common}",
        }
    )
    return {
        "dpdk-init": "true",
        "dpdk-lcore-mask": hex(1 << lcore),
        "pmd-cpu-mask": hex(1 << pmd),
        **memory,
    }


def find_program() -> Path:
    """Open vSwitch with DPDK. Raises MissingToolError."""
    if PROGRAM.is_file():
        return PROGRAM
    raise MissingToolError(f"{PROGRAM.name} is not installed", advice=f"apt-get install {PACKAGE}")
