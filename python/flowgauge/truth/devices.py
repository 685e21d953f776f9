"""Device models at random: all that the estimators' methods allow, and some that break an assumption."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Values = dict[str, Any]


@dataclass(frozen=True)
class Device:
    """A drawn device. `seed` is that of the whole draw, `number` its place; `breaks` names the assumption that it breaks."""

    seed: int
    number: int
    values: Mapping[str, Any]
    breaks: str = ""


def draw(seed: int, number: int) -> Device:
    """The device of that number: every method's assumptions hold."""
    return Device(seed, number, _values(_random(seed, number, "")))


def draw_breaking(seed: int, number: int) -> Device:
    """A device that breaks an assumption; the kinds take turns."""
    kinds = list(BREAKS)
    kind = kinds[number % len(kinds)]
    chance = _random(seed, number, kind)
    values = _values(chance)
    BREAKS[kind](values, chance)
    return Device(seed, number, values, kind)


def _random(seed: int, number: int, tag: str) -> random.Random:
    return random.Random(f"{seed} {number} {tag}")


def _values(chance: random.Random) -> Values:
    """Delays from microseconds to a millisecond with jitter of any shape, loss or none, entries of some microseconds.

    Some take longer for an entry the more there are, on some entries reach the data plane late, on some both.
    """
    per_entry = chance.choice((0.0, _log(chance, 10, 1e3)))
    lag = chance.choice((0.0, _log(chance, 1e3, 1e6)))
    return {
        "link": {
            "rate_mbps": chance.choice((1000, 10_000, 25_000)),
            "propagation_ns": chance.uniform(0, 500),
        },
        "forwarding": {
            "service": {"mean_ns": chance.uniform(50, 5_000)},
            "per_byte_ns": chance.uniform(0, 2),
            "latency": _time(chance, 1e3, 3e5),
            "loss": chance.choice((0.0, _log(chance, 1e-3, 3e-2))),
        },
        "control": {
            "delay": {"mean_ns": _log(chance, 1e3, 1e5)},
            "echo": _time(chance, 1e4, 3e5),
            "packet_in": {"service": {"mean_ns": _log(chance, 1e3, 1e5)}, "latency": _time(chance, 1e4, 3e5)},
            "packet_out": {
                "service": {"mean_ns": _log(chance, 1e3, 1e5)},
                "latency": _time(chance, 1e4, 3e5),
            },
        },
        "table": {
            "write": _time(chance, 1e4, 1e6),
            "per_entry_ns": per_entry,
            "lag": {"mean_ns": lag},
            "entries": chance.randint(150, 2_000),
        },
    }


def _time(chance: random.Random, low_ns: float, high_ns: float) -> Values:
    """A time with jitter of any shape."""
    mean = _log(chance, low_ns, high_ns)
    kind = chance.choice(("constant", "normal", "lognormal", "uniform", "exponential"))
    spread = {"constant": 0.0, "exponential": 0.0}.get(kind, chance.uniform(0.02, 0.25))
    return {"kind": kind, "mean_ns": mean, "std_ns": spread * mean}


def _log(chance: random.Random, low: float, high: float) -> float:
    return float(low * (high / low) ** chance.random())


def _batches(values: Values, chance: random.Random) -> None:
    """Frames leave in batches: their delay depends on the load."""
    values["forwarding"]["batch_frames"] = chance.choice((8, 16, 32))
    values["forwarding"]["batch_wait_ns"] = chance.uniform(15e6, 40e6)


def _parallel(values: Values, chance: random.Random) -> None:
    """Frames of one flow go through several queues and overtake each other."""
    values["queues"] = {"parallel": chance.choice((2, 4)), "spread": "frame"}
    values["forwarding"]["service"] = {"kind": "exponential", "mean_ns": chance.uniform(4e6, 6e6)}


def _evicting(values: Values, chance: random.Random) -> None:
    """A full table drops entries instead of refusing."""
    values["table"]["evicts"] = True


def _overloaded(values: Values, chance: random.Random) -> None:
    """PACKET_INs come more quickly than they are served."""
    values["control"]["packet_in"]["service"]["mean_ns"] = chance.uniform(7e6, 20e6)


BREAKS: Mapping[str, Callable[[Values, random.Random], None]] = {
    "batches": _batches,
    "parallel queues": _parallel,
    "evicting tables": _evicting,
    "overload": _overloaded,
}
"""Assumption -> what breaks it."""
