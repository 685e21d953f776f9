"""An independent witness: tcpdump with kernel timestamps, and the frames of its files. Used to check ourselves, never to measure."""

from __future__ import annotations

import struct
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from flowgauge.duts.host import need_tool
from flowgauge.errors import SetupError

START_S = 0.2
"""tcpdump says that it listens a little before it does."""
_HEADER, _RECORD = 24, 16


@dataclass(frozen=True)
class Tap:
    """What to capture: frames that pass `filter` (pcap-filter(7)) on an interface in a namespace, `snap` bytes of each.

    `settle_s`: how long to go on after the last frame; tcpdump's ring hands over what it holds now and then, and what it holds when
    tcpdump ends is lost. `buffer_kib`: the ring's size.
    """

    namespace: str
    interface: str
    filter: str
    snap: int = 128
    buffer_kib: int = 65536
    settle_s: float = 1.3


@contextmanager
def captured(taps: Sequence[Tap], scratch: Path) -> Iterator[list[bytes]]:
    """Capture while the block runs; the list is filled with the files, one per tap, once it has ended. Needs root."""
    files: list[bytes] = []
    paths = [scratch / f"{number}.pcap" for number in range(len(taps))]
    sniffers: list[subprocess.Popen[str]] = []
    try:
        for tap, path in zip(taps, paths, strict=True):
            sniffers.append(_start(tap, path))
        time.sleep(START_S)
        yield files
        time.sleep(max(tap.settle_s for tap in taps))
    finally:
        for sniffer in sniffers:
            sniffer.terminate()
            sniffer.wait()
    files.extend(path.read_bytes() for path in paths)


def frames(pcap: bytes) -> Iterator[tuple[int, bytes]]:
    """Time in ns and what was kept of each frame of a nanosecond pcap; a torn end is left out.

    >>> list(frames(bytes(24) + struct.pack("<IIII", 2, 5, 3, 60) + b"abc" + b"torn"))
    [(2000000005, b'abc')]
    """
    offset = _HEADER
    while offset + _RECORD <= len(pcap):
        seconds, nanos, kept, _ = struct.unpack_from("<IIII", pcap, offset)
        offset += _RECORD + kept
        if offset <= len(pcap):
            yield seconds * 10**9 + nanos, pcap[offset - kept : offset]


def _start(tap: Tap, file: Path) -> subprocess.Popen[str]:
    inside = [need_tool("ip"), "netns", "exec", tap.namespace, need_tool("tcpdump")]
    options = ["-i", tap.interface, "-s", str(tap.snap), "-B", str(tap.buffer_kib), "-U", "-w", str(file)]
    process = subprocess.Popen(
        [*inside, "--time-stamp-precision=nano", *options, tap.filter], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    said = process.stderr.readline()  # "listening on ..."
    if process.poll() is not None:
        raise SetupError(f"tcpdump did not start on {tap.interface}: {said.strip()}")
    return process
