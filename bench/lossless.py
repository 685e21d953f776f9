"""The highest rate without loss: the highest rung of a ladder at which 9 of 10 five-second trials lose nothing.

The rule decides; what makes it affordable is where it is asked. Single trials of a second bracket the edge, the rule then confirms from
there, and each further search of the same receiver starts where the last one ended. A rate that the sender can't reach is not held.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from bench.pairs import Result, interleave
from bench.wires import Wire, background, example
from bench.wires import run as output

TRIAL_S, TRIALS, MAY_FAIL = 5.0, 10, 1
QUICK_S = 1.0
STEP = 1.03
"""A rung above the one below it."""
START_PPS, LOWEST_PPS = 1_000_000.0, 20_000.0
LEAP = 8
"""Rungs by which single trials climb or descend before they close in."""
REACHED = 0.98
"""What share of the rate the sender must have reached."""
DRAIN_S = 0.3

Trial = Callable[[float, float], bool]
"""Frames per second, seconds -> whether nothing was lost. Raises SenderTooSlow."""


class SenderTooSlow(Exception):
    """The sender did not reach the rate, so no receiver can be judged by it."""


class Ladder:
    """Finds the highest rate that is held; starts where the last search ended."""

    def __init__(self, trial: Trial) -> None:
        """Over trials of one receiver."""
        self._trial = trial
        self._rung: int | None = None

    def highest(self) -> float:
        """Frames per second; the lowest rung when none is held."""
        rung = self._bracket() if self._rung is None else self._rung
        if self._held(rung):
            while self._held(rung + 1):
                rung += 1
        else:
            rung -= 1
            while not self._lowest(rung) and not self._held(rung):
                rung -= 1
        self._rung = rung
        return pps(rung)

    def _bracket(self) -> int:
        """The highest rung that a single short trial holds: leap past it, then halve."""
        low = 0
        while not self._lowest(low) and not self._lossless(low, QUICK_S):
            low -= LEAP
        high = low + LEAP
        while self._lossless(high, QUICK_S):
            low, high = high, high + LEAP
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._lossless(middle, QUICK_S) else (low, middle)
        return low

    def _held(self, rung: int) -> bool:
        """Whether all but one of ten trials lose nothing; stops as soon as that is decided."""
        failed = 0
        for done in range(TRIALS):
            failed += not self._lossless(rung, TRIAL_S)
            passed = done + 1 - failed
            if failed > MAY_FAIL or passed >= TRIALS - MAY_FAIL:
                break
        print(f"    {pps(rung):.4g} frames/s: {passed} of {done + 1} trials without loss", file=sys.stderr)
        return failed <= MAY_FAIL

    def _lossless(self, rung: int, seconds: float) -> bool:
        try:
            return self._trial(pps(rung), seconds)
        except SenderTooSlow:
            return False

    def _lowest(self, rung: int) -> bool:
        return pps(rung) <= LOWEST_PPS


def pps(rung: int) -> float:
    """The rate of a rung."""
    return START_PPS * STEP**rung


@dataclass(frozen=True)
class Receiver:
    """A program that receives on the right end until it gets the signal `stop`.

    `count`: frames received and frames lost, from what it then says.
    `core`: where it is bound, None when it binds itself. `start_s`: how long it takes to be ready.
    """

    command: Sequence[str]
    stop: int
    count: Callable[[str], tuple[int, int]]
    core: int | None
    start_s: float = 0.5

    def trial(self, link: Wire, pps: float, seconds: float) -> bool:
        """Whether it lost nothing of what was sent at that rate."""
        with background(link.command(link.right, self.command, core=self.core)) as process:
            time.sleep(self.start_s)
            sent = send(link, pps, seconds)
            time.sleep(DRAIN_S)
            process.send_signal(self.stop)
            received, lost = self.count(process.communicate(timeout=30)[0])
        return received >= sent and lost == 0


def send(link: Wire, pps: float, seconds: float) -> int:
    """Send from the first core at that rate; how many frames left. Raises SenderTooSlow.

    By AF_XDP: the fastest sender that every kernel has.
    """
    paced = ["tx", link.left, str(seconds), "--pps", str(round(pps)), "--backend", "af_xdp"]
    report = json.loads(output(link.command(link.left, [example("packet_bench"), *paced], core=0)))
    frames = int(report["frames"]) - int(report["tx_errors"])
    if frames < REACHED * pps * seconds:
        raise SenderTooSlow
    return frames


def ours(link: Wire, backend: str, core: int) -> Receiver:
    """Our receiver, which checks every frame's sequence number and delay."""

    def count(text: str) -> tuple[int, int]:
        report = json.loads(text)
        return int(report["probes"]), int(report["dropped"])

    program = [example("packet_bench"), "rx", link.right, "60", "--backend", backend]
    return Receiver(program, signal.SIGTERM, count, core)


def highest_of(pairs: int, link: Wire, mine: Receiver, theirs: Receiver, peer_name: str) -> Result:
    """The highest rates of two receivers in turns, each on a ladder of its own."""

    def side(receiver: Receiver) -> Callable[[], float]:
        return Ladder(partial(receiver.trial, link)).highest

    return interleave(pairs, side(mine), side(theirs), peer_name=peer_name, unit="frames/s")
