"""`sim:MODEL`: a simulated device, in virtual time. No root, no process, nothing to clean.

`sim:netfpga` is a model that comes with Flowgauge, `sim:FILE.toml` one of yours; `sim:netfpga,ports=8` has eight ports.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flowgauge import _core
from flowgauge.duts.interface import TO_US, Leads, PortWiring, Wiring
from flowgauge.duts.options import PORTS, parse
from flowgauge.errors import ConfigError, UsageError

NAME = "sim"
VERSIONS = ("1.3", "1.0", "1.4", "1.5")
"""The default first."""
BACKEND = "simulated"
OPTIONS = {"ports": PORTS}


def is_simulated(dut: str) -> bool:
    """Whether a DUT, as the command line names it, is a simulated one.

    >>> is_simulated("sim:netfpga"), is_simulated("embedded")
    (True, False)
    """
    return dut == NAME or dut.startswith(f"{NAME}:")


class Simulated:
    """The driver `sim`."""

    name = NAME

    def __init__(self, dut: str) -> None:
        """`dut` as on the command line. Raises UnknownNameError or ConfigError. Nothing is started."""
        from flowgauge import models

        chosen, _, options = dut.partition(":")[2].partition(",")
        if not chosen:
            known = ", ".join(f"{NAME}:{name}" for name in models.names())
            raise UsageError(f"{dut} names no device model; there are: {known}, {NAME}:FILE.toml")
        self.model = models.load(chosen)
        self.ports: int = parse(f"{NAME}:{chosen}", options, OPTIONS)["ports"]
        self.versions = VERSIONS
        self._parameters = models.whole(self.model)
        self._simulation: _core.Simulation | None = None
        self._connection: _core.Connection | None = None

    def start(self, version: str, leads: Leads = TO_US) -> Wiring:
        """Wire the switch; it exists once the testbed simulates it."""
        if version not in VERSIONS:
            raise ConfigError(
                f"{self.name}: OpenFlow {version} is not offered; allowed: {', '.join(VERSIONS)}"
            )
        if leads.to != TO_US.to:
            raise UsageError(
                f"{self.name} is in virtual time, and answers to the built-in controller alone",
                advice="leave --controller out",
            )
        rate = self._rate_mbps()
        numbers = range(1, self.ports + 1)
        return Wiring(tuple(PortWiring(n, BACKEND, f"sim{n}", max_rate_mbps=rate) for n in numbers), None)

    def simulate(self, seed: int, version: str) -> tuple[_core.Simulation, _core.Connection]:
        """A switch of the model that was just switched on, and the channel to it."""
        self._simulation = _core.Simulation(self.model.json(), self.ports, seed)
        self._connection = self._simulation.connection(version)
        return self._simulation, self._connection

    def reset(self) -> None:
        """Remove all entries."""
        if self._connection is not None and self._connection.ended() is None:
            self._connection.apply([_delete_all(self._connection.version)], 60.0)

    def settle(self) -> None:
        """It caches nothing beyond what its model says: a barrier tells."""

    def describe(self) -> Mapping[str, Any]:
        """The model: its title, every parameter that it sets, and where each is from."""
        rate = self._rate_mbps()
        speed = {} if rate is None else {"max_rate_mbps": rate}
        return {
            "kind": "simulated device",
            "driver": self.name,
            "version": _core.__version__,
            "model": self.model.name,
            "title": self.model.title,
            "parameters": self.model.parameters(),
            "sources": {key: str(source) for key, source in self.model.sources.items()},
            "ports": [{"of_port": n + 1, "wire": BACKEND, **speed} for n in range(self.ports)],
        }

    def _rate_mbps(self) -> float | None:
        """Speed of the links, None when they have none of their own."""
        return self._parameters["link.rate_mbps"] or None

    def alive(self) -> bool:
        """Always."""
        return True

    def stop(self) -> None:
        """Forget the switch."""
        self._simulation = self._connection = None


def _delete_all(version: str) -> bytes:
    """A FLOW_MOD that empties all tables."""
    import json

    message = {"flow_mod": {"command": "delete"}}
    return bytes(_core.encode_message(json.dumps(message), version))
