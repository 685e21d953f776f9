"""What a report says first: what was measured on what, and one figure per benchmark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flowgauge.model import Figure, Point
from flowgauge.report.format import (
    duration_text,
    figure_text,
    header,
    number_text,
    plural,
    ratio_text,
    scalar_text,
    time_text,
    unit_text,
)
from flowgauge.report.rundata import Run
from flowgauge.report.tables import failing


@dataclass(frozen=True)
class KeyFigure:
    """The figure that stands for a benchmark: its name, its value or range as text, and where.

    `checks`: names of all checks that failed in the benchmark.
    """

    benchmark: str
    label: str
    value: str
    unit: str
    where: str
    checks: tuple[str, ...]


DRIVERS = {
    "embedded": "the embedded software switch",
    "linux-bridge": "the bridge of Linux {}",
    "ovs": "Open vSwitch {}",
    "ovs:afxdp": "Open vSwitch {} with AF_XDP",
    "ovs:dpdk": "Open vSwitch {} with DPDK",
    "ovs:kernel": "Open vSwitch {} in the kernel",
}
"""Drivers -> what a reader calls their devices; {}: the version."""


def dut_name(run: Run) -> str:
    """What a reader calls the device of a run."""
    return device_name(run.section("dut"), str(run.section("config").get("dut") or "an unnamed device"))


def device_name(dut: Mapping[str, Any], otherwise: str) -> str:
    """What a reader calls a device: its name, the title of its model, or driver and version.

    >>> device_name({"driver": "ovs:dpdk", "version": "3.1.0"}, "")
    'Open vSwitch 3.1.0 with DPDK'
    """
    if dut.get("name"):
        return str(dut["name"])
    if dut.get("driver") == "sim" and dut.get("title"):
        return f"{dut['title']} (simulated)"
    driver = str(dut.get("driver") or dut.get("kind") or otherwise)
    version = str(dut.get("version") or "")
    return " ".join(DRIVERS.get(driver, f"{driver} {{}}").format(version).split())


def title(run: Run) -> str:
    """Heading of a report."""
    if run.published:
        return f"{run.published.get('source', 'Published results')}: {dut_name(run)}"
    name = dut_name(run)
    return f"{name[0].upper() + name[1:]}, suite {run.document.get('suite')}"


def paragraph(run: Run) -> str:
    """One paragraph: what was measured on what, how much of it, and what went wrong."""
    config, benchmarks = run.section("config"), run.benchmarks()
    if run.published:
        known = run.published
        return (
            f"Results of {dut_name(run)} as printed in: {known.get('authors')}, {known.get('title')}, version "
            f"{known.get('version')}, {known.get('date')}. They were measured by {known.get('tester')} over OpenFlow "
            f"{known.get('openflow')}, not by Flowgauge: {plural(len(run.trials), 'printed row')} in "
            f"{plural(len(benchmarks), 'test')}. Known defects stand beside the figures."
        )
    states = Counter(t.status for t in run.trials)
    quick = any(b.get("quick") for b in config.get("benchmarks") or () if isinstance(b, Mapping))
    text = f"{plural(len(benchmarks), 'benchmark')} of the suite {run.document.get('suite')}"
    text += " (quick variants)" if quick else ""
    text += f" on {dut_name(run)}"
    text += f" over OpenFlow {config['openflow']}" if config.get("openflow") else ""
    backend = run.section("loopback").get("backend")
    text += f", through {backend} ports" if backend else ""
    text += f": {plural(len(run.trials), 'trial')}"
    seconds = run.seconds()
    text += f" in {duration_text(seconds)}" if seconds else ""
    wrong = [plural(states[s], s + " trial") for s in ("failed", "invalid") if states[s]]
    skipped = len(run.document.get("skipped") or ())
    wrong += [plural(skipped, "benchmark") + " skipped"] if skipped else []
    text += f", with {joined(wrong)}." if wrong else ", none of which failed."
    status = run.document.get("status")
    if status == "interrupted":
        text += f" The run was interrupted{_because(run)}; what had been measured is shown."
    elif status == "running":
        text += " The run has not ended, or was killed; what has been measured is shown."
    return text[0].upper() + text[1:]


def joined(parts: Sequence[str]) -> str:
    """Parts of a sentence.

    >>> joined(["a", "b", "c"])
    'a, b and c'
    """
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1] if parts else ""


def key_figures(run: Run) -> list[KeyFigure]:
    """One figure per benchmark that has any, and its loss where loss occurred."""
    found = (key_figure(run, benchmark) for benchmark in run.benchmarks())
    return [k for k in found if k is not None]


def key_figure(run: Run, benchmark: str) -> KeyFigure | None:
    """The declared key figure of a benchmark, or the one that fits best."""
    from flowgauge.report.charts import declared
    from flowgauge.report.charts.vocabulary import Key

    figures = [f for f in run.figures.get(benchmark, ()) if f.value is not None]
    if not figures:
        return None
    keys = [d for d in declared(run, benchmark)[0] if isinstance(d, Key)]
    name = next((k.figure for k in keys if any(f.name == k.figure for f in figures)), _best(figures))
    at = next((k.at for k in keys if k.figure == name), {})
    mine = [f for f in figures if f.name == name and all(f.at.get(k) == v for k, v in at.items())]
    mine = mine or [f for f in figures if f.name == name]
    checks = sorted(
        {c.name for f in run.figures[benchmark] for c in failing(f.checks)}
        | {c.name for t in run.trials_of(benchmark) for c in failing(t.checks)}
    )
    unit = "" if name.endswith("_ratio") else unit_text(mine[0].unit)
    if len(mine) == 1:
        return KeyFigure(
            benchmark, header(name), figure_text(mine[0]), unit, _where(mine[0].at), tuple(checks)
        )
    values = [f.value for f in mine if f.value is not None]
    show: Callable[[float | None, int], str] = ratio_text if name.endswith("_ratio") else number_text
    if mine[0].unit == "us" and max(values) >= 10_000:
        show, unit = time_text, ""
    text = (
        show(min(values), 3)
        if min(values) == max(values)
        else f"{show(min(values), 3)} … {show(max(values), 3)}"
    )
    return KeyFigure(
        benchmark, header(name), text, unit, f"range over {plural(len(mine), 'point')}", tuple(checks)
    )


PREFERRED = (
    "max_entries",
    "slope_us_per_entry",
    "delay_median_us",
    "delay_mean_us",
    "activation_us",
    "forwarding_pps",
)


def _best(figures: list[Figure]) -> str:
    names = {f.name for f in figures}
    return next((n for n in PREFERRED if n in names), figures[0].name)


def _where(at: Point) -> str:
    return ", ".join(f"{header(k)} {scalar_text(v, k)}" for k, v in at.items())


def _because(run: Run) -> str:
    reason = run.document.get("reason")
    return f" ({reason})" if reason else ""


def flatten(value: Any, prefix: str = "") -> list[tuple[str, str]]:
    """A nested object as (dotted key, text) rows, for tables of the environment and configuration.

    >>> flatten({"cpu": {"cores": 2, "isolated": None}, "ports": [1, 2]})
    [('cpu cores', '2'), ('cpu isolated', '—'), ('ports', '1, 2')]
    """
    if isinstance(value, Mapping) and value:
        return [
            row
            for k, v in value.items()
            for row in flatten(v, f"{prefix} {str(k).replace('_', ' ')}".strip())
        ]
    if isinstance(value, (list, tuple)):
        if any(isinstance(v, (Mapping, list)) for v in value):
            return [row for n, v in enumerate(value, 1) for row in flatten(v, f"{prefix} {n}")]
        return [(prefix, ", ".join(_leaf(v) for v in value) or "none")]
    return [(prefix, _leaf(value) if not isinstance(value, Mapping) else "none")]


def _leaf(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return scalar_text(value)
    return (
        f"{value:g}" if isinstance(value, float) and value == int(value) and abs(value) < 1e15 else str(value)
    )
