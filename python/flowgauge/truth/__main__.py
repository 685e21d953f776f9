"""`python -m flowgauge.truth`: draws devices, judges every estimator on them, prints the table.

python -m flowgauge.truth [--devices 200] [--seed N] [--write FILE]

Ends with 1 when an estimator's intervals hold the truth too seldom or are too wide, or a broken assumption goes unnoticed too often.
"""

from __future__ import annotations

import argparse
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path

from flowgauge.truth.harness import FRAMES, PPS, REPEATS, Flagged, flag_all, judge_all
from flowgauge.truth.score import Score, flags, required, scores, table

NOTICED = 0.95
PAGE = """# What the estimates are worth

Each figure with an interval was estimated on {devices} simulated devices whose properties are known: links, service times, jitter of
five shapes, losses and table times drawn at random (seed {seed}). A 95 % interval should hold the truth on 95 of 100 devices; fewer
than {required} of {devices} come about by chance in less than one draw of a hundred. Bias, error and width are relative to the truth
(barrier_lead_us: to activation_us); the median width must not be above the limit. The interval score is the width plus 40 times what the
truth lies outside (Gneiting and Raftery 2007), in the mean: the few devices whose true loss is 0.1 % and that lost a frame or two weigh
heavily in that of loss_ratio. Activation is known to a probe's delay and gap, so that its intervals are the wider the faster a device's
table is beside its data path. {repeats} trials each, {frames} probes at {pps} per second.

`make truth` draws new devices and prints these tables; `make truth DEVICES={devices} SEED={seed}` prints just these.

{scores}

Devices that break a method's assumption are to be noticed: a check fails that sound devices pass, or no figure comes.

{flags}
"""


def main() -> int:
    """Draw, judge, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--devices", type=int, default=200)
    parser.add_argument("--seed", type=int, default=None, help="default: drawn, and printed")
    parser.add_argument("--write", type=Path, help="write the documentation page there")
    arguments = parser.parse_args()
    seed = secrets.randbelow(2**31) if arguments.seed is None else arguments.seed
    print(f"seed {seed}, {arguments.devices} devices", flush=True)
    found = scores(judge_all(seed, arguments.devices))
    noticed = flag_all(seed, arguments.devices)
    print("\n".join(table(found)), "", "\n".join(flags(noticed)), sep="\n")
    if arguments.write:
        page = PAGE.format(
            devices=arguments.devices,
            seed=seed,
            required=required(arguments.devices),
            repeats=REPEATS,
            frames=FRAMES,
            pps=PPS,
            scores="\n".join(table(found)),
            flags="\n".join(flags(noticed)),
        )
        arguments.write.write_text(page)
    short = shortfalls(found, noticed)
    for line in short:
        print(f"falls short: {line}", file=sys.stderr)
    return 1 if short else 0


def shortfalls(found: Sequence[Score], noticed: Sequence[Flagged]) -> list[str]:
    """What fell short, in words."""
    short = [f"{s.benchmark}.{s.figure}: {s.covered} of {s.devices} covered" for s in found if not s.holds]
    short += [
        f"{s.benchmark}.{s.figure}: median width {s.width:.1%}, limit {s.limit:.1%}"
        for s in found
        if not s.narrow
    ]
    for kind in dict.fromkeys(f.breaks for f in noticed):
        group = [f.flagged for f in noticed if f.breaks == kind]
        if sum(group) < NOTICED * len(group):
            short.append(f"{kind}: {sum(group)} of {len(group)} noticed")
    return short


if __name__ == "__main__":
    sys.exit(main())
