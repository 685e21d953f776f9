"""The testbed as a whole: ports, control path, clock, and the tester's own limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from flowgauge.testbed.interface.control import Control
from flowgauge.testbed.interface.traffic import Nanoseconds, Stream, Transmission


class Clock(Protocol):
    """The testbed's clock. Virtual time moves only while the benchmark waits."""

    def now(self) -> Nanoseconds:
        """Nanoseconds since an arbitrary epoch."""

    def sleep(self, seconds: float) -> None:
        """Let that time pass."""


@dataclass(frozen=True)
class Loopback:
    """What the tester itself can do on this backend, looped back without a DUT (cached per host and backend).

    `max_pps`: frames per second by frame size in bytes, without loss; `delay_ns`: median of its own delay; `spread_ns`:
    half-width of its 5..95 % range. Reported delays include `delay_ns`; `delay_ns + spread_ns` is their stated error.
    """

    backend: str
    max_pps: Mapping[int, float]
    delay_ns: float
    spread_ns: float
    measured_at: str
    echo_ns: float | None = None
    """Median round trip of the tester's own control channel over loopback."""


@dataclass(frozen=True)
class Port:
    """A tester port, cabled to a DUT port. `max_rate_mbps` is its link speed; None: it has none (veth, ring). `timestamps`: where its
    frames are stamped.
    """

    index: int
    of_port: int
    backend: str
    name: str
    max_rate_mbps: float | None = None
    mac: str = "02:00:00:00:00:01"
    timestamps: str = ""


@dataclass(frozen=True)
class OpenOptions:
    """What `flowgauge.testbed.open_testbed(dut, options)` is told besides the DUT.

    `openflow`: the version to speak ("1.0", "1.3"), None: the driver's best. `seed`: for whatever the testbed chooses at random.
    `controller`: how entries reach the switch (`flowgauge.controllers`), None: as the DUT's file says, else by our own channel.
    """

    openflow: str | None = None
    seed: int = 1
    controller: str | None = None


class Testbed(Protocol):
    """Everything a benchmark may use."""

    @property
    def ports(self) -> Sequence[Port]:
        """The tester's ports, in the order of the wiring."""

    @property
    def control(self) -> Control:
        """The control path."""

    @property
    def clock(self) -> Clock:
        """The clock."""

    @property
    def loopback(self) -> Loopback | None:
        """The tester's own limits, None when they could not be measured."""

    def transmit(
        self, *streams: Stream, drain_s: float | None = None, burst: int | None = None
    ) -> Transmission:
        """Start the streams together. `drain_s` None: 1 s or 10x the largest delay, at most 5 s.

        `burst`: the most frames that leave a port together, all stamped with one time, None: 128. With 1 each has its own, at a lower
        highest rate. Frames that have a pace and are in time leave one by one anyhow. Nothing changes on a simulated testbed.
        """
