"""doctor and clean: what they say of a host, and their exit codes."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from flowgauge.cli.app import build
from flowgauge.duts import host_check
from flowgauge.duts import lease as leases
from flowgauge.duts.findings import Finding, State
from flowgauge.duts.host_check import works


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
    result = CliRunner().invoke(build(), ["clean"])
    assert result.exit_code == 0
    assert "nothing was left behind" in result.output
