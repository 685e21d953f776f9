"""doctor and clean: what they say of a host, and their exit codes."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest
from typer.testing import CliRunner

from flowgauge import _core
from flowgauge.cli.app import build
from flowgauge.duts import backend_check, dpdk_folders, findings, host_check, hugepages
from flowgauge.duts import lease as leases
from flowgauge.duts.findings import Finding, State
from flowgauge.duts.host_check import works
from flowgauge.duts.ovs import kernel
from flowgauge.errors import DpdkMissingError
from golden import check


def test_a_worse_host_still_works() -> None:
    findings = [Finding("ovs", "ethtool", State.WORSE, "not installed", "apt-get install ethtool")]
    assert works("ovs", findings)
    assert not works("ovs", [*findings, Finding("ovs", "ip", State.LACK, "not installed")])


def test_a_missing_tool_is_a_lack_with_the_command_that_mends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_check, "find_tool", lambda name: None)
    found = {f.what: f for f in host_check.examine() if f.subject == "ovs"}
    assert found["ovs-vswitchd"].state is State.LACK
    assert found["ovs-vswitchd"].mend == "apt-get install openvswitch-switch"
    assert found["ethtool"].state is State.WORSE


def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host with two cores and nothing installed, for a user without privileges."""
    monkeypatch.setattr("flowgauge.duts.host.find_tool", lambda name: None)
    monkeypatch.setattr(host_check, "find_tool", lambda name: None)
    monkeypatch.setattr(host_check, "_leftovers", lambda: iter(()))
    monkeypatch.setattr(host_check.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(host_check.os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(findings, "effective", lambda: 0)
    monkeypatch.setattr(backend_check, "effective", lambda: 0)
    monkeypatch.setattr(backend_check.resource, "getrlimit", lambda _: (8 * 2**20, 8 * 2**20))
    monkeypatch.setattr(hugepages, "POOL", Path("/nonexistent"))
    monkeypatch.setattr("flowgauge.duts.ovs.daemons.SCHEMAS", ())
    monkeypatch.setattr("flowgauge.duts.ovs.dpdk.PROGRAM", Path("/nonexistent/ovs-vswitchd-dpdk"))
    monkeypatch.setattr(kernel.check_module, "__defaults__", (Path("/nonexistent"), Path("/nonexistent")))
    monkeypatch.setattr(kernel.platform, "release", lambda: "6.1.0")
    monkeypatch.setattr(
        host_check, "_clocksource", lambda: Finding("host", "clock source", State.GOOD, "tsc")
    )
    monkeypatch.setattr(host_check, "_governor", lambda: None)
    monkeypatch.setattr(host_check, "TUN", Path("/"))
    monkeypatch.setattr(_core, "__version__", "0.0.0")

    def no_dpdk() -> str:
        raise DpdkMissingError(
            "libdpdk is not installed", advice="apt-get install dpdk libdpdk-dev && make dpdk"
        )

    def no_xdp(*_: object) -> NoReturn:
        raise OSError(97, "Address family not supported by protocol")

    monkeypatch.setattr(_core, "dpdk_version", no_dpdk)
    monkeypatch.setattr(backend_check.socket, "socket", no_xdp)


def test_what_a_bare_host_lacks_is_named_with_what_mends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    bare(monkeypatch)
    result = CliRunner().invoke(build(), ["doctor"])
    check("doctor_bare.txt", result.output)


@pytest.mark.parametrize(("spare", "state"), [(8192, State.GOOD), (1000, State.WORSE)])
def test_hugepages_are_no_lack_where_a_run_can_add_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, spare: int, state: State
) -> None:
    monkeypatch.setattr(hugepages, "POOL", tmp_path)
    monkeypatch.setattr(backend_check.os, "geteuid", lambda: 0)
    monkeypatch.setattr(backend_check, "available_mib", lambda: spare)
    found = backend_check.huge_memory("dpdk")
    assert found.state is state
    assert (found.mend is None) == (state is State.GOOD)


@pytest.mark.parametrize(("state", "code"), [(State.GOOD, 0), (State.LACK, 3)])
def test_doctor_ends_well_if_the_default_job_works(
    monkeypatch: pytest.MonkeyPatch, state: State, code: int
) -> None:
    findings = [
        Finding("embedded", "extension", state, "text"),
        Finding("ovs", "ip", State.LACK, "not installed", "apt-get install iproute2"),
    ]
    monkeypatch.setattr(host_check, "examine", lambda: findings)
    result = CliRunner().invoke(build(), ["doctor"])
    assert result.exit_code == code
    assert "mend: apt-get install iproute2" in result.output


def test_clean_says_when_there_was_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setattr(leases, "state_dir", lambda: tmp_path)
    monkeypatch.setattr(dpdk_folders, "sweep", lambda _kept: [])
    result = CliRunner().invoke(build(), ["clean"])
    assert result.exit_code == 0
    assert "nothing was left behind" in result.output
