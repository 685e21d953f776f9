"""AF_PACKET transmit: 64-byte frames per second out of one core into a veth pair, beside trafgen.

Ours carry a sequence number and a time of their own in each frame; trafgen repeats one frame. Both are read off the
other end's counter over the same window, so that neither tool's start or own opinion counts.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.pairs import Result, interleave
from bench.wires import Wire, background, example, need, wire

WARM_UP_S, WINDOW_S = 0.7, 2.0
FRAME = """{
  0x02, 0, 0, 0, 0, 0x02,  0x02, 0, 0, 0, 0, 0x01,  0x08, 0x00,
  0x45, 0, 0, 46,  0, 0, 0, 0,  64, 17, 0xaa, 0xaa,  198, 18, 0, 2,  10, 0, 0, 1,
  0xc0, 0x20, 0, 7,  0, 26, 0, 0,  fill(0, 18)
}"""
"""The frame that ours send, 60 bytes (64 with FCS), in trafgen's notation: the receiving kernel must have the same work with both."""


def run(pairs: int) -> Result:
    """Frames per second, both sides."""
    need("ip", "trafgen", "taskset")
    ours = example("packet_bench")
    with wire() as link, tempfile.TemporaryDirectory() as scratch:
        frame = Path(scratch) / "frame.cfg"
        frame.write_text(FRAME)
        peer = ["trafgen", "--dev", link.left, "--conf", str(frame), "--cpus", "1"]
        return interleave(
            pairs,
            lambda: rate(link, [ours, "tx", link.left, "4"]),
            lambda: rate(link, peer),
            peer_name="trafgen",
            unit="frames/s",
        )


def rate(link: Wire, program: Sequence[str]) -> float:
    """Frames per second that the other end received while the program ran."""
    with background(link.command(link.left, program, core=1)) as process:
        time.sleep(WARM_UP_S)
        before, start = link.received(link.right), time.monotonic()
        time.sleep(WINDOW_S)
        after, end = link.received(link.right), time.monotonic()
        if process.poll() is not None:
            raise RuntimeError(f"{program[0]} ended early: {process.communicate()[0]}")
    return (after - before) / (end - start)
