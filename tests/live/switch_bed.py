"""A bed for `flowgauge switch`: a namespace for the switch, one for each host, and veth pairs between them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from flowgauge.duts.host import call
from flowgauge.duts.lease import Lease
from flowgauge.duts.netns import add, veth

T = TypeVar("T")
PATIENCE_S = 15.0
PYTHON_PATH = Path(__file__).parents[2] / "python"


class Program:
    """A program in a namespace, with the lines that it has said so far."""

    def __init__(self, namespace: str, argv: Sequence[str]) -> None:
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", namespace, *argv],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONPATH": str(PYTHON_PATH), "PYTHONUNBUFFERED": "1"},
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip())

    def wait_for(self, pattern: str) -> str:
        """The first line that has the pattern."""
        return eventually(
            lambda: next((line for line in self.lines if re.search(pattern, line)), ""), self.said
        )

    def said(self) -> str:
        """All lines."""
        return "\n".join(self.lines)

    def stop(self) -> int:
        """Ask it to end; its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            code = self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self._reader.join(PATIENCE_S)
        return code


class Bed:
    """Hosts h1, h2, ... with addresses 10.0.0.1, ... behind interfaces s1, s2, ... of the switch's namespace."""

    def __init__(self, lease: Lease, hosts: int) -> None:
        self._programs: list[Program] = []
        self._directory = lease.directory(Path(tempfile.gettempdir()))
        self.namespace = add(lease, "sw")
        self.hosts = [add(lease, f"h{n}") for n in range(1, hosts + 1)]
        for n, host in enumerate(self.hosts, 1):
            veth(((self.namespace, f"s{n}"), (host, "eth0")), 1500)
            call(["ip", "-n", host, "link", "set", "eth0", "arp", "on"])
            call(["ip", "-n", host, "addr", "add", f"10.0.0.{n}/24", "dev", "eth0"])

    def start(self, argv: Sequence[str]) -> Program:
        """A program in the switch's namespace."""
        program = Program(self.namespace, argv)
        self._programs.append(program)
        return program

    def switch(self, *options: str) -> Program:
        """`flowgauge switch` with all interfaces, when it runs."""
        ports = [word for n in range(1, len(self.hosts) + 1) for word in ("--port", f"s{n}")]
        program = self.start([sys.executable, "-m", "flowgauge", "switch", *ports, *options])
        program.wait_for("^switch ")
        return program

    def ofctl(
        self, *arguments: str, version: str = "OpenFlow13", fails: bool = False, text: str | None = None
    ) -> str:
        """What `ovs-ofctl -O VERSION` says; its failure is one of the test, unless it is expected."""
        done = subprocess.run(
            ["ip", "netns", "exec", self.namespace, "ovs-ofctl", "-O", version, "--timeout=10", *arguments],
            capture_output=True,
            text=True,
            input=text,
            timeout=30,
            check=False,
        )
        said = done.stdout + done.stderr
        assert (done.returncode != 0) == fails, f"{version} {arguments}: {said}"
        return said

    def monitor(self, *arguments: str, version: str = "OpenFlow13") -> Program:
        """`ovs-ofctl monitor`, whose own control socket has a place of its own."""
        command = ["ovs-ofctl", "-O", version, "monitor", f"--unixctl={self._directory}/monitor", *arguments]
        return self.start(command)

    def ping(self, source: int, target: int, count: int = 3) -> bool:
        """Whether all echoes come back."""
        host = self.hosts[source - 1]
        argv = ["ip", "netns", "exec", host, "ping", "-q", "-c", str(count), "-i", "0.05", "-W", "2"]
        done = subprocess.run([*argv, f"10.0.0.{target}"], capture_output=True, text=True, check=False)
        return " 0% packet loss" in done.stdout

    def reaches(self, source: int, target: int) -> None:
        """All echoes come back, once the hosts have found each other."""
        eventually(lambda: self.ping(source, target), lambda: f"host {source} does not reach host {target}")

    def close(self) -> None:
        """Stop all programs."""
        while self._programs:
            self._programs.pop().stop()


@contextmanager
def bed(hosts: int = 2) -> Iterator[Bed]:
    """A bed that is removed at the end."""
    lease = Lease.take("test of the software switch")
    made: list[Bed] = []
    try:
        made.append(Bed(lease, hosts))
        yield made[0]
    finally:
        for it in made:
            it.close()
        lease.end()


def eventually(ask: Callable[[], T], context: Callable[[], str] = lambda: "") -> T:
    """The first answer that is true, within PATIENCE_S."""
    deadline = time.monotonic() + PATIENCE_S
    while not (answer := ask()):
        assert time.monotonic() < deadline, context()
        time.sleep(0.02)
    return answer
