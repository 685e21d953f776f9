"""FLOW_MODs with six match fields, OpenFlow 1.3: encoded or decoded per second on one core, beside os-ken.

Both sides encode a message object that exists already, and decode the same bytes. Each measurement is a process of its own, pinned
to the same core, that times only the codec's calls.
"""

from __future__ import annotations

import os
import sys
import time
from importlib.util import find_spec
from typing import Literal

from bench.pairs import Result, Unavailable, interleave
from bench.wires import example
from bench.wires import run as output

SECONDS = 1.0
"""How long a measurement takes on either side."""
CALLS = 200
"""os-ken's calls between two looks at the clock."""

What = Literal["encode", "decode"]


def run(what: What, pairs: int) -> Result:
    """FLOW_MODs per second, both sides."""
    if find_spec("os_ken") is None:
        raise Unavailable("not installed: os-ken (tools/requirements-dev.txt)")
    ours = example("flow_mod_rate")
    core = str(min(os.sched_getaffinity(0)))
    pinned = ["taskset", "-c", core]
    message = osken_message()[0].hex()
    return interleave(
        pairs,
        lambda: float(output([*pinned, ours, what, "1.3", str(SECONDS), message])),
        lambda: float(output([*pinned, sys.executable, "-m", "bench.flow_mod_codec", what])),
        peer_name="os-ken",
        unit="FLOW_MODs/s",
    )


def osken_message():  # type: ignore[no-untyped-def]
    """The message as os-ken writes it, os-ken's object, and its protocol."""
    from os_ken.ofproto.ofproto_protocol import ProtocolDesc

    protocol = ProtocolDesc(4)
    parser, numbers = protocol.ofproto_parser, protocol.ofproto
    fields = {
        "in_port": 1,
        "eth_type": 0x0800,
        "ip_proto": 17,
        "ipv4_src": "10.0.0.1",
        "ipv4_dst": "10.0.0.2",
        "udp_dst": 80,
    }
    apply = parser.OFPInstructionActions(numbers.OFPIT_APPLY_ACTIONS, [parser.OFPActionOutput(2, 0)])
    message = parser.OFPFlowMod(
        protocol,
        priority=10,
        out_port=numbers.OFPP_ANY,
        out_group=numbers.OFPG_ANY,
        match=parser.OFPMatch(**fields),
        instructions=[apply],
    )
    message.set_xid(7)
    message.serialize()
    return bytes(message.buf), message, protocol


def osken_rate(what: What) -> float:
    """os-ken's rate."""
    from os_ken.ofproto import ofproto_parser

    data, message, protocol = osken_message()

    def encode() -> None:
        message.serialize()

    def decode() -> None:
        ofproto_parser.msg(protocol, data[0], data[1], len(data), 7, data)

    once = encode if what == "encode" else decode
    calls, start = 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        for _ in range(CALLS):
            once()
        calls += CALLS
    return calls / (time.perf_counter() - start)


if __name__ == "__main__":
    print(osken_rate("encode" if sys.argv[1] == "encode" else "decode"))
