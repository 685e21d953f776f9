"""A small draw of the truth harness (`make truth` is the whole): stated intervals hold the truth, broken assumptions are noticed."""

from __future__ import annotations

import secrets

import pytest

from flowgauge.truth.devices import BREAKS
from flowgauge.truth.expected import quantile
from flowgauge.truth.harness import ASSUMED, flag, judge_all
from flowgauge.truth.score import required, scores

DEVICES = 12


def test_intervals_hold_the_truth() -> None:
    seed = secrets.randbelow(2**31)
    print(f"seed {seed}")
    judgements = judge_all(seed, DEVICES)
    found = scores(judgements)
    assert len(found) > 30
    # So few devices say little of one estimator: one draw in a million falls below, for each of them.
    short = [
        f"{s.benchmark}.{s.figure}: {s.covered} of {s.devices}"
        for s in found
        if s.covered < required(s.devices, 1e-6)
    ]
    assert not short, f"seed {seed}: {short}"
    covered = sum(s.covered for s in found) / sum(s.devices for s in found)
    assert covered > 0.93, f"seed {seed}: {covered:.1%} of all intervals hold the truth"


@pytest.mark.parametrize("number", range(len(BREAKS)), ids=list(BREAKS))
def test_broken_assumptions_are_noticed(number: int) -> None:
    found = flag(7, number)
    assert found.breaks == list(ASSUMED)[number]
    assert found.flagged, found


@pytest.mark.parametrize("kind", ["normal", "lognormal", "uniform", "exponential", "constant"])
def test_quantiles_are_those_of_samples(kind: str) -> None:
    import numpy as np

    from flowgauge.truth.expected import sample

    time = {"kind": kind, "mean_ns": 1000.0, "std_ns": 200.0}
    drawn = sample(time, (200_000,), np.random.default_rng(1))
    for p in (0.1, 0.5, 0.99):
        assert quantile(time, p) == pytest.approx(float(np.quantile(drawn, p)), rel=0.02)
