"""The other datapaths of Open vSwitch, and the bridge: started, measured on, and nothing is left behind.

DPDK starts once per process, so each test of it runs in processes of the runner's, as users' runs do.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flowgauge import _core
from flowgauge.duts import create, hugepages
from flowgauge.duts.interface import TO_NOBODY
from flowgauge.duts.lease import Lease, leases
from flowgauge.duts.linux_bridge import LinuxBridge
from flowgauge.duts.openvswitch import OpenVSwitch
from flowgauge.errors import ConfigError, FlowgaugeError, SetupError
from flowgauge.flows import Schedule
from flowgauge.runner.plan import Request, make_plan
from flowgauge.runner.runner import Runner
from flowgauge.testbed import open_testbed
from flowgauge.testbed.interface import ENTRIES, OpenOptions
from flowgauge.testbed.loopback import joined_ports

pytestmark = pytest.mark.live


def skip_without(check: Callable[[], object]) -> None:
    try:
        check()
    except FlowgaugeError as error:
        pytest.skip(f"{error.message}; {error.advice}")


@pytest.fixture
def dpdk() -> None:
    skip_without(OpenVSwitch("dpdk").check_host)
    skip_without(_core.dpdk_version)


@pytest.fixture
def afxdp() -> None:
    skip_without(OpenVSwitch("afxdp").check_host)
