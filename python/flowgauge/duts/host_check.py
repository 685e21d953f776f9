"""What this host has and lacks, for each DUT and for good measurements. Only looks; `flowgauge doctor` prints it."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from flowgauge.duts import backend_check, netns
from flowgauge.duts.findings import Finding, State, judged, polling_cores, privileged, read
from flowgauge.duts.host import PACKAGES, find_tool, need_tool
from flowgauge.duts.lease import Lease, leases
from flowgauge.duts.ovs import afxdp, dpdk, kernel
from flowgauge.duts.ovs.daemons import find_schema
from flowgauge.duts.ovs.datapath import TOOLS
from flowgauge.errors import SetupError

TUN = Path("/dev/net/tun")


def examine() -> list[Finding]:
    """Everything, by subject: DUTs, backends, host."""
    ovs = [*_openvswitch()]
    lacks = [f.what for f in ovs if f.state is State.LACK]
    duts = [*_embedded(), *ovs, *_afxdp(lacks), *_dpdk(lacks), *_kernel(lacks), *_bridge(), *_external()]
    backends = [*backend_check.af_packet(), *backend_check.af_xdp(), *backend_check.dpdk()]
    return [*duts, *backends, *_host(), *_leftovers()]


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
    yield privileged("ovs", ("CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_SYS_ADMIN"), root=True)
    if os.geteuid() == 0 and find_tool("ip"):
        yield _namespaces()
    if not TUN.exists():
        mend = "mkdir -p /dev/net && mknod /dev/net/tun c 10 200"
        yield Finding("ovs", "tun device", State.LACK, "/dev/net/tun is missing", mend)


def _afxdp(lacks: Sequence[str]) -> Iterator[Finding]:
    yield judged("ovs:afxdp", "ovs-vswitchd", afxdp.check_built, "built with AF_XDP")
    yield from _beyond_ovs("ovs:afxdp", lacks)
    yield from polling_cores("ovs:afxdp")


def _dpdk(lacks: Sequence[str]) -> Iterator[Finding]:
    yield judged("ovs:dpdk", "ovs-vswitchd", dpdk.find_program)
    yield from _beyond_ovs("ovs:dpdk", lacks)
    yield from (replace(found, subject="ovs:dpdk") for found in backend_check.dpdk())
    yield from polling_cores("ovs:dpdk")


def _kernel(lacks: Sequence[str]) -> Iterator[Finding]:
    yield judged("ovs:kernel", "module", kernel.check_module, "openvswitch")
    yield from _beyond_ovs("ovs:kernel", lacks)


def _beyond_ovs(subject: str, lacks: Sequence[str]) -> Iterator[Finding]:
    """What `ovs` needs, too; its lacks stand there."""
    if lacks:
        yield Finding(
            subject, "ovs", State.LACK, f"`ovs` lacks {', '.join(lacks)}: see `flowgauge doctor ovs`"
        )


def _bridge() -> Iterator[Finding]:
    yield judged("linux-bridge", "ip", lambda: need_tool("ip"))
    yield privileged("linux-bridge", ("CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_SYS_ADMIN"), root=True)


def _external() -> Iterator[Finding]:
    yield privileged("external", ("CAP_NET_RAW",), root=False)


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


def _clocksource() -> Finding:
    now = read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
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
        if (text := read(str(path)))
    }
    if not governors:
        return None
    names = ", ".join(sorted(governors))
    if governors == {"performance"}:
        return Finding("host", "governor", State.GOOD, names)
    mend = "cpupower frequency-set -g performance"
    return Finding("host", "governor", State.WORSE, f"{names}: frequencies change while measuring", mend)


def _leftovers() -> Iterator[Finding]:
    stale = [lease for lease in leases() if lease.stale()]
    if stale:
        text = f"{len(stale)} crashed runs left something behind"
        yield Finding("host", "leftovers", State.WORSE, text, "flowgauge clean")
