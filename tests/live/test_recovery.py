"""A wire that is cut, or a switch that is killed, in the middle of a trial: that trial fails with the reason, the next is measured on a
testbed made anew, and namespaces, sockets, processes and hugepages are given back.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from live_helpers import exists, failure_among, interfere, lease_under

from flowgauge import _core
from flowgauge.duts import hugepages
from flowgauge.duts.lease import Lease
from flowgauge.duts.openvswitch import OpenVSwitch
from flowgauge.errors import FlowgaugeError

pytestmark = pytest.mark.live

BENCHMARK = "data_path_delay"
TRIALS = [
    *("--quick", "--repeat", "4"),
    *("--set", f"{BENCHMARK}.duration_s=1.5", "--set", f"{BENCHMARK}.rates_mbps=[1]"),
    *("--set", f"{BENCHMARK}.frame_sizes=[100]"),
]


def kill_switch(lease: Lease) -> None:
    (switchd,) = [p.pid for p in lease.processes if p.name.startswith("ovs-vswitchd")]
    os.kill(switchd, signal.SIGKILL)


def take_down(namespace: int, interface: str) -> Callable[[Lease], None]:
    def act(lease: Lease) -> None:
        subprocess.run(
            ["ip", "-n", lease.namespaces[namespace], "link", "set", interface, "down"], check=True
        )

    return act


def remove(lease: Lease) -> None:
    subprocess.run(["ip", "-n", lease.namespaces[1], "link", "delete", "fg-test2"], check=True)


def pull_socket(lease: Lease) -> None:
    """Open vSwitch closes its end of the connection, and the socket goes."""
    home = lease.home
    command = ["ovs-vsctl", f"--db=unix:{home}/db.sock", "del-port", "fg-vhost2"]
    subprocess.run(command, check=True)
    (home / "vhost2.sock").unlink(missing_ok=True)


CUTS = [
    pytest.param("ovs:ports=2", take_down(1, "fg-test1"), "link-down", id="our end down"),
    pytest.param("ovs:ports=2,backend=af_xdp", remove, "link-down", id="wire removed"),
    pytest.param("linux-bridge", take_down(0, "fg-dut1"), "link-down", id="bridge's end down"),
    pytest.param("ovs:dpdk", kill_switch, "dut-died", id="DPDK switch killed"),
    pytest.param("ovs:dpdk", pull_socket, "link-down", id="vhost socket pulled"),
]


@pytest.mark.parametrize(("dut", "cut", "reason"), CUTS)
def test_the_trial_fails_with_the_reason_and_the_next_is_good(
    tmp_path: Path, dut: str, cut: Callable[[Lease], None], reason: str
) -> None:
    if "dpdk" in dut:
        try:
            OpenVSwitch("dpdk").check_host()
            _core.dpdk_version()
        except FlowgaugeError as error:
            pytest.skip(f"{error.message}; {error.advice}")
    run, leases, before = tmp_path / "run", [], hugepages.pool()

    def act(process: subprocess.Popen[str]) -> None:
        leases.append(lease_under(process.pid))
        time.sleep(0.7)  # the pause before the first probe is over
        cut(leases[0])

    code, out, err = interfere(["run", BENCHMARK, *TRIALS, "--dut", dut, "-o", str(run)], "#1: ok", act)
    assert code == 1, out + err
    assert failure_among(run).startswith(reason)
    (lease,) = leases
    assert exists(lease.namespaces, lease.directories) == []
    assert not any(process.alive() for process in lease.processes)
    assert not lease.path.exists()
    assert hugepages.pool() == before
