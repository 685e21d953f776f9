"""Flow entries into Open vSwitch: first FLOW_MOD byte to the last barrier reply, both timed on the wire, beside ovs-ofctl add-flows.

A capture on the loopback of Open vSwitch's namespace gives both times, so that neither program's start or parsing counts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.pairs import Result, interleave
from bench.wires import example, need
from bench.wires import run as output
from flowgauge.duts.capture import Tap, captured, frames
from flowgauge.duts.interface import TO_NOBODY
from flowgauge.duts.openvswitch import OpenVSwitch

PORT = 6699
FLOW_MOD, BARRIER_REPLY = 14, 21
COMMAND, ADD = 25, 0
"""Offset of the command in an OpenFlow 1.3 FLOW_MOD, and its value for an addition (the table is emptied by FLOW_MODs, too)."""


def run(entries: int, pairs: int) -> Result:
    """Seconds to install that many IPv4-destination entries, both sides."""
    need("ip", "ovs-vswitchd", "ovs-ofctl", "tcpdump")
    install = example("flow_install")
    with tempfile.TemporaryDirectory(prefix="fg-bench-") as scratch, open_vswitch(Path(scratch)) as switch:
        flows = Path(scratch) / "flows.txt"
        flows.write_text("".join(f"ip,nw_dst={address(i)},actions=output:1\n" for i in range(entries)))
        target = f"tcp:127.0.0.1:{PORT}"
        ofctl = ["ovs-ofctl", "-O", "OpenFlow13"]
        return interleave(
            pairs,
            lambda: switch.timed([install, f"tcp:127.0.0.1:{PORT}", str(entries), "1.3"], entries),
            lambda: switch.timed([*ofctl, "add-flows", target, str(flows)], entries),
            peer_name="ovs-ofctl add-flows",
            unit="s",
            less_is_better=True,
        )


def address(i: int) -> str:
    """The i-th address from 10.0.0.0 on."""
    return ".".join(str(b) for b in (0x0A000000 + i).to_bytes(4, "big"))


class Switch:
    """A private Open vSwitch in a namespace of its own, whose OpenFlow channel listens on that namespace's loopback."""

    def __init__(self, namespace: str, scratch: Path) -> None:
        self.inside = ["ip", "netns", "exec", namespace]
        self.scratch = scratch
        self.tap = Tap(namespace, "lo", f"tcp port {PORT}")

    def timed(self, program: Sequence[str], entries: int) -> float:
        """Clear the table, run the program, and read the time between the two events off the capture."""
        self.ofctl("del-flows")
        with captured([self.tap], self.scratch) as files:
            output([*self.inside, *program], timeout=300)
        held = self.ofctl("dump-aggregate")
        if f"flow_count={entries}" not in held:
            raise RuntimeError(f"{program[0]} left {held.strip()}, {entries} were to be installed")
        return first_to_last(files[0])

    def ofctl(self, command: str) -> str:
        """What ovs-ofctl prints for a command without arguments."""
        return output([*self.inside, "ovs-ofctl", "-O", "OpenFlow13", command, f"tcp:127.0.0.1:{PORT}"])


def first_to_last(pcap: bytes) -> float:
    """Seconds from the first segment that starts with an adding FLOW_MOD to the last barrier reply before the connection ends."""
    first = last = None
    for when, source, payload in segments(pcap):
        kind = payload[1] if len(payload) >= 8 else None
        adds = kind == FLOW_MOD and len(payload) > COMMAND and payload[COMMAND] == ADD
        if source != PORT and adds and first is None:
            first = when
        if source == PORT and kind == BARRIER_REPLY and first is not None:
            last = when
    if first is None or last is None:
        raise RuntimeError("the capture holds no FLOW_MOD with a barrier reply behind it")
    return (last - first) / 1e9


def segments(pcap: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Time in ns, source port and payload of each TCP segment of a capture of Ethernet and IPv4."""
    for when, frame in frames(pcap):
        ip = 14
        tcp = ip + (frame[ip] & 15) * 4
        payload = frame[tcp + (frame[tcp + 12] >> 4) * 4 : ip + int.from_bytes(frame[ip + 2 : ip + 4], "big")]
        yield when, int.from_bytes(frame[tcp : tcp + 2], "big"), payload


@contextmanager
def open_vswitch(scratch: Path) -> Iterator[Switch]:
    """Start Open vSwitch on the user-space datapath with one bridge that listens on PORT; stop it afterwards."""
    driver = OpenVSwitch("ports=2", pinned=False)
    try:
        driver.start("1.3", TO_NOBODY)
        driver.listen(PORT)
        yield Switch(driver.namespaces[0], scratch)
    finally:
        driver.stop()
