"""From what a suite, `--quick`, `--set` and `--repeat` say to the parameters of a benchmark, with errors that name the place."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from flowgauge.benchmarks.base import Benchmark, Params
from flowgauge.errors import ConfigError, UsageError
from flowgauge.names import unknown
from flowgauge.results.numbers import plain
from flowgauge.suites import Entry


@dataclass(frozen=True)
class Setting:
    """`--set benchmark.param=value`, as typed in `text`."""

    benchmark: str
    param: str
    value: Any
    text: str


def parse_setting(text: str) -> Setting:
    """Read a `--set`. The value is TOML; a bare word is a text. Raises UsageError.

    >>> parse_setting("packet_in.rates_mbps=[10, 50]").value
    [10, 50]
    """
    match = re.fullmatch(r"\s*([\w-]+)\.([\w-]+)\s*=\s*(.*?)\s*", text, re.DOTALL)
    if match is None:
        raise UsageError(
            f"--set {text}: expected BENCHMARK.PARAMETER=VALUE",
            advice="For instance: --set packet_in.duration_s=5 --set packet_in.rates_mbps=[10,50]",
        )
    return Setting(match[1], match[2], _value(match[3], text), text)


def _value(value: str, text: str) -> Any:
    if re.fullmatch(r"[A-Za-z_][\w.:/-]*", value) and value not in ("true", "false", "inf", "nan"):
        return value
    try:
        parsed = tomllib.loads(f"value = {value}\n")
    except tomllib.TOMLDecodeError as error:
        reason = re.sub(r" \(at .*\)", "", str(error))
        raise UsageError(
            f"--set {text}: the value is not TOML: {reason}",
            advice='Numbers, true, false, "texts" and [lists]; quote it for the shell.',
        ) from error
    if list(parsed) != ["value"]:
        raise UsageError(f"--set {text}: expected one value")
    return parsed["value"]


@dataclass(frozen=True)
class Layer:
    """Values of one source, later ones win. `entry` says where they stand in a file, `title` what else to call the place."""

    values: Mapping[str, Any]
    title: str = ""
    entry: Entry | None = None
    table: tuple[str, ...] = ()

    def place(self, key: str) -> str:
        """Where the value of `key` comes from."""
        return (self.entry.place(*self.table, key) if self.entry else "") or self.title


def layers(
    kind: type[Benchmark[Any]], entry: Entry, *, suite_quick: bool, quick: bool, settings: Sequence[Setting]
) -> list[Layer]:
    """All sources in their order: what is more specific wins, `--quick` wins over the suite, `--set` over everything."""
    own = Layer(kind.quick, f"quick values of {kind.name}")
    suite = Layer(entry.params, entry=entry)
    found = [own, suite] if suite_quick else [suite, own] if quick else [suite]
    if quick:
        found.append(Layer(entry.quick, entry=entry, table=("quick",)))
    mine = [s for s in settings if s.benchmark == kind.name]
    return found + [Layer({s.param: s.value}, f"--set {s.text}") for s in mine]


def make(kind: type[Benchmark[Any]], sources: Sequence[Layer], *, repeat: int | None, seed: int) -> Params:
    """The parameters. `repeat` and `seed` go into the parameters of that name, where the benchmark has them.
    Values are rounded as run.json rounds them, so that a run and its resumption compute the same points.

    Raises UnknownNameError for a parameter that does not exist, ConfigError for a value that is not allowed.
    """
    fields = kind.params_type.model_fields
    values: dict[str, Any] = {"seed": seed} if "seed" in fields else {}
    origin: dict[str, Layer] = {}
    for source in sources:
        for key, value in source.values.items():
            if key not in fields:
                raise unknown(f"parameter of {kind.name}", key, fields, place=source.place(key))
            values[key] = value
            origin[key] = source
    if repeat is not None and "repeats" in fields:
        values["repeats"] = repeat
        origin["repeats"] = Layer({}, f"--repeat {repeat}")
    try:
        return kind.params_type.model_validate(plain(values))
    except ValidationError as error:
        raise _config_error(kind, error, origin) from error


def _config_error(
    kind: type[Benchmark[Any]], error: ValidationError, origin: Mapping[str, Layer]
) -> ConfigError:
    first = error.errors()[0]
    key = str(first["loc"][0]) if first["loc"] else ""
    where = origin[key].place(key) if key in origin else ""
    path = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in first["loc"]) or ""
    allowed = (first["msg"][:1].lower() + first["msg"][1:]).replace("tuple", "list")
    # nan and inf are no values of ours, and were taken for "nothing" before they came here.
    found = (
        first["input"]
        if first["input"] is not None
        else origin[key].values.get(key)
        if key in origin
        else None
    )
    field = kind.params_type.model_fields.get(key)
    text = f" ({key}: {field.description})" if field and field.description else ""
    return ConfigError(
        f"{where + ': ' if where else ''}{kind.name}{path} is {found!r}; {allowed}{text}",
        advice=f"`flowgauge list benchmarks {kind.name}` shows its parameters.",
    )
