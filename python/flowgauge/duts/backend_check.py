"""What this host has and lacks for each way to move frames: AF_PACKET, AF_XDP, DPDK. Only looks."""

from __future__ import annotations

import os
import resource
import socket
from collections.abc import Iterator

from flowgauge.duts import hugepages
from flowgauge.duts.findings import CAPABILITIES, Finding, State, effective, judged, privileged, read
from flowgauge.errors import MissingToolError

AF_XDP = 44
"""The kernel's number of the address family; Python has no name for it."""
UMEM_MIB = 64
"""Memory that AF_XDP sockets may need to lock."""
DPDK_MIB = 1024
"""What Open vSwitch and the tester take together."""


def af_packet() -> Iterator[Finding]:
    """Raw sockets: in every kernel."""
    yield privileged("af_packet", ("CAP_NET_RAW",), root=False)


def af_xdp() -> Iterator[Finding]:
    """AF_XDP sockets, the program that steers frames to them, and memory to lock."""
    yield judged("af_xdp", "kernel", _xdp_socket)
    yield privileged("af_xdp", ("CAP_NET_RAW", "CAP_NET_ADMIN", "CAP_BPF"), root=False)
    yield _locked_memory("af_xdp")


def dpdk() -> Iterator[Finding]:
    """libdpdk, our shim to it, and hugepages."""
    yield judged("dpdk", "libdpdk", _dpdk_version)
    yield huge_memory("dpdk")


def huge_memory(subject: str) -> Finding:
    """Whether DPDK will have hugepages: in the pool, or added to it for the time of a run."""
    what, free = "hugepages", hugepages.free_mib()
    if not hugepages.offered():
        text = "this kernel has none of 2 MiB: DPDK does without, at some cost in speed"
        return Finding(subject, what, State.WORSE, text, "use a kernel with CONFIG_HUGETLBFS")
    if free >= DPDK_MIB:
        return Finding(subject, what, State.GOOD, f"{free} MiB free")
    pages = hugepages.pool() + DPDK_MIB // hugepages.PER_MIB
    mend = f"echo {pages} > {hugepages.POOL}/nr_hugepages"
    if os.geteuid() != 0:
        return Finding(
            subject, what, State.WORSE, f"{free} MiB free, and root must add them", f"sudo sh -c '{mend}'"
        )
    spare = available_mib()
    if spare < 2 * DPDK_MIB:
        text = f"{free} MiB free, and {spare} MiB of memory to add them from"
        return Finding(subject, what, State.WORSE, text, f"{mend}  (after freeing memory)")
    return Finding(
        subject, what, State.GOOD, f"{free} MiB free; a run adds {DPDK_MIB} MiB and gives them back"
    )


def available_mib() -> int:
    """Memory that can be had without swapping."""
    for line in (read("/proc/meminfo") or "").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) // 1024
    return 0


def _xdp_socket() -> str:
    try:
        socket.socket(AF_XDP, socket.SOCK_RAW, 0).close()
    except PermissionError:
        return "AF_XDP sockets, for those who may"
    except OSError as error:
        raise MissingToolError(
            f"this kernel has no AF_XDP sockets ({error.strerror})",
            advice="use a kernel with CONFIG_XDP_SOCKETS",
        ) from error
    return "AF_XDP sockets"


def _locked_memory(subject: str) -> Finding:
    soft = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    limit = "unlimited" if soft == resource.RLIM_INFINITY else f"{soft // 2**20} MiB"
    if effective() >> CAPABILITIES["CAP_IPC_LOCK"] & 1:
        return Finding(subject, "locked memory", State.GOOD, "CAP_IPC_LOCK: no limit holds")
    if soft == resource.RLIM_INFINITY or soft >= UMEM_MIB * 2**20:
        return Finding(subject, "locked memory", State.GOOD, f"{limit} (ulimit -l)")
    text = f"{limit} (ulimit -l), and no CAP_IPC_LOCK: {UMEM_MIB} MiB are needed"
    return Finding(subject, "locked memory", State.LACK, text, f"ulimit -l {UMEM_MIB * 1024}")


def _dpdk_version() -> str:
    from flowgauge import _core

    return _core.dpdk_version()
