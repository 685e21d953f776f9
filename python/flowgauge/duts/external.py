"""A switch described by a TOML file: hardware, or anything started by hand.

name = "lab"
versions = ["1.3", "1.0"]            OpenFlow versions that it speaks, best first

controller = "builtin"               how entries reach it; or: "ovs-ofctl", "rest:http://10.0.0.2:8080" (see flowgauge.controllers)

[control]
listen = "0.0.0.0:6653"              the switch connects to us; or: connect = "10.0.0.1:6653"
ovs_ofctl = "tcp:10.0.0.1:6653"      where ovs-ofctl reaches it; default: connect
datapath_id = "0x1"                  its number in another controller; default: the only one that is connected there
                                     with TLS: listen = "pssl:6653" or connect = "ssl:10.0.0.1:6653", and
private_key = "ctl-privkey.pem"      our key, our certificate, and the authority of the switch's certificate:
certificate = "ctl-cert.pem"         PEM files, relative to this one
ca = "pki/switchca/cacert.pem"

[[port]]                             a tester interface and the OpenFlow port that it is cabled to
interface = "enp1s0f0"
of_port = 1
speed_mbps = 10000                   default: what the interface says
backend = "af_xdp"                   how frames are moved: "af_packet" (default), "af_xdp", or "dpdk"; then instead of interface:
device = "0000:03:00.0"              the device in DPDK's words
queues = 4                           how many of its queues are used, each by a core if there are enough; default: one core for all

[reset]
commands = ["ssh switch reset"]      run between benchmarks

[describe]
model = "..."                        copied into the record
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from flowgauge.controllers import BUILTIN
from flowgauge.duts.control import read_control
from flowgauge.duts.cores import CorePlan, core_plan
from flowgauge.duts.host import call, need_root
from flowgauge.duts.interface import TO_US, ControlWiring, Leads, PortWiring, Wiring
from flowgauge.duts.keys import Keys
from flowgauge.duts.lease import NETNS_DIR
from flowgauge.duts.through import read_controller, read_datapath_id, read_ofctl
from flowgauge.errors import InterfaceError, SetupError
from flowgauge.suites import toml

VERSIONS = ("1.0", "1.3", "1.4", "1.5")
BACKENDS = ("af_packet", "af_xdp", "dpdk")
"""The default first."""
MAX_PORT = 0xFFFFFF00
MAX_QUEUES = 64
RESET_S = 120.0
SETTLE_S = 0.1
"""How long a switch may need from a barrier to the last port's forwarding."""


class External:
    """The driver of a TOML file."""

    watched = False
    """Whether `alive` knows: a switch that we did not start may restart unnoticed."""

    def __init__(self, path: Path) -> None:
        """Reads and checks the file. Raises ConfigError."""
        keys = Keys(toml.read(path))
        keys.only((), ("name", "versions", "control", "port", "reset", "describe", "controller"))
        self.name = keys.value(("name",), str, "text", default=path.stem)
        self._keys = keys
        self._versions = _versions(keys)
        self.controller = read_controller(keys)
        self._control = read_control(keys, optional=self.controller != BUILTIN)
        self._ofctl = read_ofctl(keys, self._control)
        self._datapath_id = read_datapath_id(keys)
        self._ports = _ports(keys)
        self._commands = _commands(keys)
        self._about: Mapping[str, Any] = keys.value(("describe",), dict, "a table: [describe]", default={})

    @property
    def plan(self) -> CorePlan:
        """Who runs where: a queue that was asked for may have a core of its own."""
        queues = max(port.queues or 1 for port in self._ports)
        return core_plan(ports=len(self._ports) if queues > 1 else 1, queues=queues)

    def start(self, version: str, leads: Leads = TO_US) -> Wiring:
        """Check the interfaces; the switch itself runs already."""
        if version not in self._versions:
            found = f"OpenFlow {version} was asked for"
            raise self._keys.file.error(("versions",), found, allowed=", ".join(self._versions))
        if leads.to == "us" and self._control is None:
            allowed = 'listen = "0.0.0.0:6653" or connect = "10.0.0.1:6653"'
            raise self._keys.file.error(("control",), "no way to connect", allowed=allowed)
        self._ports = ports = tuple(_checked(port) for port in self._ports)
        # With another controller the channel is not ours to make: its owner has connected the switch.
        control = replace(self._control or ControlWiring("connect", "", 0), versions=(version,))
        return Wiring(ports, control, self._ofctl, self._datapath_id)

    def reset(self) -> None:
        """Run the commands of `[reset]`. Raises SetupError when one fails."""
        for command in self._commands:
            call(["sh", "-c", command], timeout_s=RESET_S)

    def settle(self) -> None:
        """Nobody can ask it: wait."""
        time.sleep(SETTLE_S)

    def describe(self) -> Mapping[str, Any]:
        """What the file says."""
        ports = [_described(p) for p in self._ports]
        return {"kind": "external", "driver": "external", "name": self.name, "ports": ports, **self._about}

    def alive(self) -> bool:
        """We can't know: its channel tells."""
        return True

    def stop(self) -> None:
        """Nothing to undo: we started nothing."""


def _versions(keys: Keys) -> tuple[str, ...]:
    allowed = f"a list of {', '.join(VERSIONS)}"
    versions = keys.value(("versions",), list, allowed, default=["1.3", "1.0"])
    if not versions or any(v not in VERSIONS for v in versions):
        raise keys.wrong(("versions",), versions, allowed)
    return tuple(versions)


def _ports(keys: Keys) -> tuple[PortWiring, ...]:
    tables = keys.value(("port",), list, "at least 2 tables: [[port]]")
    if len(tables) < 2:
        raise keys.file.error(("port", 0), f"{len(tables)} [[port]]", allowed="at least 2 [[port]]")
    ports: list[PortWiring] = []
    for index in range(len(tables)):
        port = _port(keys, ("port", index))
        for earlier in ports:
            if port.of_port == earlier.of_port:
                allowed = "a number that no other [[port]] has"
                raise keys.wrong(("port", index, "of_port"), port.of_port, allowed)
            if (port.interface, port.netns) == (earlier.interface, earlier.netns):
                allowed = "an interface that no other [[port]] has"
                raise keys.wrong(("port", index, "interface"), port.interface, allowed)
        ports.append(port)
    return tuple(ports)


def _port(keys: Keys, where: tuple[str | int, ...]) -> PortWiring:
    keys.only(where, ("interface", "of_port", "speed_mbps", "netns", "backend", "device", "queues"))
    backend = keys.value((*where, "backend"), str, ", ".join(BACKENDS), default=BACKENDS[0])
    if backend not in BACKENDS:
        raise keys.wrong((*where, "backend"), backend, ", ".join(BACKENDS))
    interface = _end(keys, where, backend)
    numbers = f"a whole number from 1 to {MAX_PORT:#x}"
    of_port = keys.value((*where, "of_port"), int, numbers)
    if not 1 <= of_port <= MAX_PORT:
        raise keys.wrong((*where, "of_port"), of_port, numbers)
    speed = keys.value((*where, "speed_mbps"), object, "a number above 0", default="")
    if speed != "" and (isinstance(speed, bool) or not isinstance(speed, (int, float)) or not speed > 0):
        raise keys.wrong((*where, "speed_mbps"), speed, "a number above 0")
    netns = keys.value((*where, "netns"), str, "the name of a network namespace", default="")
    rate = float(speed) if isinstance(speed, (int, float)) else None
    return PortWiring(of_port, backend, interface, netns or None, rate, queues=_queues(keys, where))


def _queues(keys: Keys, where: tuple[str | int, ...]) -> int | None:
    allowed = f"a whole number from 1 to {MAX_QUEUES}"
    queues = keys.value((*where, "queues"), object, allowed, default="")
    if queues == "":
        return None
    if isinstance(queues, bool) or not isinstance(queues, int) or not 1 <= queues <= MAX_QUEUES:
        raise keys.wrong((*where, "queues"), queues, allowed)
    return queues


def _end(keys: Keys, where: tuple[str | int, ...], backend: str) -> str:
    """Interface or device, whichever the backend takes."""
    if backend == "dpdk":
        return keys.value((*where, "device"), str, 'a device in DPDK\'s words, such as "0000:03:00.0"')
    return keys.value((*where, "interface"), str, 'the name of an interface, such as "enp1s0"')


def _commands(keys: Keys) -> tuple[str, ...]:
    keys.only(("reset",), ("commands",))
    allowed = 'a list of commands, such as ["ssh switch reset"]'
    commands = keys.value(("reset", "commands"), list, allowed, default=[])
    if any(not isinstance(c, str) for c in commands):
        raise keys.wrong(("reset", "commands"), commands, allowed)
    return tuple(commands)


def _checked(port: PortWiring) -> PortWiring:
    """The port with its speed filled in. Raises InterfaceError when the interface is missing or down. (DPDK looks by itself.)"""
    if port.backend == "dpdk":
        return port
    if port.netns:
        need_root(f"a port in network namespace {port.netns}")
        if not (NETNS_DIR / port.netns).exists():
            raise InterfaceError(
                f"there is no network namespace {port.netns} (for interface {port.interface})",
                advice="`ip netns` lists those that exist",
            )
    inside = ["-n", port.netns] if port.netns else []
    prefix = " ".join(["ip", *inside, "link set"])
    try:
        (link,) = json.loads(call(["ip", *inside, "-j", "link", "show", "dev", port.interface]))
    except (SetupError, ValueError) as error:
        where = f" in namespace {port.netns}" if port.netns else ""
        raise InterfaceError(
            f"there is no interface {port.interface}{where}",
            advice=f"`{' '.join(['ip', *inside, 'link'])}` lists those that exist",
        ) from error
    if "UP" not in link["flags"]:
        raise InterfaceError(f"interface {port.interface} is down", advice=f"{prefix} {port.interface} up")
    if "NO-CARRIER" in link["flags"]:
        raise InterfaceError(
            f"interface {port.interface} has no carrier",
            advice="check the cable, and that the switch's port is up",
        )
    if port.max_rate_mbps is not None or port.netns:
        return port
    return replace(port, max_rate_mbps=_speed_mbps(port.interface))


def _described(port: PortWiring) -> dict[str, Any]:
    """What a run says of a port; its speed where it has one, and how many queues were asked for."""
    told = {"max_rate_mbps": port.max_rate_mbps, "queues": port.queues}
    known = {key: value for key, value in told.items() if value is not None}
    return {"of_port": port.of_port, "interface": port.interface, "backend": port.backend, **known}


def _speed_mbps(interface: str) -> float | None:
    try:
        speed = float(Path(f"/sys/class/net/{interface}/speed").read_text())
    except (OSError, ValueError):
        return None
    # Virtual interfaces say -1, or (veth) a made-up 10 Gbit/s that nothing enforces.
    virtual = not Path(f"/sys/class/net/{interface}/device").exists()
    return None if speed <= 0 or virtual else speed
