"""What `flowgauge list` lists: name -> text, for each kind of thing."""

from __future__ import annotations

from importlib import resources

from flowgauge import benchmarks as registry
from flowgauge import suites as suite_files
from flowgauge.errors import FlowgaugeError


def suites() -> dict[str, str]:
    """Suites with their titles."""
    return {name: suite_files.load(name).title for name in suite_files.names()}


def suite(name: str) -> dict[str, str]:
    """The benchmarks of a suite, with what it sets."""
    found = suite_files.load(name)
    rows = {entry.name: ", ".join(f"{k}={v}" for k, v in entry.params.items()) for entry in found.entries}
    return {found.name: " ".join(found.description.split()) or found.title, **rows}


def benchmarks() -> dict[str, str]:
    """Benchmarks with what they measure and their parameters."""
    rows = {}
    for name in sorted(registry.paths()):
        try:
            kind = registry.load(name)
            rows[name] = f"{kind.summary()}\nparameters: {', '.join(kind.params_type.model_fields)}"
        except FlowgaugeError as error:
            rows[name] = f"broken: {error.message}"
    return rows


def parameters(name: str) -> dict[str, str]:
    """Parameters of a benchmark: default, quick value, description."""
    kind = registry.load(name)
    rows = {name: " ".join((kind.__doc__ or "").split())}
    for key, field in kind.params_type.model_fields.items():
        default = field.get_default(call_default_factory=True)
        quick = f"; quick: {_value(kind.quick[key])}" if key in kind.quick else ""
        rows[f"  {key}"] = f"{_value(default)}{quick}\n{field.description or ''}".rstrip()
    return rows


def duts() -> dict[str, str]:
    """DUT drivers; the text says what they need."""
    from flowgauge.duts import DRIVERS

    return {**DRIVERS, "FILE.toml": "a switch of yours: interfaces, port numbers, OpenFlow channel"}


def models() -> dict[str, str]:
    """Device models of the simulator, to be named as sim:NAME, with their titles."""
    from flowgauge import models as files

    return {name: files.load(name).title for name in files.names()}


def published() -> dict[str, str]:
    """Published results, to be named as published:SOURCE/DEVICE."""
    folder = resources.files("flowgauge") / "published"
    found = {}
    for source in sorted((f for f in folder.iterdir() if f.is_dir()), key=lambda f: f.name):
        for device in sorted((f for f in source.iterdir() if f.is_dir()), key=lambda f: f.name):
            if (device / "run.json").is_file():
                found[f"published:{source.name}/{device.name}"] = ""
    return found


def features() -> dict[str, str]:
    """Feature tests with what they test, and the benchmarks that need them."""
    from flowgauge.features.catalogue import FEATURES

    needed = _needed()
    rows = {}
    for name, feature in FEATURES.items():
        versions = "OpenFlow " + ", ".join(feature.versions)
        benchmarks = f"; needed by {', '.join(needed[name])}" if name in needed else ""
        rows[name] = f"{feature.text} ({versions}){benchmarks}"
    return rows | {name: f"needed by {', '.join(by)}" for name, by in needed.items() if name not in FEATURES}


def _needed() -> dict[str, list[str]]:
    """Features that benchmarks name, with the benchmarks."""
    found: dict[str, list[str]] = {}
    for name in registry.paths():
        try:
            kind = registry.load(name)
        except FlowgaugeError:
            continue
        for feature in kind.features:
            found.setdefault(feature, []).append(name)
    return dict(sorted(found.items()))


def _value(value: object) -> str:
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_value, value))}]"
    return (
        {None: "unset", True: "true", False: "false"}.get(value, str(value))
        if isinstance(value, (bool, type(None)))
        else str(value)
    )
