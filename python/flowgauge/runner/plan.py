"""What a run will measure, decided before anything is started: benchmarks with their effective parameters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flowgauge import benchmarks, controllers, suites
from flowgauge.benchmarks.base import Benchmark, Params
from flowgauge.duts.simulated import is_simulated
from flowgauge.errors import ConfigError
from flowgauge.names import unknown
from flowgauge.results.numbers import plain
from flowgauge.results.schema import BenchmarkDocument, ConfigDocument
from flowgauge.suites import params as parameters

DEFAULT_DUT = "embedded"
DEFAULT_SEED = 1


@dataclass(frozen=True)
class Item:
    """One benchmark with its parameters. `path` is where a worker finds the class ("module" or "module:Class")."""

    name: str
    path: str
    benchmark: Benchmark[Any]
    params: Params
    quick: bool = False


@dataclass(frozen=True)
class Plan:
    """A run before it starts. `openflow` None: the driver's best version; `repeat` None: each benchmark's own number; `controller`
    None: as the DUT's file says, else builtin.
    """

    suite: str
    items: tuple[Item, ...]
    dut: str
    openflow: str | None = None
    seed: int = 1
    repeat: int | None = None
    controller: str | None = None

    def config(self) -> ConfigDocument:
        """The effective configuration, as run.json has it."""
        return ConfigDocument(
            benchmarks=[_document(item) for item in self.items],
            dut=self.dut,
            openflow=self.openflow,
            seed=self.seed,
            repeat=self.repeat,
            controller=self.controller,
        )

    def repeats(self, item: Item) -> int:
        """How often each point of a benchmark is measured."""
        return self.repeat or item.benchmark.repeats(item.params)


@dataclass(frozen=True)
class Request:
    """What the command line asks for; None: the default."""

    targets: Sequence[str]
    dut: str | None = None
    openflow: str | None = None
    settings: Sequence[str] = ()
    quick: bool = False
    repeat: int | None = None
    seed: int | None = None
    controller: str | None = None

    def changes(self) -> list[str]:
        """The options that were given and say what is measured."""
        given = {
            "--dut": self.dut,
            "--openflow": self.openflow,
            "--controller": self.controller,
            "--set": self.settings,
            "--quick": self.quick,
            "--repeat": self.repeat,
            "--seed": self.seed is not None,
        }
        return [option for option, value in given.items() if value]


def make_plan(request: Request) -> Plan:
    """Look up every name and check every value. Raises UsageError and its kinds."""
    settings = [parameters.parse_setting(s) for s in request.settings]
    chosen = [pair for target in request.targets for pair in _entries(target)]
    _refuse_twice([entry.name for entry, _ in chosen])
    listed = [entry.name for entry, _ in chosen]
    for setting in settings:
        if setting.benchmark not in listed:
            raise unknown("benchmark of this run", setting.benchmark, listed, place=f"--set {setting.text}")
    seed = DEFAULT_SEED if request.seed is None else request.seed
    items = tuple(_item(entry, suite_quick, settings, request, seed) for entry, suite_quick in chosen)
    return Plan(
        suite="+".join(suites.load(t).name if _is_suite(t) else t for t in request.targets),
        items=items,
        dut=whole_dut(DEFAULT_DUT if request.dut is None else request.dut),
        openflow=request.openflow,
        seed=seed,
        repeat=request.repeat,
        controller=_controller(request.controller),
    )


def plan_from(suite: str, config: ConfigDocument) -> Plan:
    """The plan of an earlier run, to go on with it. Raises UsageError when a benchmark is gone or has changed."""
    items = []
    for entry in config.benchmarks:
        kind = benchmarks.load(entry.name)
        layer = parameters.Layer(entry.params, f"the run's parameters of {entry.name}")
        made = parameters.make(kind, [layer], repeat=None, seed=config.seed)
        items.append(Item(entry.name, benchmarks.paths()[entry.name], kind(), made, entry.quick))
    return Plan(
        suite, tuple(items), config.dut, config.openflow, config.seed, config.repeat, config.controller
    )


def difference(ours: ConfigDocument, theirs: ConfigDocument) -> str | None:
    """The first thing in which two configurations differ, in words; None when they ask for the same trials."""
    for key in ("dut", "openflow", "controller", "seed", "repeat"):
        if getattr(ours, key) != getattr(theirs, key):
            return f"{key} is {getattr(ours, key)}, was {getattr(theirs, key)}"
    if [b.name for b in ours.benchmarks] != [b.name for b in theirs.benchmarks]:
        was = ", ".join(b.name for b in theirs.benchmarks)
        return f"the benchmarks are {', '.join(b.name for b in ours.benchmarks)}; they were {was}"
    for mine, other in zip(ours.benchmarks, theirs.benchmarks, strict=True):
        for key in {**mine.params, **other.params}:
            now, then = plain(mine.params.get(key)), plain(other.params.get(key))
            if now != then:
                return f"{mine.name}.{key} is {now}, was {then}"
    return None


def _controller(name: str | None) -> str | None:
    """The name, if there is such a controller. Raises UsageError and its kinds."""
    if name is not None:
        controllers.create(name)
    return name


def whole_dut(dut: str) -> str:
    """A DUT's file with its whole path, so that a run can be resumed from anywhere, also that of a model; other names as they are."""
    if is_simulated(dut):
        kind, _, rest = dut.partition(":")
        model, comma, options = rest.partition(",")
        path = str(Path(model).resolve()) if model.endswith(".toml") else model
        return f"{kind}:{path}{comma}{options}"
    return str(Path(dut).resolve()) if dut.endswith(".toml") else dut


def short_dut(dut: str) -> str:
    """A DUT's name as a part of a file name.

    >>> short_dut("ovs:ports=3"), short_dut("/lab/switch 7.toml")
    ('ovs-ports-3', 'switch-7')
    >>> short_dut("sim:/lab/old one.toml,ports=8")
    'sim-old-one-ports-8'
    """
    if is_simulated(dut):
        kind, _, rest = dut.partition(":")
        model, comma, options = rest.partition(",")
        dut = f"{kind}-{Path(model).name.removesuffix('.toml')}{comma}{options}"
    name = Path(dut).stem if dut.endswith(".toml") else dut
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.") or "dut"


def _is_suite(target: str) -> bool:
    return suites.is_file(target) or target in suites.names()


def _entries(target: str) -> list[tuple[suites.Entry, bool]]:
    """Entries of a suite, or the one of a benchmark, each with whether its suite is a quick one."""
    if _is_suite(target):
        suite = suites.load(target)
        return [(entry, suite.quick) for entry in suite.entries]
    if target not in benchmarks.paths():
        raise unknown("suite or benchmark", target, [*suites.names(), *benchmarks.paths()])
    return [(suites.Entry(target), False)]


def _item(
    entry: suites.Entry,
    suite_quick: bool,
    settings: Sequence[parameters.Setting],
    request: Request,
    seed: int,
) -> Item:
    kind = benchmarks.load(entry.name, place=entry.place("name"))
    made = None
    # What a suite says is checked even where `--quick` replaces it.
    for quick in sorted({False, request.quick}):
        sources = parameters.layers(kind, entry, suite_quick=suite_quick, quick=quick, settings=settings)
        made = parameters.make(kind, sources, repeat=request.repeat, seed=seed)
    assert made is not None
    return Item(entry.name, benchmarks.paths()[entry.name], kind(), made, suite_quick or request.quick)


def _refuse_twice(names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(
                f"{name} is asked for twice", advice="Name each benchmark, or a suite with it, once."
            )


def _document(item: Item) -> BenchmarkDocument:
    return BenchmarkDocument(
        name=item.name,
        params=plain(item.params.model_dump(mode="json")),
        quick=item.quick,
        title=type(item.benchmark).summary(),
        charts=plain(list(item.benchmark.charts)),
    )
