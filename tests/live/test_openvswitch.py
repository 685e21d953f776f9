"""The private Open vSwitch: what is started is stopped, what a crash leaves is removed, nothing else is touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from live_helpers import exists

from flowgauge.duts.cleanup import clean
from flowgauge.duts.lease import Lease, leases
from flowgauge.duts.openvswitch import OpenVSwitch
from flowgauge.duts.processes import ProcessId

pytestmark = pytest.mark.live


def lease_of(pid: int) -> Lease:
    (lease,) = [lease for lease in leases() if lease.owner.pid == pid]
    return lease


@pytest.mark.parametrize("version", ["1.0", "1.3"])
def test_start_and_stop_leave_nothing(version: str) -> None:
    driver = OpenVSwitch("ports=2")
    try:
        wiring = driver.start(version)
        lease = lease_of(os.getpid())
        pids = dict(driver.pids)
        assert driver.alive()
        assert len(exists(lease.namespaces, lease.directories)) == 3
        assert [port.of_port for port in wiring.ports] == [1, 2]
        assert wiring.control.netns in lease.namespaces
        driver.reset()
        about = driver.describe()
        assert about["version"][0].isdigit()
    finally:
        driver.stop()
    driver.stop()
    assert not driver.alive()
    assert exists(lease.namespaces, lease.directories) == []
    assert all(ProcessId.of(pid) is None for pid in pids.values())


def test_two_at_once_do_not_meet() -> None:
    first, second = OpenVSwitch("ports=2"), OpenVSwitch("ports=2")
    try:
        a, b = first.start("1.3"), second.start("1.3")
        assert a.control.netns != b.control.netns
        second.stop()
        assert first.alive()
    finally:
        first.stop()
        second.stop()


def test_a_killed_switch_is_not_alive() -> None:
    driver = OpenVSwitch("ports=2")
    try:
        driver.start("1.3")
        os.kill(driver.pids["ovs-vswitchd"], signal.SIGKILL)
        driver._daemons._running["ovs-vswitchd"].wait(5)
        assert not driver.alive()
    finally:
        driver.stop()


def test_clean_removes_what_a_killed_process_left(tmp_path: Path) -> None:
    program = textwrap.dedent(
        """
        import time
        from flowgauge.duts.openvswitch import OpenVSwitch
        driver = OpenVSwitch("ports=2")
        driver.start("1.3")
        print("started", *driver.pids.values(), flush=True)
        time.sleep(60)
        """
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as crashed:
        assert crashed.stdout is not None
        pids = [int(word) for word in crashed.stdout.readline().split()[1:]]
        lease = lease_of(crashed.pid)
        crashed.kill()
    assert lease.stale()
    assert len(exists(lease.namespaces, lease.directories)) == 3
    removed = [thing for things in clean().removed.values() for thing in things]
    assert exists(lease.namespaces, lease.directories) == []
    assert all(ProcessId.of(pid) is None for pid in pids)
    assert len(removed) == 5


def test_clean_finds_processes_that_were_not_recorded_in_time() -> None:
    lease = Lease.take("test")
    subprocess.run(["ip", "netns", "add", lease.namespace("x")], check=True)
    stray = subprocess.Popen(["ip", "netns", "exec", lease.namespaces[0], "sleep", "60"])
    while ProcessId.of(stray.pid) is None or not lease._pids_in_namespaces():
        pass
    assert lease.end() == [f"process {stray.pid} (sleep)", f"network namespace {lease.namespaces[0]}"]
    stray.wait(1)
