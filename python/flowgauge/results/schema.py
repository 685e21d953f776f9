"""What stands in a run directory, as pydantic models; their JSON Schema is published in `docs/schema`.

    python -m flowgauge.results.schema [DIRECTORY]     writes run.schema.json and trial.schema.json

Results are kept apart from what differs between machines: `environment` in run.json, and wall times in timings.jsonl.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from flowgauge.model import Check, CheckState, Figure, Point, TrialRecord

SCHEMA_VERSION = 1
"""Raised whenever a reader of the old version would misunderstand the new one."""

Value = Annotated[bool | int | float | str | None, Field(description="a scalar; null is missing, never 0")]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class CheckDocument(_Model):
    """A reason not to trust a figure, found by the tool itself."""

    name: str
    state: CheckState
    text: str = Field(description="what was found, with figures")
    advice: str | None = None
    invalidates: bool = Field(
        default=False, description="a trial that fails this check is repeated and never used"
    )

    def value(self) -> Check:
        """As the rest of the program has it."""
        return Check(**dict(self))


class TrialDocument(_Model):
    """One line of trials.jsonl: one measurement at a point."""

    id: str = Field(pattern="^[0-9a-f]{16}$", description="hash of benchmark, point, repeat and DUT")
    benchmark: str
    point: dict[str, Value] = Field(description="the parameters varied; units in the field table")
    repeat: int = Field(ge=0, description="0 for the first trial at a point")
    status: Literal["ok", "failed", "invalid"] = Field(
        description="failed: the procedure broke, see reason; invalid: the tester disturbed it"
    )
    metrics: dict[str, Value] = Field(default={}, description="names and units in the field table")
    checks: list[CheckDocument] = []
    reason: str | None = None
    attempts: int = Field(default=1, ge=1, description="how often it was tried until it was valid")
    has_samples: bool = Field(default=False, description="whether samples/<id>*.parquet exist")

    def value(self) -> TrialRecord:
        """As the rest of the program has it."""
        return TrialRecord(
            id=self.id,
            benchmark=self.benchmark,
            point=Point(**self.point),
            repeat=self.repeat,
            status=self.status,
            metrics=self.metrics,
            checks=tuple(c.value() for c in self.checks),
            reason=self.reason,
            attempts=self.attempts,
            has_samples=self.has_samples,
        )


class FigureDocument(_Model):
    """What a benchmark concludes: a value with its unit, its interval and its count."""

    benchmark: str
    name: str
    value: float | None
    unit: str
    at: dict[str, Value] = Field(default={}, description="for which point; empty: for the whole benchmark")
    low: float | None = None
    high: float | None = None
    interval: str = Field(
        default="none",
        description="t, order: 95 % interval of a mean or a median; range: what was observed; none",
    )
    count: int = Field(default=0, ge=0)
    checks: list[CheckDocument] = []
    note: str | None = None


class BenchmarkDocument(_Model):
    """One benchmark of the effective configuration, with every parameter."""

    name: str
    params: dict[str, Any]
    quick: bool = False
    title: str = Field(default="", description="first paragraph of the benchmark's documentation")
    charts: list[dict[str, Any]] = Field(default=[], description="how a report draws its figures")


class ConfigDocument(_Model):
    """The effective configuration: with it, the run can be repeated."""

    benchmarks: list[BenchmarkDocument]
    dut: str = Field(description="as given to --dut; files with their whole path")
    openflow: str | None = Field(default=None, description="null: the driver's best")
    seed: int = 0
    repeat: int | None = Field(default=None, description="null: each benchmark's own")
    controller: str | None = Field(
        default=None, description="how entries reach the switch; null: as the DUT's file says, else builtin"
    )


class SkippedDocument(_Model):
    """A benchmark that was not measured, or not concluded."""

    benchmark: str
    reason: str


class RunDocument(BaseModel):
    """run.json."""

    model_config = ConfigDict(extra="allow", populate_by_name=True)

    schema_version: Literal[1] = Field(default=1, alias="schema")
    id: str
    suite: str
    command: list[str] = Field(description="the command line")
    config: ConfigDocument
    dut: dict[str, Any] = Field(default={}, description="the driver's and the switch's own description")
    environment: dict[str, Any] = Field(
        default={}, description="what differs between machines, and wall times"
    )
    loopback: dict[str, Any] | None = Field(
        default=None, description="the tester's own limits on this backend"
    )
    status: Literal["running", "complete", "interrupted"] = Field(
        default="running", description="running in a directory that nobody writes: the program was killed"
    )
    reason: str | None = Field(default=None, description="why it was interrupted")
    skipped: list[SkippedDocument] = []
    figures: list[FigureDocument] = []


class TimingDocument(_Model):
    """One line of timings.jsonl: when a trial was measured, and how long it took."""

    id: str
    started: str
    seconds: float


def trial_document(record: TrialRecord) -> dict[str, Any]:
    """The line of a trial as an object."""
    fields = {k: v for k, v in vars(record).items() if k != "checks"}
    return {**fields, "point": dict(record.point), "checks": [vars(c) for c in record.checks]}


def figure_document(benchmark: str, figure: Figure) -> dict[str, Any]:
    """A figure as an object of run.json."""
    fields = {k: v for k, v in vars(figure).items() if k != "checks"}
    return {
        "benchmark": benchmark,
        **fields,
        "at": dict(figure.at),
        "checks": [vars(c) for c in figure.checks],
    }


def schemas() -> Mapping[str, str]:
    """File name -> text of each published JSON Schema."""
    found = {}
    for name, model in (("run", RunDocument), ("trial", TrialDocument)):
        schema = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **model.model_json_schema(by_alias=True),
        }
        found[f"{name}.schema.json"] = json.dumps(schema, indent=2) + "\n"
    return found


def main(arguments: list[str]) -> None:
    """Write the schemas to a directory, by default `docs/schema`."""
    folder = Path(arguments[0] if arguments else "docs/schema")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in schemas().items():
        (folder / name).write_text(text, encoding="utf-8")
        print(folder / name)


if __name__ == "__main__":
    main(sys.argv[1:])
