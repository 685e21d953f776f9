"""The core plan: who spins where, for every count of cores."""

from __future__ import annotations

import os

import pytest

from flowgauge.duts.cores import plan


@pytest.mark.parametrize(
    ("cores", "polls", "ports", "workers", "pmd", "rest"),
    [
        ([0], False, 2, (), None, (0,)),
        ([0], True, 2, (), 0, (0,)),
        ([0, 1], False, 2, (1,), None, (0,)),
        ([0, 1], True, 2, (1,), 0, (0,)),
        ([2, 3, 5], False, 2, (5,), None, (2, 3)),
        ([2, 3, 5], True, 2, (5,), 3, (2,)),
        (range(4), False, 4, (3,), None, (0, 1, 2)),
        (range(4), True, 4, (3,), 2, (0, 1)),
        (range(8), True, 3, (6, 7), 5, (0, 1, 2, 3, 4)),
        (range(16), False, 2, (14, 15), None, tuple(range(14))),
        (range(16), True, 2, (14, 15), 13, tuple(range(13))),
        (range(16), True, 64, (12, 13, 14, 15), 11, tuple(range(11))),
    ],
)
def test_who_spins_where(
    cores: list[int],
    polls: bool,
    ports: int,
    workers: tuple[int, ...],
    pmd: int | None,
    rest: tuple[int, ...],
) -> None:
    found = plan(cores, polls=polls, ports=ports)
    assert (found.workers, found.dut_pmd, found.channel, found.dut) == (workers, pmd, rest, rest)


@pytest.mark.parametrize("count", range(1, 20))
@pytest.mark.parametrize("polls", [False, True])
def test_threads_of_ours_leave_a_core_and_never_share_one(count: int, polls: bool) -> None:
    for ports in (1, 2, 3, 8, 64):
        found = plan(range(count), polls=polls, ports=ports)
        assert len(found.workers) <= count - 1
        assert found.worker_spins == (count > 1)
        assert not set(found.workers) & set(found.channel)
        assert found.dut_pmd not in found.workers
        assert (found.dut_pmd is not None) == polls
        assert found.channel, "the channel has somewhere to run"
        assert found.channel_spin_us == (50 if len(found.channel) > 1 else 0)
        if count > 2:
            assert found.dut_pmd not in found.dut, "nobody shares the core that is polled"
            assert len(found.spinning) <= count - 1


def test_the_plan_is_for_the_cores_that_may_be_used() -> None:
    from flowgauge.duts.cores import core_plan

    found = core_plan()
    assert {*found.workers, *found.dut} <= os.sched_getaffinity(0)
