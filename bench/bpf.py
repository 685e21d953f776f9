"""BPF programs from their assembly text, loaded and run without a compiler: the dialect that compilers and `bpftool` print, and `bpf(2)`.

Registers: r0 results, r1 to r5 arguments (lost by a call), r6 to r9 kept; w0 to w9 are their lower halves. Instructions: RFC 9669.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import re
import struct
from collections.abc import Sequence
from typing import NamedTuple

from bench.pairs import Unavailable

_SYSCALL = {"x86_64": 321, "aarch64": 280}
_MAP_CREATE, _PROG_LOAD, _PROG_RUN = 0, 5, 10
_MAP_TYPE_ARRAY, _MAPPABLE = 2, 1 << 10
_PROG_TYPE_XDP, _LIVE_FRAMES = 6, 1 << 1
_FOREVER = 0xFFFFFFFF
_WIDE = 0x18
"""The code of what loads 64 bits."""


class _Form(NamedTuple):
    """An instruction: its code, what the operands in its text are, in their order, and what it has without saying so."""

    code: int
    operands: str
    number: int = 0
    source: int = 0

    def encode(self, operands: Sequence[int]) -> list[bytes]:
        """With these operands: eight bytes, or twice eight."""
        given = dict(zip(self.operands.split(), operands, strict=True))
        to, source, offset = given.get("to", 0), given.get("source", self.source), given.get("offset", 0)
        low, high = struct.unpack("<ii", struct.pack("<q", given.get("number", self.number)))
        first = struct.pack("<BBhi", self.code, source << 4 | to, offset, low)
        return [first, struct.pack("<BBhi", 0, 0, 0, high)] if self.code == _WIDE else [first]


_FORMS = {
    "R = *(u32 *)(R + N)": _Form(0x61, "to source offset"),
    "R = *(u64 *)(R + N)": _Form(0x79, "to source offset"),
    "*(u16 *)(R + N) = R": _Form(0x6B, "to offset source"),
    "*(u64 *)(R + N) = R": _Form(0x7B, "to offset source"),
    "R = R": _Form(0xBF, "to source"),
    "W = W": _Form(0xBC, "to source"),
    "R = N": _Form(0xB7, "to number"),
    "R = N ll": _Form(_WIDE, "to number"),
    "R = map N ll": _Form(_WIDE, "to number", source=2),
    "R += R": _Form(0x0F, "to source"),
    "R += N": _Form(0x07, "to number"),
    "R -= R": _Form(0x1F, "to source"),
    "R |= R": _Form(0x4F, "to source"),
    "R &= N": _Form(0x57, "to number"),
    "R ^= N": _Form(0xA7, "to number"),
    "R <<= N": _Form(0x67, "to number"),
    "R >>= N": _Form(0x77, "to number"),
    "R = be16 R": _Form(0xDC, "to to", number=16),
    "R = be64 R": _Form(0xDC, "to to", number=64),
    "if R > R": _Form(0x2D, "to source"),
    "if R <= R": _Form(0xBD, "to source"),
    "if R != N": _Form(0x55, "to number"),
    "call N": _Form(0x85, "number"),
    "exit": _Form(0x95, ""),
}
"""`map N` is a pointer to the first value of the map with the descriptor N."""
_OPERAND = re.compile(r"\b([rw])(\d)\b|(-?\b(?:0x[0-9a-f]+|\d+)\b)")


def assemble(text: str) -> bytes:
    """Instructions, one per line; `name:` is a place to go to, `;` begins a comment. Raises ValueError for a line that is none.

    >>> assemble("if r1 > r2 goto end  ; r1 is left\\n r1 += -1 \\n end: exit").hex(" ", 8)
    '2d21010000000000 07010000ffffffff 9500000000000000'
    """
    code: list[bytes] = []
    places: dict[str, int] = {}
    jumps: list[tuple[int, str]] = []
    for line in text.splitlines():
        text_only, _, _ = line.partition(";")
        *labels, instruction = text_only.split(":")
        statement, _, goal = (part.strip() for part in instruction.partition("goto "))
        form = _FORMS.get(_OPERAND.sub(lambda found: (found[1] or "n").upper(), statement))
        places |= {label.strip(): len(code) for label in labels}
        if goal:
            jumps.append((len(code), goal))
        if form:
            operands = [int(found[2] or found[3], 0) for found in _OPERAND.finditer(statement)]
            code += form.encode(operands)
        elif statement:
            raise ValueError(f"no instruction: {line.strip()}")
    for at, goal in jumps:
        code[at] = code[at][:2] + struct.pack("<h", places[goal] - at - 1) + code[at][4:]
    return b"".join(code)


def new_map(size: int) -> int:
    """The descriptor of a map of one value of that size, which can be mapped into memory. Raises OSError."""
    return _bpf(_MAP_CREATE, struct.pack("<IIIII", _MAP_TYPE_ARRAY, 4, size, 1, _MAPPABLE))


def load_xdp(code: bytes) -> int:
    """The descriptor of an XDP program. Raises Unavailable with what the kernel says of it."""
    license_, log = ctypes.create_string_buffer(b"Apache-2.0"), ctypes.create_string_buffer(1 << 16)
    instructions = ctypes.create_string_buffer(code, len(code))
    head = (_PROG_TYPE_XDP, len(code) // 8, ctypes.addressof(instructions), ctypes.addressof(license_))
    try:
        return _bpf(_PROG_LOAD, struct.pack("<IIQQIIQII", *head, 1, len(log), ctypes.addressof(log), 0, 0))
    except OSError as error:
        raise Unavailable(f"the kernel takes no such BPF program: {error}\n{log.value.decode()}") from error


def run_on_frames(program: int, frame: bytes, batch: int) -> None:
    """Run an XDP program over and over on copies of a frame, which then go where it says, until a signal comes.

    `batch`: after how many they are handed over. Raises Unavailable where the kernel can't do it (before Linux 5.18).
    """
    data = ctypes.create_string_buffer(frame, len(frame))
    run = struct.pack(
        "<IIIIQQIIIIQQIIII",
        *(program, 0, len(frame), 0, ctypes.addressof(data), 0),
        *(_FOREVER, 0, 0, 0, 0, 0),
        *(_LIVE_FRAMES, 0, batch, 0),
    )
    try:
        _bpf(_PROG_RUN, run)
    except OSError as error:
        if error.errno != errno.EINTR:
            raise Unavailable(f"the kernel does not run BPF programs on live frames: {error}") from error


def _bpf(command: int, attributes: bytes) -> int:
    """bpf(2). Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    result: int = libc.syscall(_SYSCALL[platform.machine()], command, buffer, len(attributes))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
