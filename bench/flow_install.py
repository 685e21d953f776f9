"""Flow entries into Open vSwitch: first FLOW_MOD byte to the last barrier reply, both timed on the wire, beside ovs-ofctl add-flows.

A capture on the loopback of Open vSwitch's namespace gives both times, so that neither program's start or parsing counts.
"""

from __future__ import annotations

import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.pairs import Result, interleave
from bench.wires import example, need
from bench.wires import run as output

PORT = 6699
FLOW_MOD, BARRIER_REPLY = 14, 21
BLOCK_S = 1.3
"""tcpdump's kernel ring hands over what it holds once a second; what it holds when tcpdump ends is lost."""
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
        self.capture = scratch / "capture.pcap"

    def timed(self, program: Sequence[str], entries: int) -> float:
        """Clear the table, run the program, and read the time between the two events off the capture."""
        output([*self.inside, "ovs-ofctl", "-O", "OpenFlow13", "del-flows", f"tcp:127.0.0.1:{PORT}"])
        tcpdump = [
            "tcpdump",
            "-i",
            "lo",
            "-s",
            "128",
            "-B",
            "65536",
            "--time-stamp-precision=nano",
            "-U",
            "-w",
            str(self.capture),
        ]
        sniffer = subprocess.Popen(
            [*self.inside, *tcpdump, f"tcp port {PORT}"], stderr=subprocess.PIPE, text=True
        )
        assert sniffer.stderr is not None
        sniffer.stderr.readline()  # "listening on lo ..."
        time.sleep(0.2)
        try:
            output([*self.inside, *program], timeout=300)
            time.sleep(BLOCK_S)
        finally:
            sniffer.terminate()
            sniffer.wait()
        held = output(
            [*self.inside, "ovs-ofctl", "-O", "OpenFlow13", "dump-aggregate", f"tcp:127.0.0.1:{PORT}"]
        )
        if f"flow_count={entries}" not in held:
            raise RuntimeError(f"{program[0]} left {held.strip()}, {entries} were to be installed")
        return first_to_last(self.capture.read_bytes())


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
    """Time in ns, source port and payload of each TCP segment of a nanosecond pcap of Ethernet and IPv4."""
    offset = 24
    while offset + 16 <= len(pcap):
        seconds, nanos, kept, _ = struct.unpack_from("<IIII", pcap, offset)
        frame = pcap[offset + 16 : offset + 16 + kept]
        offset += 16 + kept
        ip = 14
        tcp = ip + (frame[ip] & 15) * 4
        payload = frame[tcp + (frame[tcp + 12] >> 4) * 4 : ip + int.from_bytes(frame[ip + 2 : ip + 4], "big")]
        yield seconds * 10**9 + nanos, int.from_bytes(frame[tcp : tcp + 2], "big"), payload


@contextmanager
def open_vswitch(scratch: Path) -> Iterator[Switch]:
    """Start Open vSwitch on the user-space datapath with one bridge that listens on PORT; stop it by its process ids."""
    namespace = f"fg-bench{time.time_ns() % 10**6}"
    environment = {f"OVS_{d}DIR": str(scratch) for d in ("RUN", "LOG", "DB")} | {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"
    }
    inside = ["ip", "netns", "exec", namespace]
    database = f"unix:{scratch}/db.sock"
    started: list[subprocess.Popen[bytes]] = []

    def start(*command: str) -> None:
        started.append(
            subprocess.Popen(
                [*inside, *command], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        )

    output(["ip", "netns", "add", namespace])
    try:
        output([*inside, "ip", "link", "set", "lo", "up"])
        output(["ovsdb-tool", "create", f"{scratch}/conf.db", "/usr/share/openvswitch/vswitch.ovsschema"])
        start("ovsdb-server", f"{scratch}/conf.db", f"--remote=punix:{scratch}/db.sock")
        deadline = time.monotonic() + 10
        while not (scratch / "db.sock").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        start("ovs-vswitchd", database, "--disable-system")
        bridge = [
            "--",
            "set",
            "bridge",
            "fg0",
            "datapath_type=netdev",
            "fail_mode=secure",
            "protocols=OpenFlow10,OpenFlow13",
        ]
        output(["ovs-vsctl", f"--db={database}", "--no-wait", "init"])
        output(["ovs-vsctl", f"--db={database}", "add-br", "fg0", *bridge])
        output(["ovs-vsctl", f"--db={database}", "set-controller", "fg0", f"ptcp:{PORT}:127.0.0.1"])
        time.sleep(1)
        yield Switch(namespace, scratch)
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()
        subprocess.run(["ip", "netns", "del", namespace], capture_output=True, check=False)
