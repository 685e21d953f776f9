"""The simulator beside SimPy: events per second, and the time that a virtual second of 64-byte frames at 10 Gbit/s takes.

An event is one frame at one element: source, server and sink of a queue are three. Ours passes more elements for each frame (cables,
output queues, accounts with percentiles); they are not counted. SimPy's model is the queue alone, with delays summed up. Each
measurement is a process of its own on the same core.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from importlib.util import find_spec
from typing import Literal

from bench.pairs import Result, Unavailable, interleave
from bench.wires import example
from bench.wires import run as output

SERVICE_S = 1e-6
LOAD_PPS = 800_000
"""The queue: constant service, Poisson arrivals at 80 % load."""
LINE_PPS = 14_880_952
LINE_SERVICE_S = 60e-9
"""64-byte frames at 10 Gbit/s, and a server that is a little quicker."""
ELEMENTS = 3
"""Elements that a frame passes, on either side: source, server, sink."""
PART = 0.01
"""SimPy runs this part of the virtual second; its time is scaled up."""

Case = Literal["md1", "10g-64b"]


def events(pairs: int) -> Result:
    """Events per second of an M/D/1 queue. Ours must be above 10 million."""
    return compare("md1", pairs, "events/s")


def line_rate(pairs: int) -> Result:
    """Seconds for a virtual second at line rate. Ours must be below 7."""
    return compare("10g-64b", pairs, "s per virtual second")


def compare(case: Case, pairs: int, unit: str) -> Result:
    """Both sides of a case."""
    if find_spec("simpy") is None:
        raise Unavailable("not installed: simpy (tools/requirements-dev.txt)")
    program = example("simulator_bench")
    pinned = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
    return interleave(
        pairs,
        lambda: ours(case, json.loads(output([*pinned, program, case]))),
        lambda: float(output([*pinned, sys.executable, "-m", "bench.simulator", case])),
        peer_name="SimPy",
        unit=unit,
        less_is_better=case == "10g-64b",
    )


def ours(case: Case, found: dict[str, float]) -> float:
    """The figure that is compared, of what our program prints."""
    return ELEMENTS * found["frames"] / found["seconds"] if case == "md1" else found["seconds"]


def simpy_figure(case: Case) -> float:
    """The same of SimPy."""
    frames, seconds = simpy_queue(case)
    return ELEMENTS * frames / seconds if case == "md1" else seconds / PART


def simpy_queue(case: Case) -> tuple[int, float]:
    """Frames through SimPy's queue in a part of a virtual second, and how long that took."""
    import simpy

    environment = simpy.Environment()
    server = simpy.Resource(environment)
    draw = random.Random(1).expovariate
    delays: list[float] = []
    poisson = case == "md1"
    service = SERVICE_S if poisson else LINE_SERVICE_S

    def frame():  # type: ignore[no-untyped-def]
        left = environment.now
        with server.request() as turn:
            yield turn
            yield environment.timeout(service)
        delays.append(environment.now - left)

    def source():  # type: ignore[no-untyped-def]
        while True:
            yield environment.timeout(draw(LOAD_PPS) if poisson else 1 / LINE_PPS)
            environment.process(frame())

    environment.process(source())
    begun = time.perf_counter()
    environment.run(until=PART * (10 if poisson else 1))
    return len(delays), time.perf_counter() - begun


if __name__ == "__main__":
    print(simpy_figure("md1" if sys.argv[1] == "md1" else "10g-64b"))
