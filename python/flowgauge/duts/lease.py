"""Leases: what a driver made on this machine, recorded *before* it is made.

A lease is a JSON file in the state directory. It names its owner (process number and start time), and the namespaces,
directories, processes and hugepages that belong to it. Whoever ends it, the driver's `stop` or `flowgauge clean` after a crash,
does the same: kill, remove, give back, delete the file. Nothing that no lease names is ever touched.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from flowgauge.duts import hugepages
from flowgauge.duts.host import call, find_tool
from flowgauge.duts.processes import ProcessId
from flowgauge.errors import SetupError

PREFIX = "fg-"
"""All names of ours start so; nothing else is ever removed."""
NETNS_DIR = Path("/run/netns")


def state_dir() -> Path:
    """Where leases are kept: /run/flowgauge for root, else $XDG_STATE_HOME/flowgauge (~/.local/state/flowgauge)."""
    if os.geteuid() == 0:
        return Path("/run/flowgauge")
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "flowgauge"


@dataclass
class Lease:
    """What one started DUT (or loopback measurement) has made. `purpose` is for the reader of `flowgauge clean`."""

    id: str
    purpose: str
    owner: ProcessId
    boot: str
    namespaces: list[str] = field(default_factory=list)
    directories: list[str] = field(default_factory=list)
    processes: list[ProcessId] = field(default_factory=list)
    pages: hugepages.Pages | None = None

    @staticmethod
    def take(purpose: str) -> Lease:
        """A new lease of this process, on disk."""
        lease = Lease(secrets.token_hex(3), purpose, ProcessId.own(), boot_id())
        lease._save()
        return lease

    @staticmethod
    def load(path: Path) -> Lease | None:
        """The lease in a file; None when it holds none (torn or foreign)."""
        try:
            return _from_json(json.loads(path.read_text()))
        except (OSError, ValueError, TypeError, KeyError):
            return None

    @property
    def path(self) -> Path:
        """Its file."""
        return state_dir() / f"{self.id}.lease.json"

    def namespace(self, role: str) -> str:
        """Record and return the name of a namespace that is about to be made."""
        name = f"{PREFIX}{self.id}-{role}"
        self.namespaces.append(name)
        self._save()
        return name

    @property
    def home(self) -> Path:
        """The first directory."""
        return Path(self.directories[0])

    def directory(self, base: Path) -> Path:
        """Record a directory of its own under `base`, and make it."""
        path = base / f"{PREFIX}{self.id}"
        self.directories.append(str(path))
        self._save()
        path.mkdir(mode=0o700)
        return path

    def adopt(self, path: Path) -> None:
        """Record a directory that a process of ours will make by itself; its name starts as all of ours do."""
        self.directories.append(str(path))
        self._save()

    def process(self, pid: int, name: str) -> None:
        """Record a process just started. (One that was not recorded in time is found by its namespace.)"""
        if found := ProcessId.of(pid):
            self.processes.append(ProcessId(found.pid, found.start, name))
            self._save()

    def take_hugepages(self, mib: int) -> int:
        """Record and add hugepages for so much memory; says how much (MiB) there was room for."""
        self.pages = hugepages.wanted(mib)
        self._save()
        self.pages = hugepages.add(self.pages)
        self._save()
        return self.pages.count * hugepages.PER_MIB

    def give_hugepages_back(self) -> list[str]:
        """Give back those that were added; says how many."""
        pages, self.pages = self.pages, None
        if pages is None or self.boot != boot_id():
            return []
        # Off the record first: after a crash in between, ours stay in the pool, but nobody else's are taken out of it.
        self._save()
        count = hugepages.give_back(pages)
        return [f"{count} hugepages"] if count else []

    def stale(self) -> bool:
        """Whether its owner is gone, so that nobody else will end it."""
        return self.boot != boot_id() or not self.owner.alive()

    def end(self) -> list[str]:
        """Kill its processes, remove its namespaces and directories, give hugepages back, then the lease; says what was removed.

        May be called again; what can't be removed stays in the lease, and SetupError says why.
        """
        removed = list(self._kill())
        failures: list[str] = []
        for name in self.namespaces:
            if name.startswith(PREFIX) and (NETNS_DIR / name).exists():
                try:
                    call(["ip", "netns", "delete", name])
                    removed.append(f"network namespace {name}")
                except SetupError as error:
                    failures.append(error.message)
        for text in self.directories:
            path = Path(text)
            if path.name.startswith(PREFIX) and path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
                removed.append(f"directory {path}")
        removed += self.give_hugepages_back()
        if failures:
            raise SetupError("; ".join(failures), advice="run `flowgauge clean` as root")
        self.path.unlink(missing_ok=True)
        return removed

    def _kill(self) -> Iterator[str]:
        if self.boot != boot_id():
            return
        recorded = {p.pid: p for p in self.processes}
        for pid in self._pids_in_namespaces() - recorded.keys() - {os.getpid()}:
            if stray := ProcessId.of(pid):
                recorded[pid] = stray
        for process in reversed(recorded.values()):
            if process.kill():
                yield f"process {process.pid} ({process.name})"

    def _pids_in_namespaces(self) -> set[int]:
        if not find_tool("ip"):
            return set()
        found: set[int] = set()
        for name in self.namespaces:
            if name.startswith(PREFIX) and (NETNS_DIR / name).exists():
                found.update(int(pid) for pid in call(["ip", "netns", "pids", name]).split())
        return found

    def _save(self) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        aside = self.path.with_suffix(".tmp")
        with aside.open("w") as file:
            json.dump({"schema": 1, **asdict(self)}, file)
            file.flush()
            os.fsync(file.fileno())
        aside.rename(self.path)


def leases() -> list[Lease]:
    """All leases of this user, in no particular order. Others may come and go meanwhile."""
    return [
        lease for path in sorted(state_dir().glob("*.lease.json")) if (lease := Lease.load(path)) is not None
    ]


def boot_id() -> str:
    """Differs after each start of the machine: process numbers and start times mean nothing across it."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _from_json(data: dict[str, Any]) -> Lease:
    return Lease(
        id=str(data["id"]),
        purpose=str(data["purpose"]),
        owner=ProcessId(**data["owner"]),
        boot=str(data["boot"]),
        namespaces=[str(n) for n in data["namespaces"]],
        directories=[str(d) for d in data["directories"]],
        processes=[ProcessId(**p) for p in data["processes"]],
        pages=None if (pages := data.get("pages")) is None else hugepages.Pages(**pages),
    )
