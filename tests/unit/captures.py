"""Capture files of TCP connections, made by hand: not with our own code."""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field

SYN, FIN, RST, ACK = 2, 1, 4, 16
CONTROLLER, SWITCH = ("10.0.0.1", 6653), ("10.0.0.2", 40000)
Address = tuple[str, int]


def frame(
    source: Address,
    target: Address,
    seq: int,
    payload: bytes = b"",
    flags: int = ACK,
    vlan: int | None = None,
) -> bytes:
    """An Ethernet frame with a TCP segment; checksums are left zero."""
    (src, sport), (dst, dport) = source, target
    tcp = struct.pack("!HHIIBBHHH", sport, dport, seq & 0xFFFFFFFF, 0, 5 << 4, flags, 65535, 0, 0) + payload
    a, b = ipaddress.ip_address(src), ipaddress.ip_address(dst)
    if a.version == 4:
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0, a.packed, b.packed)
    else:
        ip = struct.pack("!IHBB16s16s", 6 << 28, len(tcp), 6, 64, a.packed, b.packed)
    tag = b"" if vlan is None else struct.pack("!HH", 0x8100, vlan)
    return bytes(12) + tag + (b"\x08\x00" if a.version == 4 else b"\x86\xdd") + ip + tcp


def pcap(frames: Iterable[bytes], start: float = 1000.0, step: float = 0.001, snaplen: int = 65535) -> bytes:
    """A pcap file with microseconds, one frame each `step` seconds."""
    out = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
    for i, data in enumerate(frames):
        micros = round((start + i * step) * 1e6)
        kept = data[:snaplen]
        out.append(struct.pack("<IIII", micros // 10**6, micros % 10**6, len(kept), len(data)) + kept)
    return b"".join(out)


def pcapng(frames: Iterable[bytes], start: float = 1000.0, step: float = 0.001) -> bytes:
    """A pcapng file of one Ethernet interface with nanoseconds."""

    def block(kind: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, 12 + len(body)) + body + struct.pack("<I", 12 + len(body))

    out = [
        block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)),
        block(1, struct.pack("<HHI", 1, 0, 0) + struct.pack("<HHB3xHH", 9, 1, 9, 0, 0)),
    ]
    for i, data in enumerate(frames):
        nanos = round((start + i * step) * 1e9)
        head = struct.pack("<IIIII", 0, nanos >> 32, nanos & 0xFFFFFFFF, len(data), len(data))
        out.append(block(6, head + data))
    return b"".join(out)


@dataclass
class Connection:
    """A TCP connection; `send` makes the frames of one direction."""

    client: Address = SWITCH
    server: Address = CONTROLLER
    seqs: dict[Address, int] = field(default_factory=lambda: {SWITCH: 0xFFFFFFF0, CONTROLLER: 1000})

    def __post_init__(self) -> None:
        for end in (self.client, self.server):
            self.seqs.setdefault(end, 7)

    def open(self) -> list[bytes]:
        """The two SYNs."""
        return [self._one(self.client, b"", SYN), self._one(self.server, b"", SYN | ACK)]

    def send(self, sender: Address, data: bytes, segment: int = 1460) -> list[bytes]:
        """Segments with `data`."""
        return [self._one(sender, data[i : i + segment], ACK) for i in range(0, len(data), segment)]

    def close(self) -> list[bytes]:
        """The two FINs."""
        return [self._one(end, b"", FIN | ACK) for end in (self.client, self.server)]

    def _one(self, sender: Address, data: bytes, flags: int) -> bytes:
        receiver = self.server if sender == self.client else self.client
        made = frame(sender, receiver, self.seqs[sender], data, flags)
        self.seqs[sender] += len(data) + (flags & (SYN | FIN) != 0)
        return made
