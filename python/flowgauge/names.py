"""Names that a user types: what to say when one is unknown."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from flowgauge.errors import UnknownNameError


def closest_first(name: str, known: Iterable[str]) -> list[str]:
    """All known names, those like `name` first, the others in alphabetical order.

    >>> closest_first("paket_in", ["flow_add", "echo", "packet_in"])
    ['packet_in', 'echo', 'flow_add']
    """
    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    return near + [n for n in names if n not in near]


def unknown(what: str, name: str, known: Iterable[str], *, place: str = "") -> UnknownNameError:
    """The error for an unknown `what` ("suite", "benchmark", ...) at `place` ("alien.toml, line 3").

    >>> print(unknown("benchmark", "paket_in", ["packet_in", "flow_add"]))
    no benchmark is called "paket_in"; there are: packet_in, flow_add
    """
    names = closest_first(name, known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    listed = f"there are: {', '.join(names)}" if names else "there is none"
    where = f"{place}: " if place else ""
    return UnknownNameError(
        f'{where}no {what} is called "{name}"; {listed}',
        advice=f'Did you mean "{near[0]}"?' if near else None,
    )
