"""A feature test that can't fail is a defect: every one that the embedded switch passes must fail on some faulty switch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import faulty
import pytest

from flowgauge.features.catalogue import FEATURES
from flowgauge.features.feature import Feature, Result
from flowgauge.features.frames import UDP
from flowgauge.features.run import run
from flowgauge.features.tester import Tester, through
from flowgauge.testbed.interface import Arrival

HARMLESS = {
    "output.local": "what is sent to LOCAL can't be seen",
    "meter.features": "any number of meters is allowed",
    "session.role_status": "never applicable",
}
"""Tests that no fault shows, and why."""


@pytest.fixture(scope="module", params=["1.0", "1.3"])
def testbed(request: pytest.FixtureRequest) -> Iterator[Any]:
    with faulty.embedded(request.param) as opened:
        yield opened


def outcome(feature: Feature, testbed: Any) -> str:
    try:
        return run(feature, testbed).result.value
    except Exception as error:
        # What a liar says may be no number, or too large a one.
        return f"broke: {type(error).__name__}"


@pytest.mark.parametrize("version", ["1.0", "1.3"])
def test_every_test_that_passes_can_fail(version: str) -> None:
    # Timeouts are slow, and alike.
    quick = [f for f in FEATURES.values() if f.seconds < 2 and f.id not in HARMLESS]
    passing, blind = 0, []
    with ExitStack() as stack:
        testbed = stack.enter_context(faulty.embedded(version))
        for feature in quick:
            if outcome(feature, testbed) != Result.PASSED:
                continue
            passing += 1
            found = (outcome(feature, make(testbed)) for make in faulty.FAULTS.values())
            if all(result == Result.PASSED for result in found):
                blind.append(feature.id)
            if feature.group in ("session", "port", "packet") and outcome(feature, testbed) != Result.PASSED:
                # A role, a port or a configuration was left as the faulty switch had it.
                stack.close()
                testbed = stack.enter_context(faulty.embedded(version))
    assert passing > 50
    assert not blind, f"nothing makes these fail: {blind}"


@pytest.mark.parametrize("at", [0, 13, 20, 24, 41, 60])
def test_one_wrong_byte_is_seen(testbed: Any, at: int) -> None:
    class Flipped(faulty.Faulty):
        def exchange(self, *arguments: Any) -> list[Arrival]:
            return [
                Arrival(a.port, a.at_ns, a.frame[:at] + bytes([a.frame[at] ^ 1]) + a.frame[at + 1 :])
                for a in super().exchange(*arguments)
            ]

    found = run(FEATURES["output.port"], Flipped(testbed))
    assert found.result is Result.FAILED
    assert any("^^" in line for line in found.evidence)


@pytest.mark.parametrize("change", ["twice", "swapped", "last lost"])
def test_copies_swaps_and_losses_are_seen(testbed: Any, change: str) -> None:
    class Changed(faulty.Faulty):
        def exchange(self, *arguments: Any) -> list[Arrival]:
            found = super().exchange(*arguments)
            if change == "twice":
                return found * 2
            if change == "last lost":
                return found[:-1]
            return [Arrival(1 - a.port, a.at_ns, a.frame) for a in found]

    assert run(FEATURES["match.udp_dst"], Changed(testbed)).result is Result.FAILED


def test_strangers_are_no_failure(testbed: Any) -> None:
    class Noisy(faulty.Faulty):
        def exchange(self, frames: Any, mark: bytes, enough: int, *rest: Any) -> list[Arrival]:
            stranger = UDP.to_bytes(bytes(48))
            self.inner.exchange([(0, stranger)], b"nobody", 0, 0.0, 0.0)
            return super().exchange(frames, mark, enough, *rest)

    assert run(FEATURES["output.port"], Noisy(testbed)).result is Result.PASSED


def test_a_switch_that_caches_is_waited_for(testbed: Any) -> None:
    class Cache(faulty.Faulty):
        """What was asked before `settle` is answered from the past."""

        settled = False

        def settle(self) -> None:
            self.settled = True

        def exchange(self, *arguments: Any) -> list[Arrival]:
            found = super().exchange(*arguments) if self.settled else []
            self.settled = False
            return found

    assert run(FEATURES["pipeline.priority"], Cache(testbed)).result is Result.PASSED


def test_the_way_back_is_tested_too(testbed: Any) -> None:
    class OneWay(faulty.Faulty):
        def exchange(self, frames: Any, *rest: Any) -> list[Arrival]:
            return super().exchange([f for f in frames if f[0] == 0], *rest)

    assert run(FEATURES["match.udp_dst"], OneWay(testbed)).result is Result.FAILED


def test_evidence_names_rule_and_frames(testbed: Any) -> None:
    tester = Tester(faulty.Hub(testbed))
    tester.clear()
    tester.flows("in_port={1},actions=output:{2}")
    with pytest.raises(Exception, match="unexpected at port 3") as caught:
        tester.exchange(through(1, UDP, 2))
    text = "\n".join(caught.value.evidence)  # type: ignore[attr-defined]
    for part in (
        "rules:",
        "in_port=1,actions=output:2",
        "sent into port 1: eth",
        "not expected",
        "flow dump:",
    ):
        assert part in text
