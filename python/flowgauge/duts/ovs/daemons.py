"""A private Open vSwitch: database and switch as processes of ours, with sockets, logs and files in a directory of their own."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from flowgauge.duts.host import call, need_tool
from flowgauge.duts.lease import Lease
from flowgauge.duts.priority import serve_session_first
from flowgauge.errors import SetupError

SCHEMAS = ("/usr/share/openvswitch/vswitch.ovsschema", "/usr/local/share/openvswitch/vswitch.ovsschema")
START_S = 20.0


class Daemons:
    """The two daemons in `home` and a network namespace; both are recorded in the lease."""

    def __init__(self, lease: Lease, home: Path, namespace: str) -> None:
        """Starts nothing."""
        self._lease = lease
        self._home = home
        self._namespace = namespace
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start_database(self) -> None:
        """The database, empty but for what `vsctl` sets before the switch starts."""
        call(["ovsdb-tool", "create", str(self._home / "conf.db"), find_schema()])
        self._start(
            "ovsdb-server",
            [need_tool("ovsdb-server")],
            [str(self._home / "conf.db"), f"--remote=punix:{self._socket}"],
        )
        self._await_file(self._socket)
        self.vsctl("--no-wait", "init")

    def start_switch(self, command: Sequence[str], options: Sequence[str]) -> None:
        """The switch: its program with what it runs under, such as `taskset`."""
        self._start("ovs-vswitchd", command, [f"unix:{self._socket}", *options])
        self._await_file(self._home / "ovs-vswitchd.ctl")

    def stop(self) -> None:
        """End them by their numbers."""
        for daemon in reversed(self._running.values()):
            _end(daemon)
        self._running.clear()

    def serve_first(self) -> None:
        """Let their sessions be served before others."""
        for daemon in self._running.values():
            serve_session_first(daemon.pid)

    def alive(self) -> bool:
        """Whether both run."""
        return bool(self._running) and all(d.poll() is None for d in self._running.values())

    @property
    def pids(self) -> Mapping[str, int]:
        """Process numbers by program."""
        return {name: daemon.pid for name, daemon in self._running.items()}

    def log(self) -> str:
        """The end of the switch's log, for the reason of a death."""
        with contextlib.suppress(OSError):
            return (self._home / "ovs-vswitchd.log").read_text()[-2000:]
        return ""

    def vsctl(self, *argv: str) -> str:
        """`ovs-vsctl` on the database."""
        return call(["ovs-vsctl", f"--db=unix:{self._socket}", *argv], env=self._environment())

    def appctl(self, *argv: str) -> str:
        """`ovs-appctl` on the switch."""
        return call(
            ["ovs-appctl", "-t", str(self._home / "ovs-vswitchd.ctl"), *argv], env=self._environment()
        )

    def ofctl(self, *argv: str) -> str:
        """`ovs-ofctl`."""
        return call(["ovs-ofctl", *argv], env=self._environment())

    @property
    def _socket(self) -> Path:
        return self._home / "db.sock"

    def _start(self, name: str, command: Sequence[str], options: Sequence[str]) -> None:
        # `ip` and `taskset` replace themselves by what they start, so the number that we get is the daemon's.
        inside = [need_tool("ip"), "netns", "exec", self._namespace, *command]
        # A session of its own: Ctrl-C is for the tester, which then stops the switch in order.
        daemon = subprocess.Popen(
            [*inside, *options, *self._options(name)],
            env={**os.environ, **self._environment()},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._running[name] = daemon
        self._lease.process(daemon.pid, name)

    def _await_file(self, path: Path) -> None:
        deadline = time.monotonic() + START_S
        while not path.exists():
            if not self.alive() or time.monotonic() > deadline:
                raise SetupError(f"Open vSwitch did not start: no {path.name} appeared. {self.log()}".strip())
            time.sleep(0.01)

    def _environment(self) -> dict[str, str]:
        names = ("OVS_RUNDIR", "OVS_DBDIR", "OVS_LOGDIR", "OVS_SYSCONFDIR")
        return {name: str(self._home) for name in names}

    def _options(self, name: str) -> list[str]:
        return [
            "--no-chdir",
            f"--pidfile={self._home / (name + '.pid')}",
            f"--unixctl={self._home / (name + '.ctl')}",
            f"--log-file={self._home / (name + '.log')}",
            "-vconsole:off",
            "-vsyslog:off",
        ]


def find_schema() -> str:
    """The installed database schema. Raises SetupError when there is none."""
    for path in SCHEMAS:
        if Path(path).is_file():
            return path
    raise SetupError("vswitch.ovsschema is not installed", advice="apt-get install openvswitch-switch")


def _end(daemon: subprocess.Popen[bytes]) -> None:
    daemon.terminate()
    try:
        daemon.wait(2)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait(5)
