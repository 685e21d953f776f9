"""Frames that the kernel itself sends, faster than a program on the same core can: for benchmarks of receivers.

`python -m bench.kernel_sender INTERFACE SECONDS PPS`, inside the interface's namespace. A BPF program is run over and over on frames of the
kernel's own. When a frame is due, it writes a probe into it and redirects it out of the interface; else it drops it, and is asked again.
What is late by more than LATE_NS, as nobody ran us, is left out and not made up for: no receiver shall lose frames to a burst of ours.
The other end of a veth pair needs an XDP program or GRO for it to take such frames.
"""

from __future__ import annotations

import mmap
import signal
import socket
import struct
import sys

from bench import bpf
from flowgauge import _core

LATE_NS = 500_000
"""Well above what an interrupt takes, and well below what a host takes that runs others."""
NONCE, STREAM = 77, 1
"""The run and the stream that the probes say they are of."""
PROBE_AT, PROBE_LEN = 42, 18
"""Behind the headers of Ethernet, IPv4 and UDP."""
BATCH = 64
"""Frames until they are handed over, sent or not; a veth end queues 256."""
FRACTION_BITS = 10
"""Times have so many bits behind the nanosecond."""
SETUP_S = 0.2
"""The kernel takes a while until it runs the program for the first time."""

STATE = struct.Struct("<QQQQQ")
"""What the program keeps: the next sequence number; when it is due and the period, both in ns << FRACTION_BITS; when no more are sent
(0: not known yet), and for how long they are, both in ns.
"""

FOLD = """
            r4 = r3
            r4 &= 0xffff
            r3 >>= 16
            r3 += r4
"""
"""To 16 bits, with the carry; three times is enough for a sum of four words."""


def program(state: int, interface: int) -> str:
    """Sends out of the interface with that index what is due by the state in the map with that descriptor."""
    return f"""
            r7 = *(u32 *)(r1 + 0)               ; r7: the frame
            r3 = *(u32 *)(r1 + 4)               ; its end
            r4 = r7
            r4 += {PROBE_AT + PROBE_LEN}
            if r4 > r3 goto drop                ; the kernel wants to see that we stay inside
            r6 = map {state} ll
            call 5                              ; r0: the time now, bpf_ktime_get_ns()
            r1 = *(u64 *)(r6 + 24)
            if r1 != 0 goto started
            r1 = r0
            r2 = *(u64 *)(r6 + 32)
            r1 += r2
            *(u64 *)(r6 + 24) = r1
started:    if r0 > r1 goto drop
            r9 = *(u64 *)(r6 + 8)               ; r9: when the frame is due
            r1 = r9
            r1 >>= {FRACTION_BITS}
            if r1 > r0 goto drop
            r2 = r0
            r2 -= r1
            r3 = {LATE_NS}
            if r2 <= r3 goto in_time
            r9 = r0
            r9 <<= {FRACTION_BITS}
in_time:    r1 = *(u64 *)(r6 + 16)
            r9 += r1
            *(u64 *)(r6 + 8) = r9
            r8 = *(u64 *)(r6 + 0)               ; r8: its sequence number
            r1 = r8
            r1 += 1
            *(u64 *)(r6 + 0) = r1
            r1 = r8                             ; r1: nonce, stream, upper 32 of 48 bits of the sequence number
            r1 >>= 16
            r2 = {NONCE << 48 | STREAM << 32} ll
            r1 |= r2
            r8 <<= 48                           ; r8: its lower 16 bits, 48 bits of the time
            r0 <<= 16
            r0 >>= 16
            r8 |= r0
            r3 = 0                              ; r3: the balance, which makes the sum of all that is behind it known
            r4 = r1
            r4 >>= 32
            r3 += r4
            w4 = w1
            r3 += r4
            r4 = r8
            r4 >>= 32
            r3 += r4
            w4 = w8
            r3 += r4
            {3 * FOLD}
            r3 ^= -1
            r3 = be16 r3
            *(u16 *)(r7 + {PROBE_AT}) = r3
            r1 = be64 r1
            *(u64 *)(r7 + {PROBE_AT + 2}) = r1
            r8 = be64 r8
            *(u64 *)(r7 + {PROBE_AT + 10}) = r8
            r1 = {interface}
            r2 = 0
            call 23                             ; bpf_redirect()
            exit
drop:       r0 = 1
            exit
"""


def send(interface: str, seconds: float, pps: float) -> int:
    """How many frames of 64 bytes (FCS included) left, at so many per second. Raises Unavailable where the kernel can't do it."""
    frame = _core.build_frame([("eth", []), ("ipv4", []), ("udp", [])], bytes(PROBE_LEN))
    page = bpf.new_map(STATE.size)
    xdp = bpf.load_xdp(bpf.assemble(program(page, socket.if_nametoindex(interface))))
    with mmap.mmap(page, mmap.PAGESIZE) as state:
        period = round(1e9 / pps * (1 << FRACTION_BITS))
        STATE.pack_into(state, 0, 0, 0, period, 0, round(seconds * 1e9))
        # A signal ends it.
        signal.signal(signal.SIGALRM, lambda *_: None)
        signal.setitimer(signal.ITIMER_REAL, seconds + SETUP_S)
        bpf.run_on_frames(xdp, frame, BATCH)
        sent: int = STATE.unpack_from(state)[0]
        return sent


if __name__ == "__main__":
    print(send(sys.argv[1], float(sys.argv[2]), float(sys.argv[3])))
