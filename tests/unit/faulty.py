"""A switch that behaves, and ways to make it misbehave: what a feature test must catch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from flowgauge.errors import RejectedError
from flowgauge.features import tester
from flowgauge.testbed.interface import Arrival, OpenOptions
from flowgauge.testbed.live import LiveTestbed, open_testbed


@contextmanager
def embedded(version: str) -> Iterator[LiveTestbed]:
    """The embedded switch, on a testbed whose tests don't wait longer than a ring needs."""
    patch = pytest.MonkeyPatch()
    for name, seconds in (("QUIET_S", 0.004), ("SILENCE_S", 0.02), ("LIMIT_S", 0.2), ("EVENT_S", 0.2)):
        patch.setattr(tester, name, seconds)
    try:
        with open_testbed("embedded", OpenOptions(openflow=version)) as (_, testbed):
            yield testbed
    finally:
        patch.undo()


class Faulty:
    """A testbed around another one. It changes nothing."""

    def __init__(self, testbed: Any) -> None:
        self.inner = testbed
        self.ports, self.clock, self.loopback = testbed.ports, testbed.clock, None
        self.control: Any = testbed.control

    def exchange(
        self, frames: Sequence[tuple[int, bytes]], mark: bytes, enough: int, quiet_s: float, limit_s: float
    ) -> list[Arrival]:
        return list(self.inner.exchange(frames, mark, enough, quiet_s, limit_s))

    def messages(self) -> list[Mapping[str, Any]]:
        return list(self.inner.messages())

    def settle(self) -> None:
        self.inner.settle()


class Black(Faulty):
    """It loses every frame."""

    def exchange(self, *arguments: Any) -> list[Arrival]:
        super().exchange(*arguments)
        return []


class Hub(Faulty):
    """Every frame leaves by every port, too."""

    def exchange(self, frames: Sequence[tuple[int, bytes]], *rest: Any) -> list[Arrival]:
        flooded = [Arrival(p.index, 0, data) for _, data in frames for p in self.ports]
        return super().exchange(frames, *rest) + flooded


class Forgetful:
    """A control path that says yes and does nothing."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name.startswith(("add_", "modify_", "delete_")) and name not in ("delete_all",):
            return lambda *_, **__: None
        return found


class Lenient:
    """A control path that swallows every refusal."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not callable(found):
            return found

        def call(*arguments: Any, **more: Any) -> Any:
            try:
                return found(*arguments, **more)
            except RejectedError:
                return []

        return call


class Liar:
    """A control path whose replies have every number one too high and every text reversed."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name == "request":
            return lambda *a, **k: [wrong(reply) for reply in found(*a, **k)]
        if name == "count_entries":
            return lambda: found() + 1
        return found


def wrong(value: Any) -> Any:
    """The value, untrue in all its parts but its keys."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return f"{int(value, 16) + 1:#x}" if value.startswith("0x") else value[::-1]
    if isinstance(value, list):
        return [wrong(v) for v in value]
    return {k: wrong(v) for k, v in value.items()}


class Empty(Liar):
    """A control path whose statistics are empty."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name == "request":
            return lambda *a, **k: [hollow(reply) for reply in found(*a, **k)]
        return found


def hollow(value: Any) -> Any:
    """The value with every number 0 and every list and text empty."""
    if isinstance(value, dict):
        return {k: hollow(v) for k, v in value.items()}
    return value if isinstance(value, bool) or value is None else type(value)()


class Helpful(Liar):
    """A control path that takes a port that is not there for port 1."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name == "request":
            return lambda message, *a: found(json.loads(json.dumps(message).replace("4000", "1")), *a)
        return found


class Mute(Faulty):
    """It sends no message unasked."""

    def messages(self) -> list[Mapping[str, Any]]:
        super().messages()
        return []


def controlled(kind: type) -> Any:
    """A fault of the control path as a testbed."""

    def make(testbed: Any) -> Faulty:
        faulty = Faulty(testbed)
        faulty.control = kind(testbed.control)
        return faulty

    return make


FAULTS: Mapping[str, Any] = {
    "black": Black,
    "hub": Hub,
    "mute": Mute,
    "lenient": controlled(Lenient),
    "liar": controlled(Liar),
    "empty": controlled(Empty),
    "forgetful": controlled(Forgetful),
    "helpful": controlled(Helpful),
}
"""Ways to misbehave."""
