"""What the file of an external switch says about other controllers: which, and how they know the switch."""

from __future__ import annotations

from flowgauge import controllers
from flowgauge.duts.interface import ControlWiring
from flowgauge.duts.keys import Keys
from flowgauge.errors import UsageError

OTHERS = ("ovs_ofctl", "datapath_id")
"""Keys of `[control]` that other controllers need."""


def read_controller(keys: Keys) -> str:
    """How entries reach the switch. Raises ConfigError."""
    allowed = ", ".join(controllers.CONTROLLERS)
    name = keys.value(("controller",), str, allowed, default=controllers.BUILTIN)
    try:
        controllers.create(name)
    except UsageError as error:
        raise keys.file.error(("controller",), error.message, allowed=allowed) from error
    return name


def read_ofctl(keys: Keys, control: ControlWiring | None) -> str | None:
    """Where ovs-ofctl reaches the switch: as the file says, else where we would connect to it; None when neither is known."""
    allowed = (
        'what ovs-ofctl calls the switch, such as "tcp:10.0.0.1:6653" or "unix:/run/openvswitch/br0.mgmt"'
    )
    target = keys.value(("control", "ovs_ofctl"), str, allowed, default="")
    if target or control is None or control.mode != "connect" or control.tls is not None:
        return target or None
    host = f"[{control.host}]" if ":" in control.host else control.host
    return f"tcp:{host}:{control.port}"


def read_datapath_id(keys: Keys) -> int | None:
    """The switch's number in another controller; None: the only one that is connected there."""
    where = ("control", "datapath_id")
    allowed = 'a number as text, such as "0x1" or "0000000000000001"'
    text = keys.value(where, str, allowed, default="")
    try:
        return int(text, 16) if text else None
    except ValueError:
        raise keys.wrong(where, text, allowed) from None
