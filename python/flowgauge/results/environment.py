"""The environment record: what differs between machines, and a reader needs to judge a result (METHODS 1, RFC 8204).

Interfaces, drivers and firmware come from the DUT's description. What this host does not tell is null.
"""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flowgauge import __version__

SYS = Path("/sys")
PROC = Path("/proc")


def environment(sys: Path = SYS, proc: Path = PROC) -> dict[str, Any]:
    """This host and this tool, now. `sys` and `proc` are arguments so that other hosts' files can be read."""
    return {
        "tool": tool(),
        "python": platform.python_version(),
        "host": platform.node(),
        "cpu": cpu(sys, proc),
        "memory": memory(proc),
        "kernel": platform.release(),
        "kernel_version": platform.version(),
        "boot_arguments": _text(proc / "cmdline"),
        "virtual": virtual(sys, proc),
    }


def tool() -> dict[str, Any]:
    """Version and commit of Flowgauge; the commit is null when it does not run from a checkout."""
    here = Path(__file__).resolve().parent
    commit = _git(here, "rev-parse", "HEAD")
    changed = _git(here, "status", "--porcelain", "--untracked-files=no") if commit else None
    return {
        "version": __version__,
        "commit": commit or None,
        "changed": None if changed is None else bool(changed),
    }


def cpu(sys: Path, proc: Path) -> dict[str, Any]:
    """Model, cores, governors, isolation and NUMA."""
    folder = sys / "devices/system/cpu"
    governors = {_text(p) for p in folder.glob("cpu[0-9]*/cpufreq/scaling_governor")}
    nodes = {p.name: _text(p / "cpulist") for p in sorted((sys / "devices/system/node").glob("node[0-9]*"))}
    usable = len(os.sched_getaffinity(0)) if sys == SYS else None
    return {
        "model": _value(proc / "cpuinfo", "model name") or platform.machine(),
        "online": _text(folder / "online"),
        "cores": os.cpu_count(),
        "usable_cores": usable,
        "governors": sorted(g for g in governors if g) or None,
        "isolated": _text(folder / "isolated") or None,
        "nohz_full": _text(folder / "nohz_full") or None,
        "smt": _text(folder / "smt/control"),
        "numa": nodes or None,
        "mitigations": mitigations(folder) or None,
    }


def mitigations(folder: Path) -> dict[str, str]:
    """What the kernel does about the CPU's vulnerabilities: it costs packet rates. Those that don't apply are left out."""
    found = {p.name: _text(p) for p in sorted((folder / "vulnerabilities").glob("*"))}
    return {name: text for name, text in found.items() if text and text != "Not affected"}


def memory(proc: Path) -> dict[str, Any]:
    """Memory and hugepages."""
    info = proc / "meminfo"
    return {
        "total_kib": _number(_value(info, "MemTotal")),
        "hugepages": _number(_value(info, "HugePages_Total")),
        "hugepages_free": _number(_value(info, "HugePages_Free")),
        "hugepage_kib": _number(_value(info, "Hugepagesize")),
    }


def virtual(sys: Path, proc: Path) -> str | None:
    """The hypervisor's or product's name when this host is a virtual machine, else null."""
    if " hypervisor" not in (_value(proc / "cpuinfo", "flags") or ""):
        return None
    return _text(sys / "class/dmi/id/sys_vendor") or "yes"


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip("\0\n ")
    except OSError:
        return None


def _value(path: Path, key: str) -> str | None:
    for line in (_text(path) or "").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return None


def _number(text: str | None) -> int | None:
    head = (text or "").split(" ")[0]
    return int(head) if head.isdigit() else None


def _git(folder: Path, *arguments: str) -> str | None:
    environment: Mapping[str, str] = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
