"""What the benches are made of, as far as it needs no network."""

from __future__ import annotations

import pytest
from bench.bpf import assemble
from bench.lossless import LOWEST_PPS, STEP, Ladder, SenderTooSlow


def test_instructions_are_encoded_as_rfc_9669_has_them() -> None:
    text = """
            r7 = *(u32 *)(r1 + 4)
            r6 = map 9 ll                  ; twice eight bytes
            if r6 > r7 goto over
            r1 = 0x1234567890 ll
            *(u16 *)(r7 + 42) = r1
            w3 = w1
            r3 = be16 r3
            r3 += -1
    over:   call 5
            exit
    """
    assert assemble(text).hex(" ", 8).split() == [
        "6117040000000000",
        *("1826000009000000", "0000000000000000"),
        "2d76060000000000",
        *("1801000090785634", "0000000012000000"),
        "6b172a0000000000",
        "bc13000000000000",
        "dc03000010000000",
        "07030000ffffffff",
        "8500000005000000",
        "9500000000000000",
    ]


@pytest.mark.parametrize("line", ["r1 = r2 + r3", "if r1 < r2 goto start", "*(u8 *)(r1 + 0) = r2"])
def test_what_is_no_instruction_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="no instruction"):
        assemble(f"start: {line}")


@pytest.mark.parametrize("limit", [30_000.0, 940_000.0, 5_200_000.0])
def test_the_ladder_finds_the_highest_rate_that_is_held(limit: float) -> None:
    ladder = Ladder(lambda pps, _: pps if pps <= limit else None)
    first, again = ladder.highest(), ladder.highest()
    assert limit / STEP < first <= limit
    assert again == first


@pytest.mark.parametrize("later", [35_000.0, 2_900_000.0, 3_600_000.0])
def test_the_ladder_follows_a_receiver_that_has_changed(later: float) -> None:
    limits = [3_000_000.0]
    ladder = Ladder(lambda pps, _: pps if pps <= limits[-1] else None)
    ladder.highest()
    limits.append(later)
    assert later / STEP < ladder.highest() <= later


def test_one_trial_of_ten_may_lose_a_frame_and_two_may_not() -> None:
    asked: list[float] = []

    def trial(pps: float, _: float) -> float | None:
        asked.append(pps)
        every = 10 if pps < 1_500_000 else 4
        return None if pps > 1_700_000 or len(asked) % every == 0 else pps

    assert 1_500_000 / STEP < Ladder(trial).highest() < 1_500_000 * STEP


def test_a_rate_that_the_sender_does_not_reach_is_not_held() -> None:
    def trial(pps: float, _: float) -> float:
        if pps > 2_000_000:
            raise SenderTooSlow
        return pps * 0.99

    assert 2_000_000 / STEP < Ladder(trial).highest() / 0.99 <= 2_000_000


def test_a_receiver_that_always_loses_holds_nothing() -> None:
    asked: list[float] = []
    ladder = Ladder(lambda pps, _: asked.append(pps))
    assert ladder.highest() == 0
    assert min(asked) > LOWEST_PPS / STEP**8
