"""`python -m bench [--case NAME] [--pairs N]`: one JSON line per case on standard output, progress on standard error."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Callable
from functools import partial

from bench import (
    af_packet_rx,
    af_xdp_rx,
    dpdk_null_tx,
    flow_install,
    flow_mod_codec,
    ovs_dpdk_vhost,
    pacing,
    simulator,
    veth_tx,
)
from bench.pairs import Result, Unavailable

CASES: dict[str, Callable[[int], Result]] = {
    "af-packet-tx": veth_tx.beside_trafgen,
    "af-packet-tx-testpmd": lambda pairs: veth_tx.beside_testpmd("af_packet", pairs),
    "af-packet-rx": af_packet_rx.run,
    "af-xdp-tx": lambda pairs: veth_tx.beside_testpmd("af_xdp", pairs),
    "af-xdp-rx": af_xdp_rx.run,
    "dpdk-null-tx": dpdk_null_tx.run,
    "ovs-dpdk-vhost": ovs_dpdk_vhost.run,
    **{
        f"pacing-{kpps}k-{backend}": partial(pacing.run, backend, kpps * 1000)
        for backend in ("ring", "af_packet", "af_xdp", "dpdk")
        for kpps in (100, 500)
    },
    "flow-install-20k": lambda pairs: flow_install.run(20_000, pairs),
    "flow-install-100k": lambda pairs: flow_install.run(100_000, pairs),
    "flow-mod-encode": lambda pairs: flow_mod_codec.run("encode", pairs),
    "flow-mod-decode": lambda pairs: flow_mod_codec.run("decode", pairs),
    "simulator-events": simulator.events,
    "simulator-10g-64b": simulator.line_rate,
}

PAIRS = 15
FEWER_PAIRS = {
    case: 6 for case in CASES if case in ("af-packet-rx", "af-xdp-rx") or case.startswith("pacing-")
}
"""Cases whose pairs take long, up to minutes: the fewest that have an interval."""


def exit_on_sigterm() -> None:
    """Let SIGTERM end us as an exit does, so that namespaces and processes are cleaned up on the way."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def main() -> int:
    """Run the cases; 0 when each could be run, 3 when this host lacks something."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--case", choices=CASES, help="only this case")
    parser.add_argument(
        "--pairs",
        type=int,
        help=f"interleaved pairs per case (default: {PAIRS}, 6 where one takes long)",
    )
    arguments = parser.parse_args()
    exit_on_sigterm()
    status = 0
    for name in [arguments.case] if arguments.case else CASES:
        try:
            print(
                json.dumps(
                    {"case": name} | CASES[name](arguments.pairs or FEWER_PAIRS.get(name, PAIRS)).as_json()
                ),
                flush=True,
            )
        except Unavailable as missing:
            print(f"{name}: {missing}", file=sys.stderr)
            status = 3
    return status


if __name__ == "__main__":
    sys.exit(main())
