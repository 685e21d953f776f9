"""Bad input and broken switches, as a user meets them: what the command says, its exit code, and that nothing is left behind.

The switch is a socket on the loopback (`fake_switch`), its ports a veth pair in a namespace of the test.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fake_switch import FakeSwitch
from live_helpers import PROGRAM, exists, failure_among, flowgauge, interfere, lease_under, trials

from flowgauge.duts.lease import leases

pytestmark = pytest.mark.live

BENCHMARK = "control_channel_delay"
SHORT = ["--quick", "--set", f"{BENCHMARK}.duration_s=0.3", "--repeat", "3"]
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
READ = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
"""So that nobody may read the checkout and the interpreter, wherever they are."""


@pytest.fixture
def namespace() -> Iterator[str]:
    """A veth pair, `fg-a` to `fg-b`, in a namespace of its own."""
    name = f"fg-bi-{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        ip = ["ip", "-n", name, "link"]
        subprocess.run([*ip, "add", "fg-a", "type", "veth", "peer", "name", "fg-b"], check=True)
        for end in ("fg-a", "fg-b"):
            subprocess.run([*ip, "set", end, "up"], check=True)
        yield name
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=True)


@pytest.fixture
def port() -> int:
    """A TCP port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.fixture
def lab(tmp_path: Path, namespace: str, port: int) -> Path:
    """The TOML file of a switch that connects to `port`, its ports in `namespace`."""
    path = tmp_path / "lab.toml"
    ports = "".join(
        f'[[port]]\ninterface = "{name}"\nof_port = {n}\nnetns = "{namespace}"\n'
        for n, name in enumerate(("fg-a", "fg-b"), 1)
    )
    path.write_text(f'[control]\nlisten = "127.0.0.1:{port}"\n{ports}')
    return path


@contextmanager
def switch(port: int, **behaviour: object) -> Iterator[FakeSwitch]:
    fake = FakeSwitch(port, **behaviour)  # type: ignore[arg-type]
    try:
        yield fake
    finally:
        fake.stop()


def test_a_channel_that_breaks_fails_its_trial_only(tmp_path: Path, lab: Path, port: int) -> None:
    run = tmp_path / "run"
    command = ["run", BENCHMARK, *SHORT, "--repeat", "5", "--dut", str(lab), "-o", str(run)]
    # A trial has 30 echoes, and fewer on a busy host.
    with switch(port, faults=[(30, "close"), (5, "reset"), (5, "garbage")]):
        code, out, _ = flowgauge(*command)
        assert code == 1
        first, *broken, last = trials(run)
        assert first == last == ("ok", None)
        assert [status for status, _ in broken] == ["failed"] * 3
        closed, reset, garbage = (reason or "" for _, reason in broken)
        assert closed == "channel-closed: the peer closed the channel"
        assert reset.startswith("channel-closed: the channel was reset")
        assert garbage.startswith("garbage: not OpenFlow at byte")
        assert closed in out
        assert f"--resume -o {run}" in out
        assert flowgauge("run", "--resume", "-o", run)[0] == 0
    assert [status for status, _ in trials(run)] == ["ok"] * 5


def test_a_switch_that_goes_silent_fails_its_trial_only(lab: Path, port: int) -> None:
    # In this process, where patience can be shortened.
    from flowgauge.benchmarks.base import Benchmark
    from flowgauge.benchmarks.control_channel_delay import ControlChannelDelay, ControlChannelDelayParams
    from flowgauge.errors import ReplyTimeoutError
    from flowgauge.model import Point
    from flowgauge.testbed import control, loopback
    from flowgauge.testbed.interface import OpenOptions
    from flowgauge.testbed.live import open_testbed

    with pytest.MonkeyPatch.context() as patch, switch(port, faults=[(10, "silent")]) as fake:
        patch.setattr(control, "TIMEOUT_S", 0.5)
        patch.setattr(loopback, "cached", lambda backend: None)
        params = ControlChannelDelayParams(echo_rate=100, duration_s=0.3, repeats=1)
        benchmark: Benchmark[ControlChannelDelayParams] = ControlChannelDelay()
        with (
            open_testbed(str(lab), OpenOptions()) as (_, testbed),
            pytest.raises(ReplyTimeoutError, match="without a reply"),
        ):
            benchmark.trial(testbed, params, Point(echo_rate=100))
        with open_testbed(str(lab), OpenOptions()) as (_, testbed):
            assert benchmark.trial(testbed, params, Point(echo_rate=100)).metrics["lost"] == 0
        assert fake.connections == 2


def test_a_switch_of_another_version(tmp_path: Path, lab: Path, port: int) -> None:
    with switch(port, version=1):
        code, _, err = flowgauge("run", BENCHMARK, *SHORT, "--dut", lab, "-o", tmp_path / "run")
    assert code == 3
    assert "no common OpenFlow version: we speak 1.3, the peer 1.0" in err
    assert "--openflow" in err


def test_a_peer_that_speaks_no_openflow(tmp_path: Path, lab: Path, port: int) -> None:
    with switch(port, greeting=b"HTTP/1.1 400 Bad Request\r\n\r\n"):
        code, _, err = flowgauge("run", BENCHMARK, *SHORT, "--dut", lab, "-o", tmp_path / "run")
    assert code == 3
    assert "not OpenFlow at byte 0 of the peer's stream: expected a version of 1 to 6" in err
    assert "HTTP/1.1" in err
    assert "check that an OpenFlow switch" in err


def test_a_busy_port_says_who_to_ask(tmp_path: Path, lab: Path, port: int) -> None:
    with socket.create_server(("127.0.0.1", port)):
        code, out, err = flowgauge("run", BENCHMARK, *SHORT, "--dut", lab, "-o", tmp_path / "run")
    assert code == 3
    assert f"127.0.0.1:{port} is in use\n" in err
    assert "ss -ltnp" in err
    assert f"--resume -o {tmp_path / 'run'}" in out


def test_interfaces_that_can_not_be_used(tmp_path: Path, lab: Path, namespace: str) -> None:
    def said(old: str, new: str) -> str:
        other = tmp_path / "other.toml"
        other.write_text(lab.read_text().replace(old, new))
        code, _, err = flowgauge("run", BENCHMARK, "--dut", other, "-o", tmp_path / f"run-{len(new)}")
        assert code == 3
        return err

    assert f"no interface fg-c in namespace {namespace}\n  `ip -n {namespace} link`" in said(
        '"fg-b"', '"fg-c"'
    )
    err = said(namespace, "fg-none")
    assert "no network namespace fg-none (for interface fg-a)\n  `ip netns` lists" in err
    subprocess.run(["ip", "-n", namespace, "link", "set", "fg-a", "down"], check=True)
    assert f"interface fg-a is down\n  ip -n {namespace} link set fg-a up" in said("", "")


def test_without_root(tmp_path: Path, lab: Path) -> None:
    nobody = [*NOBODY, *READ, "env", "HOME=/nonexistent", f"PYTHONPATH={os.pathsep.join(sys.path)}"]
    if subprocess.run([*nobody, *PROGRAM, "--version"], capture_output=True).returncode:
        pytest.skip("this host lets nobody run the program: capability dac_read_search is not ours to give")
    tmp_path.chmod(0o777)
    for parent in (tmp_path.parent, tmp_path.parent.parent):
        parent.chmod(parent.stat().st_mode | 0o111)
    for n, dut in enumerate(("ovs", str(lab))):
        code, _, err = flowgauge("run", BENCHMARK, "--dut", dut, "-o", tmp_path / str(n), under=nobody)
        assert code == 3
        assert "needs root" in err
        assert "sudo" in err
    run = tmp_path / "own"
    assert flowgauge("run", BENCHMARK, *SHORT, "-o", run, under=nobody)[0] == 0
    assert flowgauge("clean", under=nobody)[0] == 0
    tmp_path.chmod(0o755)
    code, _, err = flowgauge("run", BENCHMARK, "-o", tmp_path / "new", under=nobody)
    assert code == 2
    assert "Permission denied\n  Name a directory" in err


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], check=True)
    try:
        fill = disk / "fill"
        _fill(fill)
        code, _, err = flowgauge("run", BENCHMARK, *SHORT, "-o", disk / "run")
        assert code == 3
        assert "No space left on device\n  Name a directory" in err
        assert not (disk / "run").exists(), "a run that never began leaves nothing"
        fill.unlink()
        code, out, err = interfere(
            ["run", BENCHMARK, "--quick", "--set", f"{BENCHMARK}.duration_s=0.5", "-o", str(disk / "run")],
            "#1: ok",
            lambda process: _fill(fill),
        )
        assert code == 3
        assert "No space left on device\n  Make room, then go on with --resume" in err
        kept = trials(disk / "run")
        assert 1 <= len(kept) < 6
        fill.unlink()
        assert flowgauge("run", "--resume", "-o", disk / "run")[0] == 0
        assert len(trials(disk / "run")) == 6
        assert "#1: ok" in out
    finally:
        subprocess.run(["umount", disk], check=True)


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(512))
        except OSError:
            pass


ON_OVS = [
    *("run", BENCHMARK, "--quick", "--set", f"{BENCHMARK}.duration_s=0.5"),
    *("--repeat", "5", "--dut", "ovs:ports=2"),
]
"""Trials enough that on a busy host, too, one of them runs when the test gets round to disturbing it."""


@pytest.mark.parametrize("victim", ["ovs-vswitchd", "worker"])
def test_what_dies_in_a_trial_is_replaced(tmp_path: Path, victim: str) -> None:
    run, killed = tmp_path / "run", []

    def kill(process: subprocess.Popen[str]) -> None:
        lease = lease_under(process.pid)
        killed.append(lease)
        (switchd,) = [p.pid for p in lease.processes if p.name == "ovs-vswitchd"]
        time.sleep(0.1)
        os.kill(switchd if victim == "ovs-vswitchd" else lease.owner.pid, signal.SIGKILL)

    code, out, _ = interfere([*ON_OVS, "-o", str(run)], "#1: ok", kill)
    assert code == 1
    assert failure_among(run).startswith(
        {
            "ovs-vswitchd": "dut-died: ovs stopped",
            "worker": "worker-died: the worker process was killed by",
        }[victim]
    )
    (lease,) = killed
    assert exists(lease.namespaces, lease.directories) == []
    assert not any(process.alive() for process in lease.processes)
    assert not lease.path.exists()
    assert "1 failed trial" in " ".join(out.split())


@pytest.mark.parametrize("worker_too", [False, True])
def test_a_run_that_is_killed_can_be_cleaned_up_and_resumed(tmp_path: Path, worker_too: bool) -> None:
    run, left = tmp_path / "run", []

    def kill(process: subprocess.Popen[str]) -> None:
        left.append(lease_under(process.pid))
        if worker_too:
            process.send_signal(signal.SIGSTOP)  # so that it does not recover from its worker's death
            os.kill(left[0].owner.pid, signal.SIGKILL)
        process.kill()

    assert interfere([*ON_OVS, "-o", str(run)], "#1: ok", kill)[0] == -signal.SIGKILL
    (lease,) = left
    if worker_too:
        assert len(exists(lease.namespaces, lease.directories)) == 3
        code, out, _ = flowgauge("clean")
        assert code == 0
        assert f"removed what Open vSwitch ({lease.id}) left" in out
    else:
        deadline = time.monotonic() + 15
        while lease.path.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
    assert exists(lease.namespaces, lease.directories) == []
    assert not any(process.alive() for process in lease.processes)
    assert trials(run)[0] == ("ok", None)
    if worker_too:
        return
    assert flowgauge("run", "--resume", "-o", run)[0] == 0
    assert [status for status, _ in trials(run)] == ["ok"] * 5


@pytest.mark.parametrize("line", ["starting ovs", "#1: ok"])
def test_ctrl_c_stops_in_order(tmp_path: Path, line: str) -> None:
    def interrupt(process: subprocess.Popen[str]) -> None:
        time.sleep(0.3 if line == "starting ovs" else 0.05)
        process.send_signal(signal.SIGINT)

    before = {lease.id for lease in leases()}
    code, out, _ = interfere([*ON_OVS, "-o", str(tmp_path / "run")], line, interrupt)
    assert code == 130
    assert f"Go on with: flowgauge run --resume -o {tmp_path / 'run'}" in out
    assert all(not lease.stale() for lease in leases() if lease.id not in before)
