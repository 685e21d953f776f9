"""AF_PACKET receive: the highest rate without loss on a veth, beside netsniff-ng, same sender and same rule for both.

The kernel copies each frame into the receiver's ring on the sender's core; the receivers have a core of their own and a ring of the
same size. Ours checks every frame's sequence number and delay; netsniff-ng writes to /dev/null.
"""

from __future__ import annotations

import re
import signal

from bench.dpdk import last_core
from bench.lossless import Receiver, highest_of, ours
from bench.pairs import Result
from bench.wires import Wire, need, wire
from bench.wires import run as output


def run(pairs: int) -> Result:
    """Frames per second, both sides."""
    need("ip", "netsniff-ng", "taskset", "ethtool")
    with wire() as link:
        # With GRO the receiving end takes what the kernel sends.
        output(link.command(link.right, ["ethtool", "-K", link.right, "gro", "on"]))
        return highest_of(pairs, link, ours(link, "af_packet", last_core()), netsniff(link), "netsniff-ng")


def netsniff(link: Wire) -> Receiver:
    """netsniff-ng."""

    def count(text: str) -> tuple[int, int]:
        passed = re.search(r"(\d+)\s+packets passed filter", text)
        lost = re.search(r"(\d+)\s+packets failed filter", text)
        if passed is None or lost is None:
            raise RuntimeError(f"netsniff-ng said: {text}")
        return int(passed[1]), int(lost[1])

    core = last_core()
    files = ["--in", link.right, "--out", "/dev/null", "--silent", "--ring-size", "64MiB"]
    return Receiver(["netsniff-ng", *files, "--bind-cpu", str(core)], signal.SIGINT, count, core)
