"""What a controller is: it decides whereto the switch's channel leads, and makes the control path that benchmarks see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn, Protocol

from flowgauge.duts.interface import Leads, Wiring
from flowgauge.errors import NotOfferedError
from flowgauge.testbed.interface import Control

NONE = "none"
"""In place of a controller's name, for a DUT without OpenFlow."""

Guard = Callable[[bool], None]
"""Raises when the DUT is gone; with True also when its channel to us is."""

WORDS = {
    "packet_in": "the times of PACKET_INs",
    "packet_out": "timed PACKET_OUTs",
    "echo": "timed ECHO_REQUESTs",
    "request": "single OpenFlow messages and their replies",
    "entries": "flow entries",
}
"""Ability -> what it is, for messages."""


class Controller(Protocol):
    """A way for entries to reach the switch. `name` as on the command line."""

    name: str

    @property
    def leads(self) -> Leads:
        """Whereto the driver shall lead the switch's channel."""

    def check(self) -> None:
        """Whether it can be used at all, before anything is started. Raises SetupError, ControllerError and their kinds."""

    def control(self, wiring: Wiring, version: str, guard: Guard) -> Control:
        """The control path of a started DUT. Waits until the switch can be reached; raises ChannelError and its kinds."""

    def describe(self) -> Mapping[str, Any]:
        """What it is and where, for the record."""


def lacking(controller: str, ability: str) -> str:
    """Why something that needs an ability can't be done through a controller."""
    if controller == NONE:
        return f"it needs {WORDS.get(ability, ability)}, and the DUT has no OpenFlow"
    return f"{WORDS.get(ability, ability)} can't be had through the controller {controller}"


def refuse(controller: str, ability: str) -> NoReturn:
    """Raise NotOfferedError for an ability that a controller lacks."""
    advice = (
        "choose a DUT with OpenFlow"
        if controller == NONE
        else "--controller builtin talks to the switch itself."
    )
    raise NotOfferedError(lacking(controller, ability), advice=advice)
