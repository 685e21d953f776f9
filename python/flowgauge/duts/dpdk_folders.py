"""Folders under /run/dpdk, which DPDK makes for each process by its file prefix and does not always remove."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import socket
from collections.abc import Collection
from functools import cache
from pathlib import Path

DPDK_RUN = Path("/run/dpdk")
OURS = re.compile(r"(?:fg|flowgauge)-.*?(?P<pid>\d+)?")
"""Our file prefixes; those of processes without a lease end in the process's number."""


def own_folder() -> Path:
    """Where DPDK keeps what this process shares with others: under /run/dpdk, of users under a folder of theirs."""
    base = Path("/run") if os.geteuid() == 0 else Path(os.environ.get("XDG_RUNTIME_DIR") or "/tmp")
    return base / "dpdk" / f"flowgauge-{os.getpid()}"


@cache
def remove_own_at_exit() -> None:
    """DPDK leaves the folder behind, even of a process that ends well."""
    atexit.register(shutil.rmtree, own_folder(), ignore_errors=True)


def sweep(kept: Collection[str], folder: Path = DPDK_RUN) -> list[str]:
    """Remove those of ours that no process uses; says which. `kept`: paths in running processes' leases."""
    removed = []
    for path in sorted(folder.glob("*")):
        name = OURS.fullmatch(path.name)
        if name is None or str(path) in kept or path.is_symlink() or not path.is_dir():
            continue
        pid = name["pid"]
        if (pid is not None and Path(f"/proc/{pid}").exists()) or _answers(path):
            continue
        shutil.rmtree(path, ignore_errors=True)
        if not path.exists():
            removed.append(str(path))
    return removed


def _answers(path: Path) -> bool:
    """Whether a process listens on one of its sockets."""
    with contextlib.suppress(PermissionError):
        return any(_listens(end) for end in path.iterdir())
    return False


def _listens(end: Path) -> bool:
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as probe:
        probe.connect(str(end))
        return True
    return False
