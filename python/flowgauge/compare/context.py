"""What a reader must know before the figures: how the runs differ in configuration and environment, and what is wrong
with published values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flowgauge.report.format import MISSING
from flowgauge.report.rundata import Run
from flowgauge.report.summary import dut_name, flatten

IGNORED = ("started", "ended", "id", "measured at", "mac", "pid")
"""Last words of keys that differ between any two runs and say nothing."""

LOAD_LABEL = (
    "rate_mbps is a label there; the real load was about 1/1000 of it. Points join on frame size and label, so the loads "
    "behind one row differ by a factor of about 1000 from those of a run that kept its rate."
)


@dataclass(frozen=True)
class Difference:
    """A setting in which runs differ: its place, and each run's value."""

    key: str
    values: tuple[str, ...]


def differences(runs: Sequence[Run]) -> list[Difference]:
    """Where our own runs differ in DUT, configuration, tester and environment; published ones only in what they state."""
    found = [Difference("device", tuple(dut_name(r) for r in runs))]
    found.append(Difference("OpenFlow", tuple(_openflow(r) for r in runs)))
    own = [r for r in runs if r.published is None]
    if len(own) > 1:
        facts = [dict(_facts(r)) for r in own]
        for key in dict.fromkeys(k for f in facts for k in f):
            cells = {id(r): f.get(key, MISSING) for r, f in zip(own, facts, strict=True)}
            if len(set(cells.values())) > 1:
                found.append(Difference(key, tuple(cells.get(id(r), MISSING) for r in runs)))
    return [d for d in found if len(set(d.values)) > 1]


def caveats(runs: Sequence[Run]) -> list[str]:
    """What must be known of published runs, the load label first; and of runs that are not complete."""
    told: dict[str, list[str]] = {}
    for run in runs:
        if any(
            c.name == "load_label_1000x"
            for figures in run.figures.values()
            for f in figures
            for c in f.checks
        ):
            told.setdefault(LOAD_LABEL, []).append(run.label)
    for run in runs:
        if run.published:
            for defect in run.published.get("defects") or ():
                if not str(defect).startswith("Loads are labels"):
                    told.setdefault(str(defect), []).append(run.label)
        elif run.document.get("status") != "complete":
            told.setdefault(f"the run is {run.document.get('status')}", []).append(run.label)
    return [f"{', '.join(labels)}: {text}" for text, labels in told.items()]


def _openflow(run: Run) -> str:
    """The version that was asked for, else the one that the switch took."""
    taken = (run.section("dut").get("switch") or {}).get("openflow")
    return str(run.section("config").get("openflow") or taken or MISSING)


def _facts(run: Run) -> list[tuple[str, str]]:
    config = {k: v for k, v in run.section("config").items() if k not in ("benchmarks", "openflow")}
    benchmarks: dict[str, Any] = {
        str(b.get("name")): {"params": b.get("params"), "quick": b.get("quick")}
        for b in run.section("config").get("benchmarks") or ()
    }
    parts = {
        "config": config | benchmarks,
        "dut": run.section("dut"),
        "tester": {"backend": run.section("loopback").get("backend")},
        "environment": run.section("environment"),
    }
    return [(k, v) for k, v in flatten(parts) if not k.endswith(IGNORED)]
