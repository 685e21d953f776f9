"""AF_XDP receive: the highest rate without loss on a veth, beside testpmd on net_af_xdp (rxonly), same sender and same rule for both.

The kernel runs the program and copies each frame into our memory on the sender's core; the receivers have a core of their own. Ours
checks every frame's sequence number and delay; testpmd counts and forgets. It gets the largest rings that its driver makes use of, and
no busy polling: it then takes frames out of the veth's queue of 256 by itself, and holds no higher rate.
"""

from __future__ import annotations

import re
import signal

from bench.dpdk import MBUFS, MEMORY_MIB, huge_memory, last_core, testpmd
from bench.lossless import Receiver, highest_of, ours
from bench.pairs import Result
from bench.wires import Wire, need, wire


def run(pairs: int) -> Result:
    """Frames per second, both sides."""
    need("ip", "dpdk-testpmd", "taskset")
    with huge_memory(MEMORY_MIB), wire() as link:
        return highest_of(pairs, link, ours(link, "af_xdp", last_core()), rxonly(link), "testpmd net_af_xdp")


def rxonly(link: Wire) -> Receiver:
    """testpmd, which counts."""

    def count(text: str) -> tuple[int, int]:
        found = re.search(r"RX-packets: (\d+)\s+RX-dropped: (\d+)", text)
        if found is None:
            raise RuntimeError(f"testpmd said: {text[-2000:]}")
        return int(found[1]), int(found[2])

    device = f"net_af_xdp0,iface={link.right},busy_budget=0"
    options = ["--forward-mode=rxonly", "--rxd=4096", "--burst=64", *MBUFS, "--auto-start"]
    return Receiver(testpmd([device], *options), signal.SIGINT, count, core=None, start_s=2.0)
