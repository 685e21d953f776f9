"""`ovs`: a private Open vSwitch, wired to the tester.

Own processes, own database, own run directory, own network namespaces (one for the switch, one for the tester's
ends); the machine's Open vSwitch, interfaces and firewall are never touched. The switch connects to the tester's
OpenFlow listener on the loopback of its own namespace. To somebody else's controller, which it can't reach from there, it is
joined by a relay on a socket in its run directory. What differs between its datapaths is in `flowgauge.duts.ovs`.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flowgauge.duts import netns, pki
from flowgauge.duts.cores import CorePlan
from flowgauge.duts.host import call, need_tool
from flowgauge.duts.interface import TO_US, ControlWiring, Leads, TlsFiles, Wiring
from flowgauge.duts.lease import Lease
from flowgauge.duts.options import parse
from flowgauge.duts.ovs.afxdp import Afxdp
from flowgauge.duts.ovs.daemons import START_S, Daemons
from flowgauge.duts.ovs.datapath import Datapath
from flowgauge.duts.ovs.dpdk import Dpdk
from flowgauge.duts.ovs.kernel import Kernel
from flowgauge.duts.relay import Relay
from flowgauge.errors import ConfigError, SetupError

BRIDGE = "fg-br"
OPENFLOW_PORT = 6653
PROTOCOLS = {"1.0": "OpenFlow10", "1.3": "OpenFlow13", "1.4": "OpenFlow14", "1.5": "OpenFlow15"}
DATAPATHS: Mapping[str, type[Datapath]] = {"afxdp": Afxdp, "dpdk": Dpdk, "kernel": Kernel}
"""As in `ovs:dpdk,ports=2`; without a word it is the plain one."""


class OpenVSwitch:
    """The drivers `ovs`, `ovs:afxdp`, `ovs:dpdk`, `ovs:kernel`, with options as in `ovs:ports=4,mtu=9000`, `ovs:dpdk,ports=2`."""

    def __init__(self, options: str = "", *, pinned: bool = True) -> None:
        """`options` as on the command line; `pinned`: keep to the DUT's cores. Raises ConfigError. Nothing is started."""
        word, _, rest = options.partition(",")
        known = DATAPATHS.get(word)
        if known is None and word and "=" not in word:
            raise ConfigError(f"ovs has no datapath {word!r}; it has: {', '.join(DATAPATHS)}")
        kind = known or Datapath
        values = parse(kind.name, options if known is None else rest, kind.options)
        self._datapath = kind(values, pinned=pinned)
        self.name = kind.name
        self._ports: int = values["ports"]
        self._mtu: int = values["mtu"]
        self._tls: bool = values["tls"]
        self._files: TlsFiles | None = None
        self._version = "1.3"
        self._lease: Lease | None = None
        self._daemons: Daemons | None = None
        self._home = Path()
        self._namespaces = ("", "")
        self._leads = TO_US
        self._relay: Relay | None = None

    @property
    def plan(self) -> CorePlan:
        """Who runs where."""
        return self._datapath.plan

    @property
    def served_first(self) -> bool:
        """Whether it and the tester are to run at the highest priority: it inherits that of who starts it."""
        return self._datapath.served_first

    def check_host(self) -> None:
        """Raises SetupError and its kinds when this host can't run it."""
        self._datapath.check_host()
        if self._tls:
            pki.check_host()

    def start(self, version: str, leads: Leads = TO_US) -> Wiring:
        """Start Open vSwitch for OpenFlow `version`; its bridge holds no entries, and drops what matches none."""
        if version not in PROTOCOLS:
            raise ConfigError(f"ovs: OpenFlow {version} is not offered; allowed: {', '.join(PROTOCOLS)}")
        self.check_host()
        self._version = version
        self._leads = leads
        self._lease = Lease.take("Open vSwitch")
        try:
            self._home = self._lease.directory(Path(tempfile.gettempdir()))
            self._namespaces = netns.add(self._lease, "dut"), netns.add(self._lease, "test")
            self._datapath.cable(self._namespaces, self._numbers())
            self._start_daemons(self._lease)
            if leads.to == "other":
                self._relay = Relay.listening(self._home / f"{BRIDGE}.controller", (leads.host, leads.port))
            self._make_bridge()
        except BaseException:
            self.stop()
            raise
        return self._wiring()

    def joined(self) -> None:
        """Until the switch's ends of the wires are up, once the tester has opened its own. Raises SetupError."""
        self._datapath.joined(self._running, self._numbers())

    def reset(self) -> None:
        """Remove all entries, groups and meters through the switch's management socket, not through our channel."""
        kinds = ("flows",) if self._version == "1.0" else ("flows", "groups", "meters")
        for kind in kinds:
            self._running.ofctl("-O", PROTOCOLS[self._version], f"del-{kind}", self._management())

    def settle(self) -> None:
        """Empty the datapath's cache of decisions, which outlives a barrier for a moment; its counters go to the entries."""
        self._running.appctl("revalidator/purge")

    def describe(self) -> Mapping[str, Any]:
        """Version, datapath, configuration, ports and cores."""
        daemons = self._running
        return {
            "kind": "Open vSwitch",
            "driver": self.name,
            "version": _version_of(daemons.appctl("version")),
            "datapath_type": self._datapath.type,
            "datapath": _words(daemons.appctl("dpif/show")),
            "other_config": daemons.vsctl("get", "Open_vSwitch", ".", "other_config").strip(),
            "bridge": {
                "fail_mode": "secure",
                "protocols": PROTOCOLS[self._version],
                "controller": f"{controller}, out of band" if (controller := self._controller) else "none",
            },
            "ports": [
                {
                    "of_port": n,
                    "interface": self._datapath.interface(n),
                    "wire": self._datapath.wire,
                    "mtu": self._mtu,
                }
                for n in self._numbers()
            ],
            "cores": list(self.plan.dut),
            "served_first": self.served_first,
            **self._datapath.describe(daemons),
        }

    def alive(self) -> bool:
        """Whether both daemons run."""
        return self._daemons is not None and self._daemons.alive()

    def stop(self) -> None:
        """End the daemons by their numbers, and remove namespaces and directories."""
        relay, self._relay = self._relay, None
        if relay is not None:
            relay.close()
        if self._daemons is not None:
            self._daemons.stop()
        if self._lease is not None:
            self._lease.end()
            self._lease = None

    def listen(self, port: int) -> None:
        """Let the bridge take controllers' connections on the loopback of its namespace (and connect to none itself)."""
        self._running.vsctl("set-controller", BRIDGE, f"ptcp:{port}:127.0.0.1")
        deadline = time.monotonic() + START_S
        while not self._answers(f"tcp:127.0.0.1:{port}"):
            if time.monotonic() > deadline:
                raise SetupError(f"Open vSwitch does not listen on port {port}: {self.log()}")
            time.sleep(0.05)

    def _answers(self, target: str) -> bool:
        inside = ["ip", "netns", "exec", self._namespaces[0], need_tool("ovs-ofctl")]
        try:
            call([*inside, "-O", PROTOCOLS[self._version], "show", target])
        except SetupError:
            return False
        return True

    @property
    def namespaces(self) -> tuple[str, str]:
        """The network namespaces of the switch and of the tester's ends, while started."""
        return self._namespaces

    @property
    def pids(self) -> Mapping[str, int]:
        """Process numbers by program, for tests that kill one."""
        return self._running.pids

    def vsctl(self, *argv: str) -> str:
        """`ovs-vsctl` on its database, for what only one experiment needs."""
        return self._running.vsctl(*argv)

    def appctl(self, *argv: str) -> str:
        """`ovs-appctl` on it."""
        return self._running.appctl(*argv)

    def log(self) -> str:
        """The end of the daemon's log, for the reason of a death."""
        return "" if self._daemons is None else self._daemons.log()

    @property
    def _running(self) -> Daemons:
        assert self._daemons is not None, "it is started"
        return self._daemons

    def _start_daemons(self, lease: Lease) -> None:
        self._daemons = Daemons(lease, self._home, self._namespaces[0])
        self._daemons.start_database()
        self._datapath.configure(lease, self._daemons)
        self._daemons.start_switch(self._datapath.program(), self._datapath.switch_options())
        if self.served_first:
            self._daemons.serve_first()

    def _make_bridge(self) -> None:
        command = [
            f"--timeout={START_S:g}",
            "add-br",
            BRIDGE,
            *("--", "set", "bridge", BRIDGE, f"datapath_type={self._datapath.type}", "fail_mode=secure"),
            f"protocols={PROTOCOLS[self._version]}",
            "other_config:disable-in-band=true",
        ]
        for number in self._numbers():
            interface = self._datapath.interface(number)
            command += ["--", "add-port", BRIDGE, interface]
            command += ["--", "set", "interface", interface, f"ofport_request={number}"]
            command += self._datapath.settings(number)
        if self._tls:
            self._make_keys()
        if controller := self._controller:
            command += ["--", "set-controller", BRIDGE, controller]
            command += ["--", "set", "controller", BRIDGE, "connection_mode=out-of-band", "max_backoff=1000"]
        try:
            self._running.vsctl(*command)
        except SetupError as error:
            if self.alive():
                raise
            raise SetupError(f"Open vSwitch stopped while it started: {self.log().strip()}") from error
        self._check_ports()

    @property
    def _controller(self) -> str:
        """To whom the bridge connects, in Open vSwitch's words; empty: to nobody."""
        us = f"{'ssl' if self._tls else 'tcp'}:127.0.0.1:{OPENFLOW_PORT}"
        known = {"us": us, "other": f"unix:{self._home / BRIDGE}.controller"}
        return known.get(self._leads.to, "")

    def _make_keys(self) -> None:
        """A PKI of our own in the run directory; the switch's half goes into its database."""
        self._files, switch = pki.make(self._home)
        self._running.vsctl("set-ssl", switch.private_key, switch.certificate, switch.ca)

    def _check_ports(self) -> None:
        for number in self._numbers():
            interface = self._datapath.interface(number)
            found = self._running.vsctl("get", "interface", interface, "ofport").strip()
            if found != str(number):
                error = self._running.vsctl("get", "interface", interface, "error").strip()
                raise SetupError(
                    f"Open vSwitch gave {interface} OpenFlow port {found}, not {number}: {error}"
                )

    def _wiring(self) -> Wiring:
        dut = self._namespaces[0]
        ports = (self._datapath.port(n) for n in self._numbers())
        control = ControlWiring(
            "listen", "127.0.0.1", OPENFLOW_PORT, netns=dut, versions=(self._version,), tls=self._files
        )
        dpid = self._running.vsctl("get", "bridge", BRIDGE, "datapath_id").strip().strip('"')
        return Wiring(tuple(ports), control, ofctl=self._management(), datapath_id=int(dpid, 16))

    def _management(self) -> str:
        return f"unix:{self._home / (BRIDGE + '.mgmt')}"

    def _numbers(self) -> range:
        return range(1, self._ports + 1)


def check_host() -> None:
    """Raises MissingToolError or PermissionNeededError when this host can't run `ovs`."""
    OpenVSwitch().check_host()


def _version_of(text: str) -> str:
    found = re.search(r"\b\d+\.\d+\.\d+\S*", text)
    return found[0] if found else text.strip()


def _words(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]
