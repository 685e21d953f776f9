"""Flow sets and rates as text: what they mean, against a naive oracle, and what is said of mistakes."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowgauge import _core
from flowgauge.errors import UsageError
from flowgauge.packets.flow_text import parse_flows
from flowgauge.packets.rate_text import parse_rate

Oracle = Callable[[int], int]


def address(n: int) -> str:
    return str(ipaddress.IPv4Address(n))


@st.composite
def ports(draw: st.DrawFn) -> tuple[str, Oracle, int | None]:
    """Text of a pattern on a 16-bit field, its value in flow i, and its number of values."""
    first = draw(st.integers(1, 0xFFFF))
    kind = draw(st.sampled_from(["one", "step", "range", "list"]))
    if kind == "one":
        text = draw(st.sampled_from([str(first), hex(first)]))
        return text, lambda i: first, 1
    if kind == "step":
        step = draw(st.integers(0, 300))
        return f"{first}+{step}", lambda i: (first + i * step) & 0xFFFF, None
    if kind == "range":
        length = draw(st.integers(1, min(40, 0x10000 - first)))
        return f"{first}..{first + length - 1}", lambda i: first + i % length, length
    values = draw(st.lists(st.integers(0, 0xFFFF), min_size=2, max_size=5))
    return " | ".join(map(str, values)), lambda i: values[i % len(values)], len(values)


@given(ports(), ports(), st.none() | st.integers(1, 100))
def test_every_flow_has_the_values_that_the_text_says(
    src: tuple[str, Oracle, int | None], dst: tuple[str, Oracle, int | None], count: int | None
) -> None:
    flows = parse_flows(f"udp_src={src[0]}, udp_dst={dst[0]}", count)
    lengths = [src[2], dst[2]]
    known = [n for n in lengths if n is not None]
    expected = count or max([1000 if None in lengths else 1, *known])
    rows = _core.flow_values(flows)
    assert len(rows) == expected
    for i, row in enumerate(rows):
        assert (row["udp_src"], row["udp_dst"]) == (src[1](i), dst[1](i))


@given(st.integers(0, 2**32 - 300), st.integers(1, 256))
def test_ranges_of_addresses(first: int, length: int) -> None:
    flows = parse_flows(f"ipv4_dst={address(first)}..{address(first + length - 1)}")
    assert [row["ipv4_dst"] for row in _core.flow_values(flows)] == list(range(first, first + length))


@given(st.text(max_size=40))
def test_any_text_is_a_flow_set_or_a_usage_error(text: str) -> None:
    with suppress(UsageError):
        assert parse_flows(text, 3).count == 3


@given(
    st.sampled_from(["udp_dst", "ipv4_dst", "eth_dst", "vlan_vid"]),
    st.text("0123456789.:+|/xrandom", max_size=24),
)
def test_any_pattern_is_understood_or_refused(field: str, pattern: str) -> None:
    with suppress(UsageError):
        _core.flow_values(parse_flows(f"{field}={pattern}", 2))


def test_random_values_stay_behind_their_prefix_and_come_again() -> None:
    flows = parse_flows("ipv4_src=random:10.1.0.0/16,udp_src=random", 50, seed=5)
    rows = _core.flow_values(flows)
    assert {row["ipv4_src"] >> 16 for row in rows} == {0x0A01}
    assert len({row["udp_src"] for row in rows}) > 40
    assert rows == _core.flow_values(parse_flows("ipv4_src=random:10.1.0.0/16,udp_src=random", 50, seed=5))
    assert rows != _core.flow_values(parse_flows("ipv4_src=random:10.1.0.0/16,udp_src=random", 50, seed=6))


def test_other_addresses() -> None:
    rows = _core.flow_values(
        parse_flows("eth_dst=02:00:00:00:00:fe..02:00:00:00:01:00,ipv6_dst=2001:db8::1+1")
    )
    assert [row["eth_dst"] for row in rows][:4] == [
        0x0200000000FE,
        0x0200000000FF,
        0x020000000100,
        0x0200000000FE,
    ]
    assert rows[2]["ipv6_dst"] == int(ipaddress.ip_address("2001:db8::3"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("udp_dst", "expected field=pattern, found 'udp_dst'"),
        ("udp_dst=", "expected field=pattern"),
        ("udp_dst=7,,", "expected field=pattern, found ''"),
        ("udp_dst=7,udp_dst=9", "udp_dst is given twice"),
        ("udp_dest=7", 'no field is called "udp_dest"'),
        ("udp_dst=70000", "at most 16 bits"),
        ("ipv4_dst=10.0.0", "an IPv4 address such as"),
        ("ipv4_dst=10.0.0.9..10.0.0.1", "the last value is before the first"),
        ("ipv4_dst=a..b", "two numbers or two addresses"),
        ("ipv4_dst=10.0.0.1+x", "a number as step, found 'x'"),
        ("udp_dst=7||9", "found an empty one"),
        ("udp_dst=random:7", "an address and a prefix length"),
        ("ipv4_dst=random:10.0.0.0/33", "an address and a prefix length"),
        ("ipv4_dst=randomly", "expected random, or random:"),
        ("udp_dst=7,tcp_dst=7", "leave one of them out"),
    ],
)
def test_mistakes_in_flow_sets(text: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_flows(text)
    assert said in str(error.value)


def test_a_set_has_a_sound_number_of_flows() -> None:
    with pytest.raises(UsageError, match="0 flows; allowed: 1 to"):
        parse_flows("udp_dst=7", 0)
    with pytest.raises(UsageError, match="flows; allowed: 1 to"):
        parse_flows("ipv4_dst=0.0.0.0..255.255.255.255")
    with pytest.raises(UsageError, match="fewer than the set's"):
        parse_flows("ipv4_dst=10.0.0.0..10.1.255.255", 200_000)


@pytest.mark.parametrize(
    ("text", "pps"),
    [
        ("10000", 10_000),
        ("10k", 10_000),
        ("0.5 Mpps", 500_000),
        ("8Gbps", 8 * 10**9 / (8 * 100)),
        ("10Mbit/s", 12_500),
        ("line", Fraction(10**9, 8 * 120)),
        ("50%", Fraction(10**9, 16 * 120)),
        ("max", None),
    ],
)
def test_rates(text: str, pps: float | None) -> None:
    assert parse_rate(text, 100, 1000) == pps


@pytest.mark.parametrize("text", ["", "0", "-5", "fast", "10 furlongs", "1e6", "0%"])
def test_mistakes_in_rates(text: str) -> None:
    with pytest.raises(UsageError, match="a rate above zero"):
        parse_rate(text, 64, 1000)


def test_a_link_without_speed_has_no_line_rate() -> None:
    with pytest.raises(UsageError, match="link has no speed"):
        parse_rate("line", 64, None)
