"""The interval in which a change took effect: it holds the truth, whatever the change's time."""

from hypothesis import given
from hypothesis import strategies as st
from receptions import reception

from flowgauge.benchmarks.activation import appeared, vanished

GAP, DELAY, PROBES = 100, 40, 200
DEPARTURES = [i * GAP for i in range(PROBES)]


@given(
    change=st.integers(2 * GAP, (PROBES - 2) * GAP),
    start=st.integers(0, 2 * GAP),
    inner=st.integers(0, DELAY),
)
def test_appearance_lies_in_its_interval(change: int, start: int, inner: int) -> None:
    # A probe meets the table `inner` ns after it left; from `change` on it is forwarded.
    forwarded = [i for i, t in enumerate(DEPARTURES) if t + inner >= change]
    found = appeared(reception(DEPARTURES, forwarded, DELAY), start)
    assert found is not None
    assert found.low_ns <= max(0, change - start) <= found.high_ns
    assert found.high_ns - found.low_ns <= GAP + DELAY


@given(change=st.integers(2 * GAP, (PROBES - 2) * GAP), inner=st.integers(0, DELAY))
def test_vanishing_lies_in_its_interval(change: int, inner: int) -> None:
    forwarded = [i for i, t in enumerate(DEPARTURES) if t + inner < change]
    found = vanished(reception(DEPARTURES, forwarded, DELAY), 0)
    assert found is not None
    assert found.low_ns <= change <= found.high_ns
    assert found.high_ns - found.low_ns <= GAP + DELAY


def test_nothing_arrived_or_nothing_vanished_gives_none() -> None:
    assert appeared(reception(DEPARTURES, []), 0) is None
    assert vanished(reception(DEPARTURES, []), 0) is None
    assert vanished(reception(DEPARTURES, list(range(PROBES))), 0) is None


def test_a_change_before_the_first_probe_starts_at_nought() -> None:
    found = appeared(reception(DEPARTURES, list(range(PROBES)), DELAY), 0)
    assert found is not None
    assert (found.low_ns, found.high_ns) == (0, DELAY)
