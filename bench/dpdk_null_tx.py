"""DPDK transmit without a device's own cost: 64-byte frames per second out of one core into net_null, beside testpmd's flowgen.

Ours bear a sequence number and the time of their burst, and go through 64 000 flows; flowgen writes the headers of as many.
"""

from __future__ import annotations

import json

from bench.dpdk import MEMORY_MIB, huge_memory, need_dpdk, ours, testpmd, testpmd_rate
from bench.pairs import Result, interleave
from bench.wires import run as output

SECONDS, FLOWS = 3, 64_000


def run(pairs: int) -> Result:
    """Frames per second, both sides."""
    need_dpdk()
    device = "net_null0,no-rx=1"
    program = ours("tx", device, str(SECONDS), "--flows", str(FLOWS))
    flowgen = ["--forward-mode=flowgen", f"--flowgen-flows={FLOWS}", "--txpkts=60", "--burst=64", "--auto-start"]
    peer = testpmd([device], *flowgen)
    with huge_memory(MEMORY_MIB):
        return interleave(
            pairs,
            lambda: float(json.loads(output(program))["pps"]),
            lambda: testpmd_rate(peer, "Tx-pps", 1),
            peer_name="testpmd flowgen",
            unit="frames/s",
        )
