"""Open vSwitch with DPDK, one PMD core, two vhost-user ports with packed rings, each forwarded to the other: frames per second that
come back to one tester core which sends on both, beside testpmd's flowgen on the same sockets.

Ours check every frame: sequence number, loss, duplicates, delay. flowgen counts. A new Open vSwitch serves both sides of a pair.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from bench.dpdk import MBUFS, need_dpdk, ours, testpmd, testpmd_rate
from bench.pairs import Result, Unavailable, interleave
from bench.wires import run as output
from flowgauge.duts.interface import TO_NOBODY
from flowgauge.duts.openvswitch import OpenVSwitch
from flowgauge.errors import SetupError

SECONDS, FLOWS = 4, 1024
NEVER = ("rx_dropped", "reordered", "duplicated", "corrupt", "tx_errors")
"""Frames that the tester lost, or that came back other than they were sent."""


def run(pairs: int) -> Result:
    """Frames per second, both sides."""
    need_dpdk()
    with open_vswitch() as devices:
        program = ours("both", *devices, str(SECONDS), "--flows", str(FLOWS))
        flowgen = ["--forward-mode=flowgen", f"--flowgen-flows={FLOWS}", "--txpkts=60", "--burst=64"]
        rings = ["--rxd=1024", "--txd=1024", *MBUFS, "--auto-start"]
        peer = testpmd(devices, *flowgen, *rings)
        return interleave(
            pairs,
            lambda: checked(json.loads(output(program))),
            lambda: testpmd_rate(peer, "Rx-pps", 2, skip=2),
            peer_name="testpmd flowgen",
            unit="frames/s",
        )


def checked(report: dict[str, float]) -> float:
    """Frames that came back per second. What Open vSwitch drops it may: it is offered too much; all else is an error."""
    wrong = {name: report[name] for name in NEVER if report[name]}
    if wrong:
        raise RuntimeError(f"frames went wrong: {wrong}")
    return float(report["rx_pps"])


@contextmanager
def open_vswitch() -> Iterator[list[str]]:
    """Start Open vSwitch with two ports that forward to each other; the devices of the tester's ends."""
    driver = OpenVSwitch("dpdk,ports=2,hugepages=yes")
    try:
        wiring = driver.start("1.3", TO_NOBODY)
        for entry in ("in_port=1,actions=output:2", "in_port=2,actions=output:1"):
            output(["ovs-ofctl", "-O", "OpenFlow13", "add-flow", str(wiring.ofctl), entry])
        yield [port.interface for port in wiring.ports]
    except SetupError as error:
        raise Unavailable(str(error)) from error
    finally:
        driver.stop()
