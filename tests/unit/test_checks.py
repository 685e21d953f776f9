"""Every check passes, fails and abstains when it should."""

import re
from pathlib import Path

import numpy as np
import pytest
from receptions import latency, quiet_tester, reception

from flowgauge.analysis import checks
from flowgauge.model import CheckState
from flowgauge.report.explain import REMEDIES
from flowgauge.testbed.interface import Latency, Loopback

PASS, FAIL, ABSTAIN = CheckState.PASS, CheckState.FAIL, CheckState.NOT_EVALUATED
LOOPBACK = Loopback(
    "ring", {64: 1e6, 1518: 5e5}, delay_ns=1000, spread_ns=100, measured_at="now", echo_ns=20_000
)


def test_tester_loss_invalidates_the_trial() -> None:
    dropped = checks.tester_loss(quiet_tester(rx_dropped=1))
    assert dropped.state is FAIL
    assert dropped.invalidates
    assert checks.tester_loss(quiet_tester(stall_max_ns=2 * 10**6)).state is FAIL
    assert checks.tester_loss(quiet_tester(stall_max_ns=2 * 10**6, ring_ns=None)).state is PASS
    assert checks.tester_loss(quiet_tester()).state is PASS


@pytest.mark.parametrize(
    ("pps", "delay_ns", "state"),
    [
        (960_000, None, FAIL),
        (940_000, None, PASS),
        (None, 1500, FAIL),
        (None, 5000, PASS),
        (None, None, ABSTAIN),
    ],
)
def test_tester_limited(pps: float | None, delay_ns: float | None, state: CheckState) -> None:
    assert checks.tester_limited(LOOPBACK, frame_size=64, pps=pps, delay_ns=delay_ns).state is state


def test_tester_limited_abstains_without_a_loopback() -> None:
    assert checks.tester_limited(None, delay_ns=5).state is ABSTAIN
    assert checks.echo_limited(None, 5).state is ABSTAIN


@pytest.mark.parametrize(("delay_ns", "state"), [(30_000, FAIL), (100_000, PASS), (None, ABSTAIN)])
def test_echo_limited(delay_ns: float | None, state: CheckState) -> None:
    assert checks.echo_limited(LOOPBACK, delay_ns).state is state


@pytest.mark.parametrize(
    ("requested", "offered", "state"),
    [(10_000, 10_000, PASS), (10_000, 9_991, PASS), (10_000, 9_980, FAIL), (5, 4, PASS), (0, 0, ABSTAIN)],
)
def test_offered_load(requested: float, offered: float, state: CheckState) -> None:
    assert checks.offered_load(requested, offered).state is state


@pytest.mark.parametrize(
    ("gap", "duration", "state"), [(1, 100, PASS), (2, 100, FAIL), (1, 0, FAIL), (1, None, ABSTAIN)]
)
def test_quantised(gap: float, duration: float | None, state: CheckState) -> None:
    assert checks.quantised(gap, duration).state is state


def test_ramp_finds_a_filling_queue_and_its_slope() -> None:
    filling = reception(windows_mean_ns=np.linspace(1e5, 1e6, 20), windows_count=np.full(20, 5), lost=10)
    check, slope = checks.ramp(filling)
    assert check.state is FAIL
    assert slope == pytest.approx(900 / 1.9)  # 900 us over 19 windows of 0.1 s
    rng = np.random.default_rng(1)
    steady = reception(windows_mean_ns=1e5 + 1e4 * rng.normal(size=20), windows_count=np.full(20, 5))
    assert checks.ramp(steady)[0].state is PASS
    assert checks.ramp(reception(windows_count=np.zeros(10, dtype=np.int64)))[0].state is ABSTAIN


@pytest.mark.parametrize(
    ("count", "percentile", "state"), [(30, None, PASS), (29, None, FAIL), (1000, 99, PASS), (999, 99, FAIL)]
)
def test_few_samples(count: int, percentile: float | None, state: CheckState) -> None:
    assert checks.few_samples(count, percentile).state is state


def test_channel_and_entries() -> None:
    assert checks.channel(closed="reset by the switch").state is FAIL
    assert checks.channel().state is PASS
    assert checks.flow_rejected([(3, 5, 1, "table full")], installed=9, expected=9).state is FAIL
    assert checks.flow_rejected((), installed=8, expected=9).state is FAIL
    assert checks.flow_rejected((), installed=9, expected=9).state is PASS
    assert checks.flow_rejected((), installed=None, expected=9).state is ABSTAIN


@pytest.mark.parametrize(
    "changes",
    [
        {"stalls_over_100us": 1},
        {"steal_ns": 1},
        {"involuntary_switches": 1},
        {"frequency_changes": 1},
        {"stall_max_ns": 101},
    ],
)
def test_noisy_host(changes: dict[str, int]) -> None:
    assert checks.noisy_host(quiet_tester(**changes), 1000).state is FAIL
    assert checks.noisy_host(quiet_tester(), 1000).state is PASS


def test_every_check_is_explained_and_gives_advice_when_it_fails() -> None:
    made = [
        checks.tester_loss(quiet_tester(rx_dropped=1)),
        checks.tester_limited(LOOPBACK, delay_ns=1500),
        checks.offered_load(100, 50),
        checks.quantised(50, 100),
        checks.few_samples(1),
        checks.channel(closed="gone"),
        checks.flow_rejected((), installed=1, expected=2),
        checks.noisy_host(quiet_tester(steal_ns=1), None),
    ]
    for check in made:
        assert check.advice, check.name
        assert check.name in checks.EXPLANATIONS


def test_percentiles_are_the_naive_ones() -> None:
    values = [5, 1, 9, 7, 3]
    made = latency(values)
    for p in (0, 1, 50, 90, 100):
        naive = sorted(values)[max(1, int(np.ceil(p / 100 * 5))) - 1]
        assert made.percentile_ns(p) == naive


@pytest.mark.parametrize(
    ("channel", "pmd", "states"),
    [
        ([0], None, []),
        ([0], 0, [CheckState.FAIL]),
        ([0, 1], 2, [CheckState.PASS]),
        ([0, 1], 1, [CheckState.PASS]),
    ],
)
def test_a_channel_that_shares_the_core_of_a_polling_switch_is_told(
    channel: list[int], pmd: int | None, states: list[CheckState]
) -> None:
    found = checks.shared_core({"channel": channel, "dut_pmd": pmd})
    assert [check.state for check in found] == states
    assert checks.shared_core(None) == ()


def test_every_check_is_explained_and_has_a_remedy() -> None:
    source = Path(checks.__file__).read_text(encoding="utf-8")
    named = set(re.findall(r'(?:(?:passed|failed|not_evaluated)\(\s*|name(?:, \w+)? = )"([a-z-]+)"', source))
    assert {"batches", "order", "ramp"} <= named
    assert named == set(checks.EXPLANATIONS) == set(REMEDIES)


def test_no_percentile_is_above_the_largest_delay() -> None:
    delays = Latency(2, 10.0, 505.0, 700.0, 1000.0, np.array([10, 1023]), np.array([1, 1]))
    assert [delays.percentile_ns(p) for p in (50, 99)] == [10.0, 1000.0]
