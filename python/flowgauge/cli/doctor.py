"""`flowgauge doctor`: what this host has and lacks, and the command that mends each lack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from flowgauge.duts.findings import Finding

TITLES = {
    "embedded": "--dut embedded (the default): our software switch",
    "ovs": "--dut ovs: a private Open vSwitch",
    "ovs:afxdp": "--dut ovs:afxdp: Open vSwitch with AF_XDP",
    "ovs:dpdk": "--dut ovs:dpdk: Open vSwitch with DPDK",
    "ovs:kernel": "--dut ovs:kernel: Open vSwitch in the kernel",
    "linux-bridge": "--dut linux-bridge: the kernel's bridge",
    "external": "--dut FILE.toml: a switch of yours",
    "af_packet": "backend af_packet: frames by raw sockets",
    "af_xdp": "backend af_xdp: frames by AF_XDP sockets",
    "dpdk": "backend dpdk: frames by DPDK",
    "host": "this host",
}
COLOURS = {"good": typer.colors.GREEN, "lack": typer.colors.RED, "worse": typer.colors.YELLOW}
SIGNS = {"good": "ok", "lack": "lack", "worse": "note"}


def complete_subject(incomplete: str) -> list[str]:
    """DUTs and backends, for the shell."""
    return [name for name in TITLES if name.startswith(incomplete)]


def command(
    subjects: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DUT|BACKEND",
            help=f"What to look at: {', '.join(TITLES)}. Default: all.",
            autocompletion=complete_subject,
        ),
    ] = None,
) -> None:
    """Say what this host lacks for each DUT, and the command that mends it.

    The ways to move frames (AF_PACKET, AF_XDP, DPDK) are looked at, too. `flowgauge doctor ovs:dpdk` looks at this one.

    Exit codes: 0 what was named works, without a name `flowgauge run quick`; 2 usage; 3 it does not.
    """
    from itertools import groupby

    from flowgauge.duts.host_check import examine, works
    from flowgauge.errors import UsageError

    unknown = [name for name in subjects or () if name not in TITLES]
    if unknown:
        raise UsageError(f"nothing to look at is called {unknown[0]!r}; there are: {', '.join(TITLES)}")
    findings = [f for f in examine() if not subjects or f.subject in subjects]
    for subject, group in groupby(findings, key=lambda f: f.subject):
        verdict = "" if subject == "host" else ": works" if works(subject, findings) else ": does not work"
        typer.secho(f"{TITLES[subject]}{verdict}", bold=True)
        for finding in group:
            _print(finding)
        typer.echo()
    raise typer.Exit(0 if all(works(name, findings) for name in subjects or ("embedded",)) else 3)


def _print(finding: Finding) -> None:
    sign = typer.style(f"{SIGNS[finding.state]:<4}", fg=COLOURS[finding.state])
    typer.echo(f"  {sign} {finding.what:<13} {finding.text}")
    if finding.mend:
        typer.echo(f"       {'':<13} mend: {finding.mend}")
