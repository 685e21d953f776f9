"""What a benchmark sees: ports, traffic, control and clock. Live and simulated testbeds implement the same protocols.

No packet and no message is handled one by one in Python: `transmit` and `play` run in Rust, and results come back as arrays that
own their memory. All times are nanoseconds on the testbed's one clock.
"""

from __future__ import annotations

from flowgauge.testbed.interface.control import (
    ECHO,
    ENTRIES,
    PACKET_IN,
    PACKET_OUT,
    REQUEST,
    Control,
    Entry,
    Play,
    PlayResult,
)
from flowgauge.testbed.interface.features import (
    Arrival,
    FeatureTestbed,
)
from flowgauge.testbed.interface.testbed import (
    Clock,
    Loopback,
    OpenOptions,
    Port,
    Testbed,
)
from flowgauge.testbed.interface.traffic import (
    CONTROL,
    Latency,
    Nanoseconds,
    Progress,
    Reception,
    Stream,
    TesterState,
    Transmission,
    late_limit_ns,
)

__all__ = [
    "CONTROL",
    "ECHO",
    "ENTRIES",
    "PACKET_IN",
    "PACKET_OUT",
    "REQUEST",
    "Arrival",
    "Clock",
    "Control",
    "Entry",
    "FeatureTestbed",
    "Latency",
    "Loopback",
    "Nanoseconds",
    "OpenOptions",
    "Play",
    "PlayResult",
    "Port",
    "Progress",
    "Reception",
    "Stream",
    "Testbed",
    "TesterState",
    "Transmission",
    "late_limit_ns",
]
