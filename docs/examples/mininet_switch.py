"""Mininet with Flowgauge's switch: `sudo python3 mininet_switch.py [FLOWGAUGE]`.

FLOWGAUGE is the program to run, `flowgauge` by default. A switch without a controller forwards by learned addresses.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from functools import partial
from typing import Any

from mininet.net import Mininet
from mininet.node import Switch
from mininet.topo import Topo

FLOWGAUGE = os.environ.get("FLOWGAUGE", "flowgauge")
PATIENCE_S = 20.0


class FlowgaugeSwitch(Switch):
    """A switch of Mininet's that is `flowgauge switch`."""

    def __init__(
        self,
        name: str,
        program: str = FLOWGAUGE,
        openflow: str = "1.0,1.3",
        failMode: str = "standalone",
        **params: Any,
    ) -> None:
        """`program` may have arguments; `openflow` are the versions to offer."""
        super().__init__(name, **params)
        self.program = shlex.split(program)
        self.openflow = openflow
        self.fail_mode = failMode
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, controllers: list[Any]) -> None:
        """Start the switch between its interfaces, and wait until it runs."""
        command = [*self.program, "switch", "--datapath-id", self.dpid]
        command += ["--openflow", self.openflow, "--fail-mode", self.fail_mode]
        for number, interface in sorted(self.intfs.items()):
            if interface.name != "lo":
                self._leave_checksums_to_hosts(interface)
                command += ["--port", f"{interface.name}={number}"]
        for controller in controllers:
            command += ["--controller", f"tcp:{controller.IP()}:{controller.port}"]
        # Some hosts' interfaces come up only now, and the switch waits for their carrier.
        log = f"/tmp/{self.name}.log"
        with open(log, "wb") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + PATIENCE_S
        while not self._says(log, b"switch "):
            if self.process.poll() is not None or time.monotonic() > deadline:
                with open(log, encoding="utf-8", errors="replace") as said:
                    raise RuntimeError(f"{shlex.join(command)} does not run: {said.read()}")
            time.sleep(0.05)

    def stop(self, deleteIntfs: bool = True) -> None:
        """Stop it, and remove its interfaces."""
        process, self.process = self.process, None
        if process is not None:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE_S)
        super().stop(deleteIntfs)

    def connected(self) -> bool:
        """Whether it runs."""
        return self.process is not None and self.process.poll() is None

    @staticmethod
    def _says(log: str, words: bytes) -> bool:
        with open(log, "rb") as said:
            return words in said.read()

    @staticmethod
    def _leave_checksums_to_hosts(interface: Any) -> None:
        """A host must send finished packets: a switch in software has no network card that finishes them."""
        link = interface.link
        if link is not None:
            for end in (link.intf1, link.intf2):
                end.node.cmd(f"ethtool -K {end.name} tx off tso off gso off gro off 2>/dev/null")


class Chain(Topo):  # type: ignore[misc]
    """Switches in a row, one host at each."""

    def build(self, n: int = 3) -> None:
        """`n` switches."""
        last = None
        for number in range(1, n + 1):
            switch = self.addSwitch(f"s{number}")
            self.addLink(self.addHost(f"h{number}"), switch)
            if last is not None:
                self.addLink(last, switch)
            last = switch


def main() -> int:
    """Every host pings every other; the number of lost packets in percent is the exit code."""
    switch = partial(FlowgaugeSwitch, program=sys.argv[1] if len(sys.argv) > 1 else FLOWGAUGE)
    net = Mininet(topo=Chain(), switch=switch, controller=None, waitConnected=True)
    try:
        net.start()
        return int(net.pingAll())
    finally:
        net.stop()


if __name__ == "__main__":
    sys.exit(main())
