"""AF_PACKET receive: the highest rate at which 9 of 10 five-second trials lose nothing, beside netsniff-ng, same rule for both.

One paced sender of ours serves both receivers. A rate is held when at most one of ten trials loses a frame; the ladder climbs or
descends by 4 % from the last result until a held rate has a failed one above it. A rate that the sender can't reach is not held: where
both stop at the same rung, the sender was the limit.
"""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Callable

from bench.pairs import Result, interleave
from bench.wires import Wire, background, example, need, wire
from bench.wires import run as output

TRIAL_S, TRIALS, MAY_FAIL, STEP = 5, 10, 1, 1.04
START_PPS = 1_612_000.0
REACHED = 0.98
START_S, DRAIN_S = 0.5, 0.2

Trial = Callable[[float], bool]


def run(pairs: int) -> Result:
    """Frames per second, both sides."""
    need("ip", "netsniff-ng", "taskset")
    with wire() as link:
        ours = Ladder(lambda pps: ours_loses_nothing(link, pps))
        peer = Ladder(lambda pps: netsniff_loses_nothing(link, pps))
        return interleave(pairs, ours.highest, peer.highest, peer_name="netsniff-ng", unit="frames/s")


class Ladder:
    """Finds the highest rate that is held; starts where the last search ended."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.rung = 0

    def highest(self) -> float:
        """Frames per second."""
        if self.held():
            while True:
                self.rung += 1
                if not self.held():
                    self.rung -= 1
                    return self.pps()
        while not self.held():
            self.rung -= 1
        return self.pps()

    def pps(self) -> float:
        """The rate of the present rung."""
        return START_PPS * STEP**self.rung

    def held(self) -> bool:
        """Whether all but one of ten trials lose nothing; stops as soon as that is decided."""
        failed = 0
        for done in range(TRIALS):
            try:
                lossless = self.trial(self.pps())
            except SenderTooSlow:
                return False
            if not lossless:
                failed += 1
                if failed > MAY_FAIL:
                    return False
            elif done - failed + 1 >= TRIALS - MAY_FAIL:
                return True
        return True


class SenderTooSlow(Exception):
    """The sender did not reach the rate, so no receiver can be judged by it."""


def send(link: Wire, pps: float) -> int:
    """Send for five seconds at that rate; how many frames left. Raises SenderTooSlow."""
    program = [example("packet_bench"), "tx", link.left, str(TRIAL_S), "--pps", str(round(pps))]
    frames = int(json.loads(output(link.command(link.left, program, core=0)))["frames"])
    if frames < REACHED * pps * TRIAL_S:
        raise SenderTooSlow
    return frames


def ours_loses_nothing(link: Wire, pps: float) -> bool:
    """One trial with our receiver, which checks every frame's sequence number and delay."""
    program = [example("packet_bench"), "rx", link.right, "60"]
    with background(link.command(link.right, program, core=1)) as receiver:
        time.sleep(START_S)
        sent = send(link, pps)
        time.sleep(DRAIN_S)
        receiver.terminate()
        report = json.loads(receiver.communicate(timeout=30)[0])
    return int(report["received"]) >= sent and int(report["dropped"]) == 0


def netsniff_loses_nothing(link: Wire, pps: float) -> bool:
    """One trial with netsniff-ng, which counts and forgets, on a ring of the same size."""
    program = [
        "netsniff-ng",
        "--in",
        link.right,
        "--out",
        "/dev/null",
        "--silent",
        "--ring-size",
        "64MiB",
        "--bind-cpu",
        "1",
    ]
    with background(link.command(link.right, program)) as receiver:
        time.sleep(START_S)
        sent = send(link, pps)
        time.sleep(DRAIN_S)
        receiver.send_signal(signal.SIGINT)
        text = receiver.communicate(timeout=30)[0]
    passed = re.search(r"(\d+)\s+packets passed filter", text)
    lost = re.search(r"(\d+)\s+packets failed filter", text)
    if passed is None or lost is None:
        raise RuntimeError(f"netsniff-ng said: {text}")
    return int(passed[1]) >= sent and int(lost[1]) == 0
