"""Writes the shipped published results from the tables copied out of the documents.

    python -m flowgauge.published.convert REFERENCE_FOLDER

REFERENCE_FOLDER holds `alien/*.csv` and `note_codes.csv`. The output is committed; the same input gives the same
bytes. Values are the printed ones; a loss ratio is 1 - throughput ratio, and the printed ratio is kept beside it.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from flowgauge.model import trial_id
from flowgauge.published import alien

Json = dict[str, Any]
TARGET = Path(__file__).parent


def parse_notes(note: str, meanings: Mapping[str, str]) -> list[tuple[str, str]]:
    """Split "code: explanation; code" into (code, explanation). Raises ValueError for an unknown code.

    >>> parse_notes("unpaced; short_window: spans 19 s; so", {"unpaced": "", "short_window": ""})
    [('unpaced', ''), ('short_window', 'spans 19 s; so')]
    """
    found: list[tuple[str, str]] = []
    for part in note.split("; ") if note else ():
        code, _, text = part.partition(": ")
        if code in meanings:
            found.append((code, text))
        elif found:
            found[-1] = (found[-1][0], "; ".join(filter(None, (found[-1][1], part))))
        else:
            raise ValueError(f"unknown note code in {note!r}")
    return found


def note_checks(note: str, meanings: Mapping[str, str]) -> list[Json]:
    """The notes of a row as failed checks: the code is the name, its meaning and the explanation the text."""
    return [
        {
            "name": code,
            "state": "fail",
            "text": meanings[code] + (f" Here: {text}." if text else ""),
            "advice": alien.ADVICE.get(code),
            "invalidates": False,
        }
        for code, text in parse_notes(note, meanings)
    ]


def number(text: str, factor: Decimal = Decimal(1)) -> int | float | None:
    """The printed number times an exact factor; None for an empty cell.

    >>> number("0.05", Decimal(1000000)), number(""), number("870")
    (50000, None, 870)
    """
    if not text.strip():
        return None
    value = Decimal(text) * factor
    return int(value) if value == value.to_integral_value() else float(value)


def _metrics(row: Mapping[str, str], table: alien.Table) -> dict[str, tuple[int | float | None, str]]:
    found: dict[str, tuple[int | float | None, str]] = {}
    for column, target in table.columns.items():
        found[target.figure] = (number(row[column], target.factor), target.unit)
        if target.figure == "throughput_ratio" and row[column].strip():
            found["loss_ratio"] = (number(str(1 - Decimal(row[column]))), "")
    return found


def _touches(code: str, figure: str) -> bool:
    prefixes = alien.TOUCHES.get(code)
    return prefixes is None or figure.startswith(prefixes)


def _row(row: Mapping[str, str], table: alien.Table, meanings: Mapping[str, str]) -> tuple[Json, list[Json]]:
    """One printed row as a trial and its figures."""
    device = alien.DEVICES[row["device"]]
    point = {
        key: number(row[column])
        for column, key in alien.POINTS.items()
        if column in row and column not in table.columns
    }
    metrics = _metrics(row, table)
    checks = note_checks(row["note"], meanings)
    trial = {
        "id": trial_id(row["test"], point, 0, f"published:alien/{device}"),
        "benchmark": row["test"],
        "point": point,
        "repeat": 0,
        "status": "ok",
        "metrics": {name: value for name, (value, _) in metrics.items()}
        | ({"result": row["result"]} if "result" in row else {}),
        "checks": checks,
        "reason": None,
        "attempts": 1,
        "has_samples": False,
    }
    note = f"{table.number}. {row['note']}" if row["note"] else table.number
    figures = [
        _figure(row["test"], name, value, unit, point, [c for c in checks if _touches(c["name"], name)], note)
        for name, (value, unit) in metrics.items()
        if value is not None and name not in alien.SETTINGS
    ]
    return trial, figures


def _figure(
    benchmark: str,
    name: str,
    value: float | None,
    unit: str,
    at: Mapping[str, Any],
    checks: list[Json],
    note: str,
) -> Json:
    return {
        "benchmark": benchmark, "name": name, "value": value, "unit": unit, "at": dict(at),
        "low": None, "high": None, "interval": "none", "count": 0, "checks": checks, "note": note,
    }  # fmt: skip


def _text_figures(rows: list[dict[str, str]], device: str, meanings: Mapping[str, str]) -> list[Json]:
    """Figures of running text; a range printed as two rows becomes one figure without a value."""
    found: dict[str, Json] = {}
    for row in rows:
        target = alien.TEXT_FIGURES.get(row["quantity"])
        if target is None or target.device != device:
            continue
        value = number(row["value"], target.factor)
        place = f"Running text, {row['where']}" + (
            f", printed as {row['qualifier']}" if row["qualifier"] else ""
        )
        note = f"{place}. {row['note']}" if row["note"] else place
        figure = found.setdefault(
            row["quantity"],
            _figure(
                target.benchmark, target.figure, value, target.unit, target.point,
                note_checks(row["note"], meanings), note,
            ),
        )  # fmt: skip
        if row["qualifier"] in ("range_low", "range_high"):
            figure["low" if row["qualifier"] == "range_low" else "high"] = value
            figure |= {
                "value": None,
                "interval": "range",
                "note": f"Running text, {row['where']}, printed as a range",
            }
    return list(found.values())


def _resets(rows: list[dict[str, str]], device: str, meanings: Mapping[str, str]) -> Iterator[Json]:
    """Labels at which the switch reset the channel: failed trials, not missing ones."""
    for row in rows:
        if alien.RESETS.get(row["quantity"]) == device:
            where = f" ({row['qualifier']})" if row["qualifier"] else ""
            point = {"rate_mbps": number(row["value"]), "frame_size": None}
            yield {
                "id": trial_id("packet_out", point, 0, f"published:alien/{device}"),
                "benchmark": "packet_out", "point": point, "repeat": 0, "status": "failed", "metrics": {},
                "checks": note_checks(row["note"], meanings),
                "reason": f"the switch reset the TCP connection{where}; no results are printed",
                "attempts": 1, "has_samples": False,
            }  # fmt: skip


def _definition(row: Mapping[str, str]) -> Json:
    def numbers(column: str) -> list[int | float | None]:
        return [number(v) for v in row[column].split()]

    params = {
        "rates_mbps": numbers("offered_mbps_label_list"),
        "frame_sizes": numbers("frame_size_bytes_list"),
    }
    params["entries"] = numbers("flows_list")
    return {key: value for key, value in params.items() if value} | {
        "duration_s": number(row["stated_duration_s"])
    }


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def convert(reference: Path) -> dict[str, tuple[Json, list[Json]]]:
    """The published runs of the ALIEN tables: device -> (run.json, trials)."""
    folder = reference / "alien"
    meanings = {r["code"]: r["meaning"] for r in _read(reference / "note_codes.csv")}
    definitions, texts = _read(folder / "test_definitions.csv"), _read(folder / "text_values.csv")
    runs: dict[str, tuple[Json, list[Json]]] = {}
    for device in alien.DESCRIPTIONS:
        runs[device] = (_document(device, definitions, texts, meanings), [])
    for table in alien.TABLES:
        for row in _read(folder / table.file):
            document, trials = runs[alien.DEVICES[row["device"]]]
            trial, figures = _row(row, table, meanings)
            trials.append(trial)
            document["figures"] += figures
            entry = {
                "table": table.number,
                "benchmark": row["test"],
                "file": table.file,
                "remark": table.remark or None,
            }
            if entry not in document["published"]["tables"]:
                document["published"]["tables"].append(entry)
    for device, (document, trials) in runs.items():
        trials += _resets(texts, device, meanings)
        document["figures"] += _text_figures(texts, device, meanings)
        document["figures"] += _largest(document["figures"])
        used = {check["name"] for entry in (*trials, *document["figures"]) for check in entry["checks"]}
        for row in (*document["published"]["definitions"], *document["published"]["text_values"]):
            used |= {code for code, _ in parse_notes(row["note"], meanings)}
        document["published"]["notes"] = {code: text for code, text in meanings.items() if code in used}
    return runs


def _largest(figures: list[Json]) -> list[Json]:
    """The largest number of entries that was installed in a flow_add_max table; no limit is printed."""
    entries = [f["at"]["entries"] for f in figures if f["benchmark"] == "flow_add_max"]
    note = "The largest number in the table; no limit is printed, so the device holds at least that many"
    return [_figure("flow_add_max", "max_entries", max(entries), "", {}, [], note)] if entries else []


def _document(
    device: str, definitions: list[dict[str, str]], texts: list[dict[str, str]], meanings: Mapping[str, str]
) -> Json:
    mine = [d for d in definitions if alien.DEVICES.get(d["device"]) == device or not d["device"]]
    return {
        "schema": 1,
        "id": f"alien-{device}",
        "suite": "alien",
        "command": [],
        "config": {
            "benchmarks": [
                {"name": d["test"], "params": _definition(d), "quick": False} for d in mine if d["device"]
            ],
            "dut": device, "openflow": "1.0",
        },
        "dut": {"driver": "published", **alien.DESCRIPTIONS[device]},
        "environment": {},
        "loopback": None,
        "status": "complete",
        "skipped": [{"benchmark": b, "reason": r} for b, r in alien.SKIPPED[device].items()],
        "published": alien.SOURCE | {
            "defects": [*alien.DEFECTS, *alien.DEVICE_DEFECTS[device]],
            "tables": [],
            "definitions": mine,
            "text_values": [t for t in texts if not t["quantity"].startswith(_others(device))],
            "notes": {},
        },
        "figures": [],
    }  # fmt: skip


def _others(device: str) -> tuple[str, ...]:
    return tuple(f"{d}_" for d in alien.DESCRIPTIONS if d != device)


def write(document: Json, trials: list[Json], folder: Path) -> None:
    """One figure and one trial per line, so that a change of a value is a change of a line."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = ",\n".join("  " + json.dumps(f, ensure_ascii=False) for f in document["figures"])
    head = json.dumps({k: v for k, v in document.items() if k != "figures"}, indent=1, ensure_ascii=False)
    (folder / "run.json").write_text(f'{head[:-2]},\n "figures": [\n{figures}\n ]\n}}\n', encoding="utf-8")
    lines = "".join(json.dumps(t, ensure_ascii=False) + "\n" for t in trials)
    (folder / "trials.jsonl").write_text(lines, encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Entry of `python -m flowgauge.published.convert`."""
    if len(arguments) != 1 or not (Path(arguments[0]) / "alien").is_dir():
        print(
            "usage: python -m flowgauge.published.convert REFERENCE_FOLDER (with alien/*.csv in it)",
            file=sys.stderr,
        )
        return 2
    for device, (document, trials) in convert(Path(arguments[0])).items():
        write(document, trials, TARGET / "alien" / device)
        print(f"alien/{device}: {len(trials)} trials, {len(document['figures'])} figures")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
