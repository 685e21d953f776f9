"""Leases: recorded before anything is made, ended by `stop` or after a crash, foreign things untouched."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flowgauge.duts import lease as module
from flowgauge.duts.cleanup import clean
from flowgauge.duts.cores import plan
from flowgauge.duts.lease import Lease, leases
from flowgauge.duts.processes import ProcessId


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "state_dir", lambda: tmp_path / "state")


def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])


def abandon(lease: Lease) -> None:
    """As if its owner had been killed: a process that has ended owns it."""
    gone = sleeper()
    owner = ProcessId.of(gone.pid)
    assert owner is not None
    gone.kill()
    gone.wait()
    lease.owner = owner
    lease._save()


def test_a_lease_is_on_disk_before_what_it_names(tmp_path: Path) -> None:
    lease = Lease.take("test")
    lease.namespace("dut")
    found = leases()[0]
    assert found.namespaces == [f"fg-{lease.id}-dut"]
    assert not found.stale()
    lease.end()
    assert leases() == []


def test_clean_ends_what_a_crashed_owner_left(tmp_path: Path) -> None:
    lease = Lease.take("test")
    directory = lease.directory(tmp_path)
    child = sleeper()
    lease.process(child.pid, "sleeper")
    abandon(lease)
    cleaned = clean()
    (removed,) = cleaned.removed.values()
    assert removed == [f"process {child.pid} (sleeper)", f"directory {directory}"]
    assert child.wait(1) != 0
    assert not directory.exists()
    assert clean().removed == {}


def test_clean_leaves_running_owners_alone(tmp_path: Path) -> None:
    lease = Lease.take("test")
    directory = lease.directory(tmp_path)
    cleaned = clean()
    assert cleaned.removed == {}
    assert str(os.getpid()) in cleaned.in_use[0]
    assert directory.exists()
    lease.end()


def test_a_reused_process_number_is_not_taken_for_the_old_process(tmp_path: Path) -> None:
    lease = Lease.take("test")
    child = sleeper()
    lease.processes.append(ProcessId(child.pid, 1, "somebody else"))
    abandon(lease)
    clean()
    assert child.poll() is None
    child.kill()
    child.wait()


def test_directories_of_foreign_names_are_never_removed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    lease = Lease.take("test")
    lease.directories.append(str(precious))
    abandon(lease)
    clean()
    assert precious.exists()


def test_a_lease_of_an_earlier_boot_kills_nothing(tmp_path: Path) -> None:
    lease = Lease.take("test")
    child = sleeper()
    lease.process(child.pid, "sleeper")
    lease.boot = "before"
    lease._save()
    clean()
    assert child.poll() is None
    child.kill()
    child.wait()


def test_torn_lease_files_are_passed_over(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    (state / "torn.lease.json").write_text('{"id": ')
    assert leases() == []


@pytest.mark.parametrize(
    ("cores", "worker", "others"), [([0], None, (0,)), ([0, 1], 1, (0,)), ([2, 3, 5], 5, (2, 3))]
)
def test_at_most_all_cores_but_one_spin(
    cores: list[int], worker: int | None, others: tuple[int, ...]
) -> None:
    found = plan(cores)
    assert (found.worker, found.channel, found.dut) == (worker, others, others)
