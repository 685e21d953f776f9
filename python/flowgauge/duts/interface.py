"""What a driver is: it starts, wires, resets, describes and stops a DUT, and knows no benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class PortWiring:
    """How to open one tester port.

    `backend`: "ring" (then `handle` is the in-process port), "af_packet", "af_xdp", or "dpdk" (then `interface` is a device in DPDK's
    words: "net_virtio_user0,path=/run/s,server=1", "0000:03:00.0"). `netns`: name of the network namespace that holds `interface`, None for
    our own. `max_rate_mbps` None: the link has no speed of its own. `options`: further arguments of `_core.open_<backend>`.
    `queues`: so many, each of which another core may serve; None: as the backend does by itself, one core for all that there are.
    """

    of_port: int
    backend: str
    interface: str = ""
    netns: str | None = None
    max_rate_mbps: float | None = None
    handle: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)
    queues: int | None = None


@dataclass(frozen=True)
class TlsFiles:
    """Our side of TLS, as PEM files: private key, certificate, and the certificates of the authorities that sign the switch's."""

    private_key: str
    certificate: str
    ca: str


@dataclass(frozen=True)
class ControlWiring:
    """How the OpenFlow channel comes about.

    `mode` "listen": the switch connects to us; "connect": we connect to the switch (`ptcp:`). `listener`: a bound socket when the
    driver already listens. `versions` that the driver can offer, best first. `tls` None: plain TCP.
    """

    mode: str
    host: str
    port: int
    netns: str | None = None
    versions: tuple[str, ...] = ("1.3", "1.0")
    handle: Any = None
    tls: TlsFiles | None = None


@dataclass(frozen=True)
class Leads:
    """Whereto the switch's OpenFlow channel shall lead.

    `to` "us": to the tester, as `ControlWiring` says; "nobody": no controller connects, another program talks to the switch by
    itself; "other": the switch connects to somebody else's controller at `host`:`port` (TCP).
    """

    to: str = "us"
    host: str = ""
    port: int = 0


TO_US = Leads()
TO_NOBODY = Leads("nobody")


@dataclass(frozen=True)
class Wiring:
    """Everything needed to open a testbed on a started DUT; `control` None: it has no OpenFlow.

    `ofctl`: where ovs-ofctl reaches the switch ("unix:/run/br0.mgmt", "tcp:10.0.0.1:6653"), None when it can't. `datapath_id`: the
    number by which other controllers know the switch, None when the driver does not know it.
    """

    ports: tuple[PortWiring, ...]
    control: ControlWiring | None
    ofctl: str | None = None
    datapath_id: int | None = None


class Driver(Protocol):
    """A DUT driver. Starting one never touches the machine's own Open vSwitch, interfaces or firewall."""

    name: str

    def start(self, version: str, leads: Leads = TO_US) -> Wiring:
        """Start and wire the DUT for that OpenFlow version. Raises SetupError and its kinds."""

    def reset(self) -> None:
        """Bring the DUT back to its state after `start`, entries removed; called between benchmarks."""

    def settle(self) -> None:
        """Until frames are handled, and counted, by the entries that are installed: switches may cache decisions beyond a barrier."""

    def describe(self) -> Mapping[str, Any]:
        """Kind, version of the switch software, its configuration and wiring, for the record."""

    def alive(self) -> bool:
        """Whether the DUT still runs (external switches: always True)."""

    def stop(self) -> None:
        """Remove everything that `start` made. May be called twice, and after a crash."""
