"""What `flowgauge switch` makes of its options, without opening anything."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from flowgauge.cli import switching
from flowgauge.errors import UsageError


def test_examples() -> None:
    assert doctest.testmod(switching).failed == 0


@pytest.mark.parametrize(
    "ports", [["=1"], ["eth0=0"], ["eth0=65280"], ["eth0=x"], ["a", "a"], ["a=1", "b=1"], ["a="]]
)
def test_ports_that_make_no_sense(ports: list[str]) -> None:
    with pytest.raises(UsageError, match="--port"):
        switching.read_ports(ports)


@pytest.mark.parametrize("text", ["", "1.1", "1.3,", "1.3 1.0"])
def test_versions_that_there_are_not(text: str) -> None:
    with pytest.raises(UsageError, match="--openflow"):
        switching.read_versions(text)


@pytest.mark.parametrize("text", ["", "x", "-1", "1" * 17])
def test_datapath_ids_that_make_no_sense(text: str) -> None:
    with pytest.raises(UsageError, match="--datapath-id"):
        switching.read_datapath_id(text, "lo")


@pytest.mark.parametrize("text", ["", "x", "1,min", "1,min=x", "1,speed=3", "1,,"])
def test_queues_that_make_no_sense(text: str) -> None:
    with pytest.raises(UsageError, match="--queue"):
        switching.read_queue(text)


def test_tls_needs_all_three_files() -> None:
    key = Path("key.pem")
    assert switching.read_tls((None, None, None), ["tcp:10.0.0.1"]) is None
    assert switching.read_tls((key, key, key), []) == (key, key, key)
    with pytest.raises(UsageError, match="--controller ssl:"):
        switching.read_tls((None, None, None), ["ssl:10.0.0.1"])
    with pytest.raises(UsageError, match="--ca-cert"):
        switching.read_tls((key, key, None), [])
