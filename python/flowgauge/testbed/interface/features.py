"""What feature tests need besides: single frames and messages, one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from flowgauge.testbed.interface.testbed import Testbed
from flowgauge.testbed.interface.traffic import Nanoseconds


@dataclass(frozen=True)
class Arrival:
    """A frame that came to a tester port: position of the port, time, bytes without FCS."""

    port: int
    at_ns: Nanoseconds
    frame: bytes


class FeatureTestbed(Testbed, Protocol):
    """A testbed on which feature tests can be made: single frames and messages, one by one. No rate and no delay counts there."""

    def exchange(
        self, frames: Sequence[tuple[int, bytes]], mark: bytes, enough: int, quiet_s: float, limit_s: float
    ) -> list[Arrival]:
        """Send frames (position of the port, bytes without FCS), and give those that come with `mark` in them, until `enough`
        came and nothing more for `quiet_s`, or `limit_s` is over. What came since the last exchange counts, too.
        """

    def messages(self) -> list[Mapping[str, Any]]:
        """Messages that the switch sent unasked since the last call, as `flowgauge openflow decode` writes them."""

    def settle(self) -> None:
        """Until frames are handled, and counted, by what is installed now: switches cache decisions beyond a barrier."""
