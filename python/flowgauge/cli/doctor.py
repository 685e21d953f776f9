"""`flowgauge doctor`: what this host has and lacks, and the command that mends each lack."""

from __future__ import annotations

from itertools import groupby

from rich.console import Console
from rich.markup import escape

from flowgauge.duts.host_check import Finding, State, examine, works

TITLES = {
    "embedded": "--dut embedded (the default): our software switch",
    "ovs": "--dut ovs: a private Open vSwitch",
    "external": "--dut FILE.toml: a switch of yours",
    "host": "this host",
}
SIGNS = {State.GOOD: "[green]ok[/]  ", State.LACK: "[red]lack[/]", State.WORSE: "[yellow]note[/]"}


def doctor(console: Console | None = None) -> int:
    """Print the findings; the exit code is 0 if the default job, `flowgauge run quick`, works."""
    console = console or Console(highlight=False)
    findings = examine()
    for subject, group in groupby(findings, key=lambda f: f.subject):
        usable = (
            "" if subject == "host" else " works" if works(subject, findings) else " [red]does not work[/]"
        )
        console.print(f"\n[bold]{TITLES[subject]}[/]{usable}")
        for finding in group:
            _print(console, finding)
    return 0 if works("embedded", findings) else 3


def _print(console: Console, finding: Finding) -> None:
    console.print(f"  {SIGNS[finding.state]} {finding.what:<13} {escape(finding.text)}", soft_wrap=True)
    if finding.mend:
        console.print(f"       {'':<13} mend: [cyan]{escape(finding.mend)}[/]", soft_wrap=True)
