"""The highest rate without loss: the highest rung of a ladder at which 9 of 10 five-second trials lose nothing.

The rule decides; what makes it affordable is where it is asked. Trials of a second bracket the edge, the rule then confirms from
there, and each further search of the same receiver starts where the last one ended. A rate that the sender can't reach is not held.
"""

from __future__ import annotations

import json
import signal
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from bench.pairs import Result, interleave
from bench.wires import Wire, background, example
from bench.wires import run as output
from flowgauge.duts.priority import served_first

TRIAL_S, TRIALS, MAY_FAIL = 5.0, 10, 1
QUICK_S = 1.0
STEP = 1.03
"""A rung above the one below it."""
START_PPS, LOWEST_PPS = 1_000_000.0, 20_000.0
LEAP = 8
"""Rungs by which short trials climb or descend before they close in."""
REACHED = 0.95
"""What share of the rate the sender must have reached: it leaves out what fell due while its core was taken away from it."""
DRAIN_S = 0.3

Trial = Callable[[float, float], float | None]
"""Frames per second, seconds -> how many per second left; None if any was lost. Raises SenderTooSlow."""


class SenderTooSlow(Exception):
    """The sender did not reach the rate, so no receiver can be judged by it."""


class Ladder:
    """Finds the highest rate that is held; starts where the last search ended."""

    def __init__(self, trial: Trial) -> None:
        """Over trials of one receiver."""
        self._trial = trial
        self._rung: int | None = None

    def highest(self) -> float:
        """Frames per second; 0 when not even the lowest rung is held."""
        rung = self._bracket() if self._rung is None else self._rung
        held = self._held(rung)
        if held:
            while higher := self._held(rung + 1):
                rung, held = rung + 1, higher
        else:
            rung, held = self._descend(rung)
        self._rung = rung
        return held

    def _descend(self, failed: int) -> tuple[int, float]:
        """The highest rung below that is held, and its rate: in ever longer leaps down to one that is, then halved."""
        rung, held, leap = failed, 0.0, 1
        while not held and not self._lowest(rung):
            failed, rung, leap = rung, rung - leap, 2 * leap
            held = self._held(rung)
        return _halve(rung, held, failed, self._held) if held else (rung, held)

    def _bracket(self) -> int:
        """The highest rung that one of two short trials holds: leap past it, then halve."""
        low = 0
        while not self._lowest(low) and not self._promising(low):
            low -= LEAP
        high = low + LEAP
        while self._promising(high):
            low, high = high, high + LEAP
        return _halve(low, True, high, self._promising)[0]

    def _promising(self, rung: int) -> bool:
        return any(self._lossless(rung, QUICK_S) is not None for _ in range(2))

    def _held(self, rung: int) -> float:
        """The rate, if all but one of ten trials lose nothing, else 0; stops as soon as that is decided."""
        rates: list[float] = []
        failed = 0
        while failed <= MAY_FAIL and len(rates) < TRIALS - MAY_FAIL:
            rate = self._lossless(rung, TRIAL_S)
            if rate is None:
                failed += 1
            else:
                rates.append(rate)
        told = f"{len(rates)} of {len(rates) + failed} trials without loss"
        print(f"    {pps(rung):.4g} frames/s: {told}", file=sys.stderr)
        return statistics.median(rates) if failed <= MAY_FAIL else 0.0

    def _lossless(self, rung: int, seconds: float) -> float | None:
        try:
            return self._trial(pps(rung), seconds)
        except SenderTooSlow:
            return None

    def _lowest(self, rung: int) -> bool:
        return pps(rung) <= LOWEST_PPS


def _halve(low: int, answer: float, high: int, ask: Callable[[int], float]) -> tuple[int, float]:
    """The highest rung that has an answer other than 0, and that answer, between one that has it and one that has not."""
    while high - low > 1:
        middle = (low + high) // 2
        if higher := ask(middle):
            low, answer = middle, higher
        else:
            high = middle
    return low, answer


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

    def trial(self, link: Wire, pps: float, seconds: float) -> float | None:
        """The rate that was sent, which may be a little less than asked for, if it lost nothing of that."""
        with background(link.command(link.right, self.command, core=self.core)) as process:
            time.sleep(self.start_s)
            sent = send(link, pps, seconds)
            time.sleep(DRAIN_S)
            process.send_signal(self.stop)
            received, lost = self.count(process.communicate(timeout=30)[0])
        return sent / seconds if received >= sent and lost == 0 else None


def send(link: Wire, pps: float, seconds: float) -> int:
    """Send from the first core at that rate; how many frames left. Raises SenderTooSlow."""
    paced = [sys.executable, "-m", "bench.kernel_sender", link.left, str(seconds), str(pps)]
    with served_first():
        frames = int(output(link.command(link.left, paced, core=0)))
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
