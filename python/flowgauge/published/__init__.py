"""The literature's results, in the schema of a run: `load("alien/netfpga")` reads as any run directory does.

Made from the printed tables by `python -m flowgauge.published.convert`; values are the printed ones, also where they
are wrong, and every defect that is known stands beside the value as a check.
"""

from __future__ import annotations

from pathlib import Path

from flowgauge.errors import UnknownNameError
from flowgauge.report.rundata import Run, load_run

PREFIX = "published:"
_FOLDER = Path(__file__).parent


def names() -> list[str]:
    """All published results as "source/device".

    >>> names()
    ['alien/ezappliance', 'alien/netfpga', 'alien/openvswitch']
    """
    return sorted(str(p.parent.relative_to(_FOLDER)) for p in _FOLDER.glob("*/*/run.json"))


def devices(name: str) -> list[str]:
    """The results that a source ("alien") or a device ("alien/netfpga") names. Raises UnknownNameError.

    >>> devices("published:alien/netfpga")
    ['alien/netfpga']
    """
    name = name.removeprefix(PREFIX).strip("/")
    found = [n for n in names() if n == name or n.startswith(name + "/")] if name else names()
    if not found:
        raise UnknownNameError(
            f"no published result {name!r}", advice="there are: " + ", ".join(PREFIX + n for n in names())
        )
    return found


def load(name: str) -> Run:
    """One published result, "alien/netfpga". Raises UnknownNameError, also when the name covers several devices.

    >>> load("alien/netfpga").figures["packet_in"][0].value
    870.0
    """
    found = devices(name)
    if len(found) != 1:
        raise UnknownNameError(
            f"{name!r} names several devices", advice="choose one of: " + ", ".join(PREFIX + n for n in found)
        )
    return load_run(_FOLDER / found[0], label=PREFIX + found[0])
