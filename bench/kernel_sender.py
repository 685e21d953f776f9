"""Frames that the kernel itself sends, three times as fast as a program on the same core can: for benchmarks of receivers.

`python -m bench.kernel_sender INTERFACE SECONDS PPS`, inside the interface's namespace. A BPF program is run over and over on frames of the
kernel's own (BPF_PROG_RUN with live frames, Linux 5.18). When a frame is due, it writes a probe into it and redirects it out of the
interface; else it drops it, and is asked again. What is late by more than LATE_NS, as nobody ran us, is left out and not made up for:
no receiver shall lose frames to a burst of ours. The other end of a veth pair needs an XDP program or GRO for it to take such frames.

The program is written as instructions, RFC 9669, so that no compiler is needed.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import platform
import signal
import socket
import struct
import sys

from bench.pairs import Unavailable
from flowgauge import _core

LATE_NS = 500_000
NONCE, STREAM = 77, 1
PROBE_AT, PROBE_LEN = 42, 18
BATCH = 64
"""Frames until they are handed over, sent or not; a veth end queues 256."""
FRACTION_BITS = 10
"""Times have so many bits behind the nanosecond."""

_BPF = {"x86_64": 321, "aarch64": 280}
_MAP_CREATE, _PROG_LOAD, _PROG_RUN = 0, 5, 10
_MAP_TYPE_ARRAY, _MAPPABLE = 2, 1 << 10
_PROG_TYPE_XDP, _LIVE_FRAMES = 6, 1 << 1
_TIME, _REDIRECT = 5, 23
_XDP_DROP = 1

_STATE = struct.Struct("<QQQQQ")
"""Next sequence number; when it is due and the period, both in ns << FRACTION_BITS; when no more are sent (0: not known yet), and for how
long they are, both in ns.
"""
_SEQ, _DUE, _PERIOD, _END, _DURATION = 0, 8, 16, 24, 32
SETUP_S = 0.2
"""The kernel takes a while until it runs the program for the first time."""


class _Program:
    """Instructions, as the kernel reads them. Registers: 0 results, 1 to 5 arguments (lost by a call), 6 to 9 kept."""

    def __init__(self) -> None:
        self._code: list[bytes] = []
        self._ends: list[int] = []

    def add(self, code: int, to: int = 0, source: int = 0, offset: int = 0, number: int = 0) -> None:
        self._code.append(struct.pack("<BBhi", code, source << 4 | to, offset, number))

    def load_8(self, to: int, source: int, offset: int) -> None:
        """`to = *(u64 *)(source + offset)`"""
        self.add(0x79, to, source, offset)

    def load_4(self, to: int, source: int, offset: int) -> None:
        """`to = *(u32 *)(source + offset)`"""
        self.add(0x61, to, source, offset)

    def store_8(self, to: int, offset: int, source: int) -> None:
        """`*(u64 *)(to + offset) = source`"""
        self.add(0x7B, to, source, offset)

    def store_2(self, to: int, offset: int, source: int) -> None:
        """`*(u16 *)(to + offset) = source`"""
        self.add(0x6B, to, source, offset)

    def move(self, to: int, source: int) -> None:
        self.add(0xBF, to, source)

    def move_low(self, to: int, source: int) -> None:
        """The lower 32 bits."""
        self.add(0xBC, to, source)

    def set(self, to: int, number: int) -> None:
        self.add(0xB7, to, number=number)

    def set_8(self, to: int, number: int, kind: int = 0) -> None:
        """64 bits. `kind` 2: the memory of the map with the descriptor `number`."""
        low, high = struct.unpack("<ii", struct.pack("<Q", number))
        self.add(0x18, to, kind, number=low)
        self.add(0, number=high)

    def sum(self, to: int, source: int) -> None:
        self.add(0x0F, to, source)

    def sum_number(self, to: int, number: int) -> None:
        self.add(0x07, to, number=number)

    def difference(self, to: int, source: int) -> None:
        self.add(0x1F, to, source)

    def both(self, to: int, source: int) -> None:
        """`to |= source`"""
        self.add(0x4F, to, source)

    def mask(self, to: int, number: int) -> None:
        self.add(0x57, to, number=number)

    def invert(self, to: int) -> None:
        self.add(0xA7, to, number=-1)

    def left(self, to: int, bits: int) -> None:
        self.add(0x67, to, number=bits)

    def right(self, to: int, bits: int) -> None:
        self.add(0x77, to, number=bits)

    def big_endian(self, to: int, bits: int) -> None:
        self.add(0xDC, to, number=bits)

    def call(self, function: int) -> None:
        self.add(0x85, number=function)

    def exit(self) -> None:
        self.add(0x95)

    def end_if_above(self, one: int, other: int) -> None:
        """To the end if `one > other`."""
        self._ends.append(len(self._code))
        self.add(0x2D, one, other)

    def skip_if(self, one: int, instructions: int) -> None:
        """Leave out some instructions if it is not 0."""
        self.add(0x55, one, offset=instructions)

    def skip_unless_above(self, one: int, other: int, instructions: int) -> None:
        """Leave out some instructions if `one <= other`."""
        self.add(0xBD, one, other, instructions)

    def bytes(self) -> bytes:
        """All of it, with an end that drops the frame."""
        end = len(self._code)
        self.set(0, _XDP_DROP)
        self.exit()
        for at in self._ends:
            code, registers, _, number = struct.unpack("<BBhi", self._code[at])
            self._code[at] = struct.pack("<BBhi", code, registers, end - at - 1, number)
        return b"".join(self._code)


def _program(interface: int, state: int, length: int) -> bytes:
    """Sends out of the interface with that index what is due by the state in the map with that descriptor."""
    p = _Program()
    frame, now, seq, due, at = 7, 0, 8, 9, 6
    p.load_4(frame, 1, 0)
    p.load_4(3, 1, 4)
    p.move(4, frame)
    p.sum_number(4, length)
    p.end_if_above(4, 3)
    p.set_8(at, state, kind=2)
    p.call(_TIME)
    p.load_8(1, at, _END)
    p.skip_if(1, instructions=4)
    p.move(1, now)
    p.load_8(2, at, _DURATION)
    p.sum(1, 2)
    p.store_8(at, _END, 1)
    p.end_if_above(now, 1)
    p.load_8(due, at, _DUE)
    p.move(1, due)
    p.right(1, FRACTION_BITS)
    p.end_if_above(1, now)
    p.move(2, now)
    p.difference(2, 1)
    p.set(3, LATE_NS)
    p.skip_unless_above(2, 3, instructions=2)
    p.move(due, now)
    p.left(due, FRACTION_BITS)
    p.load_8(1, at, _PERIOD)
    p.sum(due, 1)
    p.store_8(at, _DUE, due)
    p.load_8(seq, at, _SEQ)
    p.move(1, seq)
    p.sum_number(1, 1)
    p.store_8(at, _SEQ, 1)
    # The probe: balance, then nonce, stream, sequence number (48 bits) and time (48 bits) as two words.
    head, tail, balance = 1, seq, 3
    p.move(head, seq)
    p.right(head, 16)
    p.set_8(2, NONCE << 48 | STREAM << 32)
    p.both(head, 2)
    p.left(tail, 48)
    p.left(now, 16)
    p.right(now, 16)
    p.both(tail, now)
    p.set(balance, 0)
    for word in (head, tail):
        p.move(4, word)
        p.right(4, 32)
        p.sum(balance, 4)
        p.move_low(4, word)
        p.sum(balance, 4)
    for _ in range(3):
        p.move(4, balance)
        p.mask(4, 0xFFFF)
        p.right(balance, 16)
        p.sum(balance, 4)
    p.invert(balance)
    p.big_endian(balance, 16)
    p.store_2(frame, PROBE_AT, balance)
    p.big_endian(head, 64)
    p.store_8(frame, PROBE_AT + 2, head)
    p.big_endian(tail, 64)
    p.store_8(frame, PROBE_AT + 10, tail)
    p.set(1, interface)
    p.set(2, 0)
    p.call(_REDIRECT)
    p.exit()
    return p.bytes()


def _bpf(command: int, attributes: bytes) -> int:
    """bpf(2). Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    result: int = libc.syscall(_BPF[platform.machine()], command, buffer, len(attributes))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _load(code: bytes) -> int:
    """The descriptor of a program. Raises Unavailable with what the kernel says of it."""
    license_, log = ctypes.create_string_buffer(b"Apache-2.0"), ctypes.create_string_buffer(1 << 16)
    instructions = ctypes.create_string_buffer(code, len(code))
    head = (_PROG_TYPE_XDP, len(code) // 8, ctypes.addressof(instructions), ctypes.addressof(license_))
    try:
        return _bpf(_PROG_LOAD, struct.pack("<IIQQIIQII", *head, 1, len(log), ctypes.addressof(log), 0, 0))
    except OSError as error:
        raise Unavailable(f"the kernel takes no such BPF program: {error}\n{log.value.decode()}") from error


def send(interface: str, seconds: float, pps: float) -> int:
    """How many frames of 64 bytes (FCS included) left, at so many per second. Raises Unavailable where the kernel can't do it."""
    frame = _core.build_frame([("eth", []), ("ipv4", []), ("udp", [])], bytes(PROBE_LEN))
    page = _bpf(_MAP_CREATE, struct.pack("<IIIII", _MAP_TYPE_ARRAY, 4, _STATE.size, 1, _MAPPABLE))
    program = _load(_program(socket.if_nametoindex(interface), page, len(frame)))
    with mmap.mmap(page, mmap.PAGESIZE) as state:
        period = round(1e9 / pps * (1 << FRACTION_BITS))
        _STATE.pack_into(state, 0, 0, 0, period, 0, round(seconds * 1e9))
        data = ctypes.create_string_buffer(frame, len(frame))
        run = struct.pack(
            "<IIIIQQIIIIQQIIII",
            *(program, 0, len(frame), 0, ctypes.addressof(data), 0),
            *(0xFFFFFFFF, 0, 0, 0, 0, 0),
            *(_LIVE_FRAMES, 0, BATCH, 0),
        )
        # A signal ends it.
        signal.signal(signal.SIGALRM, lambda *_: None)
        signal.setitimer(signal.ITIMER_REAL, seconds + SETUP_S)
        try:
            _bpf(_PROG_RUN, run)
        except OSError as error:
            if error.errno != errno.EINTR:
                raise Unavailable(f"the kernel does not run BPF programs on live frames: {error}") from error
        sent: int = _STATE.unpack_from(state)[0]
        return sent


if __name__ == "__main__":
    print(send(sys.argv[1], float(sys.argv[2]), float(sys.argv[3])))
