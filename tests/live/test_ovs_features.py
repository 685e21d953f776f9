"""Feature tests on Open vSwitch: every line that fails or is refused is explained in the documentation, and no other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from flowgauge.features.catalogue import FEATURES, select
from flowgauge.features.feature import VERSIONS, Result
from flowgauge.features.run import run
from flowgauge.testbed import loopback
from flowgauge.testbed.interface import OpenOptions
from flowgauge.testbed.live import LiveTestbed, open_testbed

pytestmark = pytest.mark.live

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "features-openvswitch.md"


@pytest.fixture(scope="module", params=VERSIONS)
def testbed(request: pytest.FixtureRequest) -> Iterator[LiveTestbed]:
    measured, loopback.cached = loopback.cached, lambda backend: None
    try:
        with open_testbed("ovs", OpenOptions(request.param)) as (_, opened):
            yield opened
    finally:
        loopback.cached = measured


def explained(version: str) -> set[str]:
    """The features that the page explains for a version: rows "| name | 1.3 1.4 | result | why |"."""
    lacks, _, _ = PAGE.read_text().partition("## Not applicable")
    rows = re.findall(r"^\| `([a-z0-9_.]+)` \| ([\d. ]+) \|", lacks, re.MULTILINE)
    return {name for name, versions in rows if version in versions.split()}


def test_what_open_vswitch_lacks_is_explained(testbed: LiveTestbed) -> None:
    outcomes = {f.id: run(f, testbed) for f in FEATURES.values()}
    lacking = {name: o for name, o in outcomes.items() if o.result in (Result.FAILED, Result.REFUSED)}
    assert set(lacking) == explained(testbed.control.version), {n: o.detail for n, o in lacking.items()}
    assert sum(o.result is Result.PASSED for o in outcomes.values()) > 100


def test_a_switch_that_is_set_up_wrongly_fails(testbed: LiveTestbed) -> None:
    for feature in select(["output.ports"]):
        assert run(feature, testbed).result is Result.PASSED
    tester_ports = testbed._ports
    try:
        testbed._ports = (tester_ports[1], tester_ports[0], tester_ports[2])
        assert run(FEATURES["output.ports"], testbed).result is Result.FAILED
    finally:
        testbed._ports = tester_ports
