"""The sections of a report, in their order: figures first, then how far they can be trusted, then how to repeat them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from html import escape
from typing import Any

from flowgauge.model import CheckState
from flowgauge.report import charts, summary, tables
from flowgauge.report.explain import explain
from flowgauge.report.format import header, number_text, plural, point_text
from flowgauge.report.html import parts
from flowgauge.report.html.page import Page
from flowgauge.report.rundata import Run


def fill(page: Page, run: Run) -> None:
    """All sections of a run's report."""
    page.add("checks", "Can the figures be trusted?", _checks(run))
    for section in tables.sections(run):
        page.add(section.benchmark, _heading(run, section.benchmark), _benchmark(page, run, section))
    if run.published:
        page.add("publication", "The publication", _publication(run.published))
    skipped = [s for s in run.document.get("skipped") or () if isinstance(s, Mapping)]
    rows = "".join(
        f"<li><strong>{escape(str(s.get('benchmark')))}</strong>: {escape(str(s.get('reason')))}</li>"
        for s in skipped
    )
    page.add("skipped", "Not measured", f"<ul>{rows}</ul>" if rows else "")
    page.add("device", "Device under test", parts.facts(run.section("dut")))
    page.add("tester", "The tester's own limits", "" if run.published else _loopback(run.section("loopback")))
    plan = run.section("environment").get("core_plan")
    page.add("cores", "Core plan", parts.facts(plan) if isinstance(plan, Mapping) else _text(plan))
    rest = {k: v for k, v in run.section("environment").items() if k != "core_plan"}
    page.add("environment", "Environment", parts.facts(rest))
    page.add("repeat", "Configuration, and how to repeat", _repeat(run))


def standing(run: Run) -> str:
    """The line under the title: id, status, times."""
    environment = run.section("environment")
    told = [f"Run {run.document.get('id')}"]
    for key in ("started", "ended"):
        if environment.get(key):
            told.append(f"{key} {_when(str(environment[key]))}")
    status = run.document.get("status")
    if status != "complete":
        told.append(str(status))
    return escape(" · ".join(told))


def _when(text: str) -> str:
    """A wall time to the second."""
    date, _, clock = text.partition("T")
    return f"{date} {clock[:8]} UTC" if clock.endswith("Z") else text


def intro(run: Run) -> str:
    """The summary: one paragraph, then a key figure per benchmark."""
    cards = "".join(_card(k, run) for k in summary.key_figures(run))
    lead = f'<p class="lead">{escape(summary.paragraph(run))}</p>'
    nothing = (
        "" if run.figures or run.trials else "<p>Nothing was measured, so there are no figures to show.</p>"
    )
    return lead + nothing + (f'<div class="keys">{cards}</div>' if cards else "")


def _card(key: summary.KeyFigure, run: Run) -> str:
    long = " long" if len(key.value) > 14 else ""
    flags = (
        f'<div class="flags">▲ {escape(_first(key.checks))}</div>'
        if key.checks
        else '<div class="fine">no failing check</div>'
        if not run.published
        else ""
    )
    unit = f' <span class="unit">{escape(key.unit)}</span>' if key.unit else ""
    where = f" · {escape(key.where)}" if key.where else ""
    return (
        f'<a href="#{escape(key.benchmark)}"><div class="name">{escape(_heading(run, key.benchmark))}</div>'
        f'<div class="value{long}">{escape(key.value)}{unit}</div>'
        f'<div class="label">{escape(key.label)}{where}</div>{flags}</a>'
    )


def _first(names: tuple[str, ...]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _heading(run: Run, benchmark: str) -> str:
    text = benchmark.replace("_", " ")
    return text[0].upper() + text[1:]


def _benchmark(page: Page, run: Run, section: tables.Section) -> str:
    config = run.benchmark_config(section.benchmark)
    about = str(config.get("title") or "")
    body = f'<p class="about">{escape(about)}</p>' if about else ""
    drawn, wrong = charts.build(run, section.benchmark)
    body += parts.failures(section.failures, section.trials)
    body += parts.findings(section, _notes(run))
    body += f'<div class="charts">{"".join(page.chart(c) for c in drawn)}</div>' if drawn else ""
    body += "".join(f'<p class="note">A chart could not be drawn: {escape(w)}</p>' for w in wrong)
    body += "".join(parts.figures_table(t, section.benchmark) for t in section.tables)
    body += "".join(
        f"<details><summary>{escape(point_text(point))}</summary><pre>{escape(text)}</pre></details>"
        for point, text in section.evidence
    )
    if not section.tables:
        body += "<p>No figures: no trial was completed.</p>"
    params = config.get("params")
    if isinstance(params, Mapping) and params:
        body += f"<details><summary>Parameters</summary>{parts.facts(params)}</details>"
    return body


def _notes(run: Run) -> Mapping[str, str]:
    found = (run.published or {}).get("notes")
    return found if isinstance(found, Mapping) else {}


def _checks(run: Run) -> str:
    counts = tables.count_states(run)
    if not counts:
        return "<p>No checks were recorded.</p>"
    failing = [n for n, c in counts.items() if c[CheckState.FAIL]]
    if run.published:
        defects = "".join(f"<li>{escape(str(d))}</li>" for d in run.published.get("defects") or ())
        text = f"<p>These values are copied from print. What is known to be wrong with them:</p><ul>{defects}</ul>"
    elif failing:
        text = (
            f"<p>{plural(len(failing), 'check')} failed somewhere: {escape(', '.join(failing))}. Each is marked beside the "
            "figures that it touches, with what was found there. The tool runs these checks on itself and on the device in "
            "every trial.</p>"
        )
    else:
        text = (
            "<p>No check failed. The tool runs these checks on itself and on the device in every trial.</p>"
        )
    failed = _check_table([n for n in sorted(counts) if n in failing], counts, run)
    rest = _check_table([n for n in sorted(counts) if n not in failing], counts, run)
    if rest:
        rest = f"<details><summary>Checks that did not fail, explained</summary>{rest}</details>"
    return text + failed + rest


def _check_table(names: list[str], counts: Mapping[str, Mapping[CheckState, int]], run: Run) -> str:
    if not names:
        return ""
    kind, labels = ("note", ("rows",)) if run.published else ("check", ("failed", "passed", "not evaluated"))
    head = f"<th scope=col>{kind}</th><th scope=col>what it means, and what to do</th>"
    head += "".join(f"<th scope=col class=number>{label}</th>" for label in labels)
    rows = "".join(_check_row(name, counts[name], run) for name in names)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _check_row(name: str, count: Mapping[CheckState, int], run: Run) -> str:
    known = explain(name, _notes(run))
    text = escape(known.meaning) if known else "The text of this check stands beside the figures."
    text += f" <em>{escape(known.remedy)}</em>" if known and known.remedy else ""
    if count.get(CheckState.NOT_EVALUATED):
        reasons = {
            c.text
            for t in run.trials
            for c in t.checks
            if (c.name, c.state) == (name, CheckState.NOT_EVALUATED)
        }
        text += f" Not evaluated: {escape('; '.join(sorted(reasons)[:4]))}." if reasons else ""
    states = (
        (CheckState.FAIL,) if run.published else (CheckState.FAIL, CheckState.PASS, CheckState.NOT_EVALUATED)
    )
    cells = "".join(
        f'<td class="number{" bad" if s is CheckState.FAIL and count.get(s) else ""}">{count.get(s, 0):,}</td>'
        for s in states
    )
    return f'<tr><td class="key"><strong>{escape(name)}</strong></td><td class="text">{text}</td>{cells}</tr>'


def _publication(known: Mapping[str, Any]) -> str:
    base = {k: known.get(k) for k in ("title", "authors", "project", "version", "date", "tester", "openflow")}
    body = parts.facts(base)
    for key, label in (
        ("tables", "Tables"),
        ("definitions", "Test definitions"),
        ("text_values", "Values in running text"),
    ):
        rows = [r for r in known.get(key) or () if isinstance(r, Mapping)]
        if rows:
            columns = list(rows[0])
            head = "".join(f"<th scope=col>{escape(c.replace('_', ' '))}</th>" for c in columns)
            lines = "".join(
                "<tr>" + "".join(f"<td>{escape(str(r.get(c) or ''))}</td>" for c in columns) + "</tr>"
                for r in rows
            )
            body += (
                f"<details><summary>{label}</summary><div class='wide'><table><thead><tr>{head}</tr></thead>"
                f"<tbody>{lines}</tbody></table></div></details>"
            )
    return body


def _loopback(found: Mapping[str, Any]) -> str:
    if not found:
        return (
            "<p>The tester was not looped back on itself, so its own limits are not known: whether figures are limited by "
            "the tester could not be checked.</p>"
        )
    rates = found.get("max_pps")
    body = (
        f"<p>The tester, looped back on itself through {escape(str(found.get('backend') or 'its ports'))} without a device, "
        f"has a median delay of {_micro(found.get('delay_ns'))}, give or take {_micro(found.get('spread_ns'))}: "
        "that is part of every delay above, and its error."
    )
    if found.get("echo_ns") is not None:
        body += f" Its own control channel answers in {_micro(found['echo_ns'])}."
    body += f" Measured at {escape(str(found['measured_at']))}.</p>" if found.get("measured_at") else "</p>"
    if isinstance(rates, Mapping) and rates:
        rows = "".join(
            f"<tr><td>{escape(str(size))}</td><td class=number>{number_text(float(rate), 3)}</td></tr>"
            for size, rate in rates.items()
        )
        body += (
            f"<table><thead><tr><th scope=col>{escape(header('frame_size'))}<span class=unit>B</span></th>"
            "<th scope=col class=number>without loss, up to<span class=unit>frames/s</span></th></tr></thead>"
            f"<tbody>{rows}</tbody></table>"
        )
    return body


def _micro(nanoseconds: Any) -> str:
    if not isinstance(nanoseconds, (int, float)):
        return "an unknown time"
    return f"{number_text(nanoseconds / 1000, 3)} µs"


def _text(value: Any) -> str:
    return f"<p>{escape(str(value))}</p>" if value else ""


def _repeat(run: Run) -> str:
    if run.published:
        return ""
    command = run.document.get("command") or []
    body = "<p>The same command measures again; with the same seed it sends the same frames.</p>"
    if command:
        body += f"<pre>{escape(shlex.join(str(c) for c in command))}</pre>"
    config = json.dumps(run.section("config"), indent=2, ensure_ascii=False)
    tool = run.section("environment").get("tool")
    body += f"<p>Measured with Flowgauge {escape(_version(tool))}.</p>" if tool else ""
    return (
        body
        + f"<details data-noprint=yes><summary>Effective configuration</summary><pre>{escape(config)}</pre></details>"
    )


def _version(tool: Any) -> str:
    if not isinstance(tool, Mapping):
        return str(tool)
    commit = f", commit {tool['commit']}" if tool.get("commit") else ""
    changed = ", with local changes" if tool.get("changed") else ""
    return f"{tool.get('version')}{commit}{changed}"
