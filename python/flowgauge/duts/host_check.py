"""What this host has and lacks, for each DUT and for good measurements. Only looks; `flowgauge doctor` prints it."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from flowgauge.duts import netns
from flowgauge.duts.host import PACKAGES, find_tool
from flowgauge.duts.lease import Lease, leases
from flowgauge.duts.ovs.daemons import find_schema
from flowgauge.duts.ovs.datapath import TOOLS
from flowgauge.errors import SetupError

CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_NET_RAW": 13, "CAP_SYS_ADMIN": 21}


class State(StrEnum):
    """How a finding bears on its subject."""

    GOOD = "good"
    LACK = "lack"
    """Its subject does not work without."""
    WORSE = "worse"
    """It works, with less trustworthy or slower results."""


@dataclass(frozen=True)
class Finding:
    """One thing looked at. `mend` is the one command that mends a lack."""

    subject: str
    what: str
    state: State
    text: str
    mend: str | None = None


def examine() -> list[Finding]:
    """Everything, by subject: embedded, ovs, external, host."""
    found = [*_embedded(), *_openvswitch(), *_external(), *_host(), *_leftovers()]
    return found


def works(subject: str, findings: list[Finding]) -> bool:
    """Whether nothing that the subject needs is lacking."""
    return all(f.state is not State.LACK for f in findings if f.subject == subject)


def _embedded() -> Iterator[Finding]:
    try:
        core = importlib.import_module("flowgauge._core")
        yield Finding("embedded", "extension", State.GOOD, f"flowgauge._core {core.__version__}")
    except ImportError as error:
        yield Finding("embedded", "extension", State.LACK, f"flowgauge._core: {error}", "make run")


def _openvswitch() -> Iterator[Finding]:
    for name in (*TOOLS, "ethtool", "taskset"):
        if path := find_tool(name):
            yield Finding("ovs", name, State.GOOD, path)
        else:
            state = State.LACK if name in TOOLS else State.WORSE
            yield Finding("ovs", name, state, "not installed", f"apt-get install {PACKAGES[name]}")
    try:
        yield Finding("ovs", "schema", State.GOOD, find_schema())
    except SetupError as error:
        yield Finding("ovs", "schema", State.LACK, error.message, error.advice)
    yield _capable("ovs", ("CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_SYS_ADMIN"), root=True)
    if os.geteuid() == 0 and find_tool("ip"):
        yield _namespaces()
    if not Path("/dev/net/tun").exists():
        mend = "mkdir -p /dev/net && mknod /dev/net/tun c 10 200"
        yield Finding("ovs", "tun device", State.LACK, "/dev/net/tun is missing", mend)


def _external() -> Iterator[Finding]:
    yield _capable("external", ("CAP_NET_RAW",), root=False)


def _capable(subject: str, names: tuple[str, ...], *, root: bool) -> Finding:
    missing = [n for n in names if not _effective() >> CAPABILITIES[n] & 1]
    if root and os.geteuid() != 0:
        return Finding(subject, "privilege", State.LACK, "not root", "sudo flowgauge run ...")
    if missing:
        mend = (
            "sudo flowgauge run ..."
            if os.geteuid()
            else f"docker run --privileged ...  (lacks {', '.join(missing)})"
        )
        return Finding(subject, "privilege", State.LACK, f"without {', '.join(missing)}", mend)
    return Finding(subject, "privilege", State.GOOD, ", ".join(names))


def _namespaces() -> Finding:
    """Make and remove what a run makes: two namespaces and a veth pair."""
    lease = Lease.take("doctor")
    try:
        a, b = netns.add(lease, "a"), netns.add(lease, "b")
        netns.veth(((a, "fg-a"), (b, "fg-b")), 1500)
    except SetupError as error:
        return Finding("ovs", "namespaces", State.LACK, error.message, "modprobe veth")
    finally:
        lease.end()
    return Finding("ovs", "namespaces", State.GOOD, "network namespaces and veth pairs can be made")


def _host() -> Iterator[Finding]:
    cores = len(os.sched_getaffinity(0))
    if cores >= 3:
        yield Finding("host", "cores", State.GOOD, f"{cores} usable")
    else:
        text = f"{cores} usable: tester, channel and DUT share them"
        yield Finding("host", "cores", State.WORSE, text, "use a machine with 4 or more cores")
    yield _clocksource()
    if governor := _governor():
        yield governor
    yield _hugepages()


def _clocksource() -> Finding:
    now = _read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    if now in ("tsc", "arch_sys_counter", "kvm-clock"):
        return Finding("host", "clock source", State.GOOD, now)
    mend = "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource"
    return Finding(
        "host", "clock source", State.WORSE, f"{now or 'unknown'}: reading it may cost a system call", mend
    )


def _governor() -> Finding | None:
    governors = {
        text
        for path in Path("/sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")
        if (text := _read(str(path)))
    }
    if not governors:
        return None
    names = ", ".join(sorted(governors))
    if governors == {"performance"}:
        return Finding("host", "governor", State.GOOD, names)
    mend = "cpupower frequency-set -g performance"
    return Finding("host", "governor", State.WORSE, f"{names}: frequencies change while measuring", mend)


def _hugepages() -> Finding:
    text = _read("/proc/meminfo") or ""
    total = next(
        (int(line.split()[1]) for line in text.splitlines() if line.startswith("HugePages_Total:")), 0
    )
    # Nothing needs them yet but DPDK ports; so their lack is no finding against this host.
    return Finding("host", "hugepages", State.GOOD, f"{total} (only DPDK needs them)")


def _leftovers() -> Iterator[Finding]:
    stale = [lease for lease in leases() if lease.stale()]
    if stale:
        text = f"{len(stale)} crashed runs left something behind"
        yield Finding("host", "leftovers", State.WORSE, text, "flowgauge clean")


def _effective() -> int:
    for line in (_read("/proc/self/status") or "").splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return 0


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None
