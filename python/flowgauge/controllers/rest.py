"""`rest:URL`: entries through a controller of somebody else's with the REST interface of os-ken's `ofctl_rest`.

`rest:http://127.0.0.1:8080` takes the controller's OpenFlow listener to be at the same host, port 6653; another one is given by
`rest:URL,openflow=HOST:PORT`. `datapath_id=0x1` says which of the connected switches is meant, for DUTs that don't say it themselves.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from flowgauge.controllers.interface import Guard
from flowgauge.controllers.rest_api import Api
from flowgauge.controllers.rest_control import RestControl
from flowgauge.duts.interface import Leads, Wiring
from flowgauge.errors import UnknownSwitchError, UsageError

OPENFLOW_PORT = 6653
CONNECT_S = 15.0
"""How long the switch may take to connect to its controller."""
POLL_S = 0.1
OPTIONS = "openflow=HOST:PORT, datapath_id=NUMBER"


class Rest:
    """The controller `rest:URL`."""

    def __init__(self, text: str) -> None:
        """`text` as behind `rest:`. Raises UsageError."""
        url, *options = text.split(",")
        self._api = Api(url)
        self.name = f"rest:{self._api.url}"
        self._listener = (self._api.host, OPENFLOW_PORT)
        self._wanted: int | None = None
        for option in options:
            key, _, value = option.partition("=")
            try:
                self._option(key, value)
            except ValueError:
                raise UsageError(f"rest: {option!r} is no option; allowed: {OPTIONS}") from None

    def _option(self, key: str, value: str) -> None:
        if key == "openflow":
            host, _, port = value.rpartition(":")
            self._listener = (host.removeprefix("[").removesuffix("]"), int(port))
            if not host or not 0 < int(port) < 65536:
                raise ValueError(value)
        elif key == "datapath_id":
            self._wanted = int(value, 0)
        else:
            raise ValueError(key)

    @property
    def leads(self) -> Leads:
        """To the controller's OpenFlow listener."""
        return Leads("other", *self._listener)

    def check(self) -> None:
        """Raises ControllerUnreachableError, or ControllerError when it has another interface."""
        self._api.switches()

    def control(self, wiring: Wiring, version: str, guard: Guard) -> RestControl:
        """Waits until the switch has connected. Raises UnknownSwitchError when it doesn't in time."""
        wanted = self._wanted if self._wanted is not None else wiring.datapath_id
        deadline = time.monotonic() + CONNECT_S
        while True:
            guard(False)
            connected = self._api.switches()
            if (wanted is None and connected) or wanted in connected:
                break
            if time.monotonic() > deadline:
                raise self._not_connected(wanted, connected)
            time.sleep(POLL_S)
        if wanted is None and len(connected) > 1:
            raise UsageError(
                f"several switches are connected to the controller: {_ids(connected)}",
                advice="Say which is meant: --controller rest:URL,datapath_id=NUMBER.",
            )
        self._wanted = connected[0] if wanted is None else wanted
        return RestControl(self._api, self._wanted, version, guard, self.name)

    def describe(self) -> Mapping[str, Any]:
        """Its URL, and where its OpenFlow listener was taken to be."""
        host, port = self._listener
        return {"name": "rest", "url": self._api.url, "openflow": f"tcp:{host}:{port}"}

    def _not_connected(self, wanted: int | None, connected: list[int]) -> UnknownSwitchError:
        which = "no switch" if wanted is None else f"switch {wanted:#018x} not"
        others = f" (connected: {_ids(connected)})" if connected else ""
        host, port = self._listener
        return UnknownSwitchError(
            f"{which} connected to the controller at {self._api.url} within {CONNECT_S:g} s{others}",
            advice=f"check that the controller listens for OpenFlow at {host}:{port}; another address: rest:URL,openflow=HOST:PORT",
        )


def _ids(switches: list[int]) -> str:
    return ", ".join(f"{s:#018x}" for s in switches)
