"""`embedded`: our software switch in this process, on ring ports. No root, no set-up, nothing to clean.

`embedded:delay=100us,loss=1000` puts a delay line and a known loss (one frame in 1000) between the switch and each tester
port, so that what is reported can be checked against what is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flowgauge import _core
from flowgauge.duts.cores import core_plan, on_cores
from flowgauge.duts.interface import TO_US, ControlWiring, Leads, PortWiring, Wiring
from flowgauge.duts.options import PORTS, Option, parse, whole
from flowgauge.duts.relay import Relay
from flowgauge.errors import ConfigError, SetupError
from flowgauge.flows import Schedule
from flowgauge.units import duration_ns

VERSIONS = ("1.3", "1.0", "1.4", "1.5")
"""The default first."""
RESET_S = 5.0
DATAPATH_ID = 0x00FA_CADE_0000_0001
QUEUES = ((1, 0, None, 0), (2, 0, None, 1))
"""Queues of every port: number, guaranteed and highest rate in kb/s, priority."""
OPTIONS = {
    "ports": PORTS,
    "slots": Option(whole(64, 65536), 4096, "64..65536 frames that a ring holds"),
    "delay": Option(duration_ns, 0, "a duration such as 100us or 1ms"),
    "loss": Option(whole(2, 10**9), None, "N: one received frame in N (2..1000000000) is lost"),
}


class Embedded:
    """The driver `embedded`."""

    name = "embedded"

    def __init__(self, options: str = "") -> None:
        """`options` as on the command line. Raises ConfigError. Nothing is started."""
        self._options = parse(self.name, options, OPTIONS)
        self._switch: _core.Switch | None = None
        self._version = VERSIONS[0]
        self._relay: Relay | None = None

    def start(self, version: str, leads: Leads = TO_US) -> Wiring:
        """Start the switch; it listens on a free port of the loopback, and is joined to another controller by a relay."""
        if version not in VERSIONS:
            raise ConfigError(f"embedded: OpenFlow {version} is not offered; allowed: {', '.join(VERSIONS)}")
        self._version = version
        ours, theirs = [], []
        for _ in range(self._options["ports"]):
            tester, switch = _core.ring_pair(self._options["slots"])
            ours.append(self._impaired(tester))
            theirs.append(switch)
        with on_cores(core_plan().dut):
            self._switch = _core.Switch(
                theirs, versions=[version], datapath_id=DATAPATH_ID, options=_options(len(theirs))
            )
        host, port = self._switch.address
        if leads.to == "other":
            self._relay = Relay.connecting((host, port), (leads.host, leads.port))
        ports = tuple(PortWiring(n, "ring", f"ring{n}", handle=p) for n, p in enumerate(ours, 1))
        control = ControlWiring("connect", host, port, versions=(version,))
        return Wiring(ports, control, ofctl=f"tcp:{host}:{port}", datapath_id=DATAPATH_ID)

    def reset(self) -> None:
        """Remove all entries, over a control connection of our own."""
        if self._switch is None:
            return
        host, port = self._switch.address
        channel = _core.Channel("connect", host, port, netns=None, versions=[self._version], spin_us=0)
        try:
            connection = channel.wait_connected(RESET_S)
            play = connection.flow_mods([_core.FlowMods("delete", "")], Schedule.max())
            if not play.wait(RESET_S):
                raise SetupError("the embedded switch did not answer a reset")
        finally:
            channel.close()

    def settle(self) -> None:
        """It caches nothing."""

    def describe(self) -> Mapping[str, Any]:
        """Kind, version, ports, and the known delay and loss."""
        return {
            "kind": "Flowgauge software switch",
            "driver": self.name,
            "version": _core.__version__,
            "ports": [
                {"of_port": n + 1, "wire": "ring", "slots": self._options["slots"]}
                for n in range(self._options["ports"])
            ],
            "known_delay_ns": self._options["delay"],
            "known_loss_one_in": self._options["loss"],
            "cores": list(core_plan().dut),
        }

    def alive(self) -> bool:
        """Whether the switch's thread runs."""
        return self._switch is not None and self._switch.alive()

    def stop(self) -> None:
        """Stop the switch."""
        relay, self._relay = self._relay, None
        if relay is not None:
            relay.close()
        switch, self._switch = self._switch, None
        if switch is not None:
            switch.stop()

    def _impaired(self, port: _core.Port) -> _core.Port:
        delay_ns, loss = self._options["delay"], self._options["loss"]
        return port if not delay_ns and loss is None else _core.impaired(port, delay_ns, loss)


def _options(ports: int) -> _core.SwitchOptions:
    numbers = range(1, ports + 1)
    return _core.SwitchOptions(
        numbers=list(numbers),
        names=[f"port{number}" for number in numbers],
        controllers=["ptcp:0:127.0.0.1"],
        standalone=False,
        tables=255,
        entries=1_000_000,
        buffers=256,
        probe_s=None,
        queues=QUEUES,
        tls=None,
        description="embedded device under test",
        patient=False,
    )
