"""One file per benchmark, found by name.

Ours are listed here; others come by entry points in the group `flowgauge.benchmarks`. Nothing is imported before it is asked for.
"""

from __future__ import annotations

import importlib
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from flowgauge.errors import ConfigError
from flowgauge.names import unknown

if TYPE_CHECKING:
    from flowgauge.benchmarks.base import Benchmark

BUILTIN: dict[str, str] = {
    "packet_in": "flowgauge.benchmarks.packet_in",
    "packet_out": "flowgauge.benchmarks.packet_out",
    "control_channel_delay": "flowgauge.benchmarks.control_channel_delay",
    "data_path_delay": "flowgauge.benchmarks.data_path_delay",
    "flow_add": "flowgauge.benchmarks.flow_add",
    "flow_add_max": "flowgauge.benchmarks.flow_add_max",
    "flow_mod": "flowgauge.benchmarks.flow_mod",
    "flow_delete": "flowgauge.benchmarks.flow_delete",
    "features": "flowgauge.benchmarks.features",
}
"""Name -> module that holds the benchmark of that name, or "module:Class"."""

GROUP = "flowgauge.benchmarks"


def paths() -> dict[str, str]:
    """Name -> where the benchmark is, for all that are installed; ours win over others of the same name."""
    found: dict[str, str] = {e.name: e.value for e in _entry_points()}
    return {**BUILTIN, **{k: v for k, v in found.items() if k not in BUILTIN}}


def load(name: str, *, place: str = "") -> type[Benchmark[Any]]:
    """The class of a benchmark. Raises UnknownNameError, which says `place`; ConfigError when a third party's is broken."""
    known = paths()
    if name not in known:
        raise unknown("benchmark", name, known, place=place)
    return load_path(name, known[name])


def load_path(name: str, path: str) -> type[Benchmark[Any]]:
    """The benchmark `name` at "module" or "module:Class". Raises ConfigError when it isn't there."""
    from flowgauge.benchmarks.base import Benchmark

    module_name, _, attribute = path.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise ConfigError(f"benchmark {name}: {module_name} can't be imported: {error}") from error
    candidates = [getattr(module, attribute, None)] if attribute else list(vars(module).values())
    for found in candidates:
        if isinstance(found, type) and issubclass(found, Benchmark) and getattr(found, "name", None) == name:
            return found
    raise ConfigError(f"benchmark {name}: {path} holds no Benchmark class with that name")


def _entry_points() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=GROUP))
