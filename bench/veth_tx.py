"""Transmit into a veth pair: 64-byte frames per second out of one core, beside the tools people use.

Ours carry a sequence number and a time of their own in each frame; the peers repeat one frame. Both are read off the other end's
counter over the same window, so that neither tool's start or own opinion counts.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.dpdk import MBUFS, MEMORY_MIB, huge_memory, last_core, testpmd
from bench.pairs import Result, interleave
from bench.wires import Wire, background, example, need, wire

WARM_UP_S, WINDOW_S = 0.7, 2.0
TESTPMD_WARM_UP_S = 2.0
FRAME = """{
  0x02, 0, 0, 0, 0, 0x02,  0x02, 0, 0, 0, 0, 0x01,  0x08, 0x00,
  0x45, 0, 0, 46,  0, 0, 0, 0,  64, 17, 0xaa, 0xaa,  198, 18, 0, 2,  10, 0, 0, 1,
  0xc0, 0x20, 0, 7,  0, 26, 0, 0,  fill(0, 18)
}"""
"""The frame that ours send, 60 bytes (64 with FCS), in trafgen's notation: the receiving kernel must have the same work with both."""


def beside_trafgen(pairs: int) -> Result:
    """AF_PACKET: frames per second, both sides."""
    need("ip", "trafgen", "taskset")
    with wire() as link, tempfile.TemporaryDirectory() as scratch:
        frame = Path(scratch) / "frame.cfg"
        frame.write_text(FRAME)
        core = last_core()
        peer = ["trafgen", "--dev", link.left, "--conf", str(frame), "--cpus", "1"]
        return interleave(
            pairs,
            lambda: rate(link, link.command(link.left, ours(link, "af_packet"), core), WARM_UP_S),
            lambda: rate(link, link.command(link.left, peer, core), WARM_UP_S),
            peer_name="trafgen",
            unit="frames/s",
        )


def beside_testpmd(backend: str, pairs: int) -> Result:
    """A backend beside testpmd (txonly) on DPDK's driver of the same sockets: frames per second, both sides."""
    need("ip", "dpdk-testpmd", "taskset")
    with huge_memory(MEMORY_MIB), wire() as link:
        mine = link.command(link.left, ours(link, backend), last_core())
        frames = ["--forward-mode=txonly", "--txpkts=60", "--burst=64"]
        options = [*frames, *MBUFS, "--auto-start"]
        # testpmd binds its threads itself.
        peer = link.command(link.left, testpmd([f"net_{backend}0,iface={link.left}"], *options))
        return interleave(
            pairs,
            lambda: rate(link, mine, WARM_UP_S),
            lambda: rate(link, peer, TESTPMD_WARM_UP_S),
            peer_name=f"testpmd net_{backend}",
            unit="frames/s",
        )


def ours(link: Wire, backend: str) -> list[str]:
    """Our sender, for longer than it is looked at."""
    return [example("packet_bench"), "tx", link.left, str(WARM_UP_S + WINDOW_S + 1), "--backend", backend]


def rate(link: Wire, command: Sequence[str], warm_up_s: float) -> float:
    """Frames per second that the other end received while the program ran."""
    with background(command) as process:
        time.sleep(warm_up_s)
        before, start = link.received(link.right), time.monotonic()
        time.sleep(WINDOW_S)
        after, end = link.received(link.right), time.monotonic()
        if process.poll() is not None:
            raise RuntimeError(f"{command[-1]} ended early: {process.communicate()[0]}")
    return (after - before) / (end - start)
