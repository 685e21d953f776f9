"""What live tests share: skip with the reason where this host can't run them, and nothing may be left behind."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from flowgauge.duts.lease import leases
from flowgauge.duts.openvswitch import check_host
from flowgauge.errors import FlowgaugeError


@pytest.fixture(scope="session", autouse=True)
def _host() -> None:
    try:
        check_host()
    except FlowgaugeError as error:
        pytest.skip(f"{error.message}; {error.advice}")


def ours() -> set[str]:
    """The leases of this process."""
    return {lease.id for lease in leases() if lease.owner.pid == os.getpid()}


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_left_at_all() -> Iterator[None]:
    yield
    assert ours() == set()


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    before = ours()
    yield
    assert ours() <= before
