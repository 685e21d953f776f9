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
from flowgauge.errors import DpdkMissingError, UsageError
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
    monkeypatch.setattr(findings.sys, "argv", ["/opt/venv/bin/flowgauge", "doctor"])
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


def test_doctor_looks_at_what_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    findings = [
        Finding("embedded", "extension", State.GOOD, "text"),
        Finding("ovs", "ip", State.LACK, "not installed", "apt-get install iproute2"),
        Finding("af_packet", "privilege", State.GOOD, "CAP_NET_RAW"),
    ]
    monkeypatch.setattr(host_check, "examine", lambda: findings)
    lacking = CliRunner().invoke(build(), ["doctor", "ovs", "embedded"])
    assert lacking.exit_code == 3
    assert "mend: apt-get install iproute2" in lacking.output
    assert "af_packet" not in lacking.output
    good = CliRunner().invoke(build(), ["doctor", "af_packet"])
    assert (good.exit_code, good.output.splitlines()[0]) == (
        0,
        "backend af_packet: frames by raw sockets: works",
    )
    with pytest.raises(UsageError, match="nothing to look at is called 'eth0'; there are: embedded, ovs"):
        build()(["doctor", "eth0"], standalone_mode=False)


def test_every_dut_and_backend_can_be_named() -> None:
    from flowgauge.cli.doctor import TITLES
    from flowgauge.duts import DRIVERS
    from flowgauge.testbed.openers import OPENERS

    assert {f.subject for f in host_check.examine()} <= set(TITLES)
    assert set(DRIVERS) - {"sim"} | set(OPENERS) - {"ring", "pcap"} <= set(TITLES)


def test_clean_names_some_of_many_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setattr(leases, "state_dir", lambda: tmp_path)
    monkeypatch.setattr(dpdk_folders, "sweep", lambda _kept: [f"/run/dpdk/flowgauge-{n}" for n in range(90)])
    result = CliRunner().invoke(build(), ["clean"])
    assert "removed 90 folders of DPDK processes that are gone: /run/dpdk/flowgauge-0, " in result.output
    assert "and 86 more" in result.output


def test_clean_says_when_there_was_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setattr(leases, "state_dir", lambda: tmp_path)
    monkeypatch.setattr(dpdk_folders, "sweep", lambda _kept: [])
    result = CliRunner().invoke(build(), ["clean"])
    assert result.exit_code == 0
    assert "nothing was left behind" in result.output
