"""How entries reach the switch: by our own channel, by ovs-ofctl, or by a controller of somebody else's with a REST interface.

Benchmarks see `Control` and don't know which is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowgauge.errors import UsageError
from flowgauge.names import unknown

if TYPE_CHECKING:
    from flowgauge.controllers.interface import Controller

BUILTIN = "builtin"
CONTROLLERS = {
    BUILTIN: "our own OpenFlow channel; the only one that times messages",
    "ovs-ofctl": "the program ovs-ofctl, one call per batch",
    "rest:URL": "a controller with the REST interface of os-ken's ofctl_rest, to which the switch connects",
}
"""Name -> what it is."""
EXAMPLE = "rest:http://127.0.0.1:8080"


def create(name: str) -> Controller | None:
    """The controller that `--controller` names; None for our own channel. Nothing is started. Raises UsageError and its kinds."""
    kind, separator, rest = name.partition(":")
    if name == BUILTIN:
        return None
    if name == "ovs-ofctl":
        from flowgauge.controllers.ovs_ofctl import OvsOfctl

        return OvsOfctl()
    if kind == "rest":
        if not separator or not rest:
            raise UsageError("the controller rest needs its URL", advice=f"For instance: {EXAMPLE}")
        from flowgauge.controllers.rest import Rest

        return Rest(rest)
    raise unknown("controller", name, CONTROLLERS)
