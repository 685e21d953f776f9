"""`ovs`: a private Open vSwitch with its user-space datapath, wired to the tester by veth pairs.

Own processes, own database, own run directory, own network namespaces (one for the switch, one for the tester's
ends); the machine's Open vSwitch, interfaces and firewall are never touched. The switch connects to the tester's
OpenFlow listener on the loopback of its own namespace. To somebody else's controller, which it can't reach from there, it is
joined by a relay on a socket in its run directory.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flowgauge.duts import netns, pki
from flowgauge.duts.cores import core_plan
from flowgauge.duts.host import call, find_tool, need_root, need_tool
from flowgauge.duts.interface import TO_US, ControlWiring, Leads, PortWiring, TlsFiles, Wiring
from flowgauge.duts.lease import Lease
from flowgauge.duts.options import PORTS, Option, parse, whole, yes_or_no
from flowgauge.duts.relay import Relay
from flowgauge.errors import ConfigError, SetupError

BRIDGE = "fg-br"
OPENFLOW_PORT = 6653
PROTOCOLS = {"1.0": "OpenFlow10", "1.3": "OpenFlow13", "1.4": "OpenFlow14", "1.5": "OpenFlow15"}
SCHEMAS = ("/usr/share/openvswitch/vswitch.ovsschema", "/usr/local/share/openvswitch/vswitch.ovsschema")
TOOLS = ("ip", "ovsdb-tool", "ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovs-ofctl", "ovs-appctl")
OPTIONS = {
    "ports": PORTS,
    "mtu": Option(whole(68, 9500), 1500, "68..9500 bytes"),
    "tls": Option(yes_or_no, False, "yes or no"),
}
_START_S = 20.0


class OpenVSwitch:
    """The driver `ovs`; options `ports`, `mtu` and `tls` as in `ovs:ports=4,mtu=9000,tls=yes`."""

    name = "ovs"

    def __init__(self, options: str = "", *, pinned: bool = True) -> None:
        """`options` as on the command line; `pinned`: keep to the DUT's cores. Raises ConfigError. Nothing is started."""
        values = parse(self.name, options, OPTIONS)
        self._ports: int = values["ports"]
        self._mtu: int = values["mtu"]
        self._pin = _pin() if pinned else []
        self._tls: bool = values["tls"]
        self._files: TlsFiles | None = None
        self._version = "1.3"
        self._lease: Lease | None = None
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        self._home = Path()
        self._namespaces = ("", "")
        self._leads = TO_US
        self._relay: Relay | None = None

    def start(self, version: str, leads: Leads = TO_US) -> Wiring:
        """Start Open vSwitch for OpenFlow `version`; its bridge holds no entries, and drops what matches none."""
        if version not in PROTOCOLS:
            raise ConfigError(f"ovs: OpenFlow {version} is not offered; allowed: {', '.join(PROTOCOLS)}")
        check_host()
        if self._tls:
            pki.check_host()
        self._version = version
        self._leads = leads
        self._lease = Lease.take("Open vSwitch")
        try:
            self._wire(self._lease)
            self._start_daemons()
            if leads.to == "other":
                self._relay = Relay.listening(self._home / f"{BRIDGE}.controller", (leads.host, leads.port))
            self._make_bridge()
        except BaseException:
            self.stop()
            raise
        return self._wiring()

    def reset(self) -> None:
        """Remove all entries, groups and meters through the switch's management socket, not through our channel."""
        kinds = ("flows",) if self._version == "1.0" else ("flows", "groups", "meters")
        for kind in kinds:
            self._ofctl(f"del-{kind}")

    def settle(self) -> None:
        """Empty the datapath's cache of decisions, which outlives a barrier for a moment; its counters go to the entries."""
        self._appctl("revalidator/purge")

    def describe(self) -> Mapping[str, Any]:
        """Version, datapath, configuration, ports and cores."""
        return {
            "kind": "Open vSwitch",
            "driver": self.name,
            "version": _version_of(self._appctl("version")),
            "datapath_type": "netdev",
            "datapath": _words(self._appctl("dpif/show")),
            "other_config": self._vsctl("get", "Open_vSwitch", ".", "other_config").strip(),
            "bridge": {
                "fail_mode": "secure",
                "protocols": PROTOCOLS[self._version],
                "controller": f"{controller}, out of band" if (controller := self._controller) else "none",
            },
            "ports": [
                {"of_port": n, "interface": _dut_end(n), "wire": "veth", "mtu": self._mtu}
                for n in self._numbers()
            ],
            "cores": list(core_plan().dut),
        }

    def alive(self) -> bool:
        """Whether both daemons run."""
        return bool(self._daemons) and all(d.poll() is None for d in self._daemons.values())

    def stop(self) -> None:
        """End the daemons by their numbers, and remove namespaces and directories."""
        relay, self._relay = self._relay, None
        if relay is not None:
            relay.close()
        for daemon in reversed(self._daemons.values()):
            _end(daemon)
        self._daemons.clear()
        if self._lease is not None:
            self._lease.end()
            self._lease = None

    def listen(self, port: int) -> None:
        """Let the bridge take controllers' connections on the loopback of its namespace (and connect to none itself)."""
        self._vsctl("set-controller", BRIDGE, f"ptcp:{port}:127.0.0.1")
        deadline = time.monotonic() + _START_S
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
        return {name: daemon.pid for name, daemon in self._daemons.items()}

    def log(self) -> str:
        """The end of the daemon's log, for the reason of a death."""
        with contextlib.suppress(OSError):
            return (self._home / "ovs-vswitchd.log").read_text()[-2000:]
        return ""

    def _wire(self, lease: Lease) -> None:
        self._home = lease.directory(Path(tempfile.gettempdir()))
        dut, tester = netns.add(lease, "dut"), netns.add(lease, "test")
        self._namespaces = (dut, tester)
        for number in self._numbers():
            netns.veth(((dut, _dut_end(number)), (tester, _tester_end(number))), self._mtu)

    def _start_daemons(self) -> None:
        home = self._home
        call(["ovsdb-tool", "create", str(home / "conf.db"), find_schema()])
        self._daemon("ovsdb-server", [], [str(home / "conf.db"), f"--remote=punix:{home / 'db.sock'}"])
        self._await_file(home / "db.sock")
        self._vsctl("--no-wait", "init")
        switch = [f"unix:{home / 'db.sock'}", "--disable-system", "--disable-system-route"]
        self._daemon("ovs-vswitchd", self._pin, switch)
        self._await_file(home / "ovs-vswitchd.ctl")

    def _daemon(self, name: str, pin: Sequence[str], options: Sequence[str]) -> None:
        assert self._lease is not None
        env = {**os.environ, **_environment(self._home)}
        # `ip` and `taskset` replace themselves by what they start, so the number that we get is the daemon's.
        inside = [need_tool("ip"), "netns", "exec", self._namespaces[0], *pin, need_tool(name)]
        # A session of its own: Ctrl-C is for the tester, which then stops the switch in order.
        daemon = subprocess.Popen(
            [*inside, *options, *_daemon_options(self._home, name)],
            env=env,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._daemons[name] = daemon
        self._lease.process(daemon.pid, name)

    def _await_file(self, path: Path) -> None:
        deadline = time.monotonic() + _START_S
        while not path.exists():
            if not self.alive() or time.monotonic() > deadline:
                raise SetupError(f"Open vSwitch did not start: no {path.name} appeared. {self.log()}".strip())
            time.sleep(0.01)

    def _make_bridge(self) -> None:
        command = [
            f"--timeout={_START_S:g}",
            "add-br",
            BRIDGE,
            *("--", "set", "bridge", BRIDGE, "datapath_type=netdev", "fail_mode=secure"),
            f"protocols={PROTOCOLS[self._version]}",
            "other_config:disable-in-band=true",
        ]
        for number in self._numbers():
            interface = _dut_end(number)
            command += ["--", "add-port", BRIDGE, interface]
            command += ["--", "set", "interface", interface, f"ofport_request={number}"]
        if self._tls:
            self._make_keys()
        if controller := self._controller:
            command += ["--", "set-controller", BRIDGE, controller]
            command += ["--", "set", "controller", BRIDGE, "connection_mode=out-of-band", "max_backoff=1000"]
        self._vsctl(*command)
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
        self._vsctl("set-ssl", switch.private_key, switch.certificate, switch.ca)

    def _check_ports(self) -> None:
        for number in self._numbers():
            interface = _dut_end(number)
            found = self._vsctl("get", "interface", interface, "ofport").strip()
            if found != str(number):
                error = self._vsctl("get", "interface", interface, "error").strip()
                raise SetupError(
                    f"Open vSwitch gave {interface} OpenFlow port {found}, not {number}: {error}"
                )

    def _wiring(self) -> Wiring:
        dut, tester = self._namespaces
        ports = (PortWiring(n, "af_packet", _tester_end(n), netns=tester) for n in self._numbers())
        control = ControlWiring(
            "listen", "127.0.0.1", OPENFLOW_PORT, netns=dut, versions=(self._version,), tls=self._files
        )
        dpid = self._vsctl("get", "bridge", BRIDGE, "datapath_id").strip().strip('"')
        return Wiring(tuple(ports), control, ofctl=self._management(), datapath_id=int(dpid, 16))

    def _management(self) -> str:
        return f"unix:{self._home / (BRIDGE + '.mgmt')}"

    def _numbers(self) -> range:
        return range(1, self._ports + 1)

    def _vsctl(self, *argv: str) -> str:
        return call(["ovs-vsctl", f"--db=unix:{self._home / 'db.sock'}", *argv], env=_environment(self._home))

    def _appctl(self, *argv: str) -> str:
        return call(
            ["ovs-appctl", "-t", str(self._home / "ovs-vswitchd.ctl"), *argv], env=_environment(self._home)
        )

    def _ofctl(self, command: str) -> str:
        return call(
            ["ovs-ofctl", "-O", PROTOCOLS[self._version], command, self._management()],
            env=_environment(self._home),
        )


def check_host() -> None:
    """Raises MissingToolError or PermissionNeededError when this host can't run `ovs`."""
    for name in TOOLS:
        need_tool(name)
    find_schema()
    need_root("starting Open vSwitch")


def find_schema() -> str:
    """The installed database schema. Raises SetupError when there is none."""
    for path in SCHEMAS:
        if Path(path).is_file():
            return path
    raise SetupError("vswitch.ovsschema is not installed", advice="apt-get install openvswitch-switch")


def _environment(home: Path) -> dict[str, str]:
    return {name: str(home) for name in ("OVS_RUNDIR", "OVS_DBDIR", "OVS_LOGDIR", "OVS_SYSCONFDIR")}


def _daemon_options(home: Path, name: str) -> list[str]:
    return [
        "--no-chdir",
        f"--pidfile={home / (name + '.pid')}",
        f"--unixctl={home / (name + '.ctl')}",
        f"--log-file={home / (name + '.log')}",
        "-vconsole:off",
        "-vsyslog:off",
    ]


def _pin() -> list[str]:
    cores = core_plan().dut
    return ["taskset", "-c", ",".join(map(str, cores))] if cores and find_tool("taskset") else []


def _end(daemon: subprocess.Popen[bytes]) -> None:
    daemon.terminate()
    try:
        daemon.wait(2)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait(5)


def _dut_end(number: int) -> str:
    return f"fg-dut{number}"


def _tester_end(number: int) -> str:
    return f"fg-test{number}"


def _version_of(text: str) -> str:
    found = re.search(r"\b\d+\.\d+\.\d+\S*", text)
    return found[0] if found else text.strip()


def _words(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]
