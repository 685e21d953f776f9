"""`ovs:afxdp`: Open vSwitch's user-space datapath with AF_XDP sockets on its ends of the veth pairs."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flowgauge.duts.host import need_tool
from flowgauge.duts.lease import Lease
from flowgauge.duts.options import Option, one_of, yes_or_no
from flowgauge.duts.ovs.daemons import Daemons
from flowgauge.duts.ovs.datapath import Datapath
from flowgauge.errors import MissingToolError, SetupError

_MARK = b"netdev_afxdp"
"""The name of a part of Open vSwitch that is there only when it was built with AF_XDP."""


class Afxdp(Datapath):
    """AF_XDP sockets: in a PMD thread of their own, or (`pmd=no`) in the switch's main thread."""

    name = "ovs:afxdp"
    options: Mapping[str, Option] = {
        **Datapath.options,
        "pmd": Option(yes_or_no, True, "yes or no: a thread that polls"),
        "mode": Option(
            one_of("best-effort", "native", "generic"), "best-effort", "best-effort, native or generic"
        ),
    }

    @property
    def polls(self) -> bool:  # type: ignore[override]
        """Whether a PMD thread spins."""
        return bool(self._values["pmd"])

    def check_host(self) -> None:
        """Raises MissingToolError when this Open vSwitch was built without AF_XDP, too."""
        super().check_host()
        check_built()

    def configure(self, lease: Lease, daemons: Daemons) -> None:
        """The core of the PMD thread."""
        if (core := self.plan.dut_pmd) is not None:
            daemons.vsctl(
                "--no-wait", "set", "Open_vSwitch", ".", f"other_config:pmd-cpu-mask={hex(1 << core)}"
            )

    def settings(self, number: int) -> list[str]:
        """One queue, as a veth has."""
        kind = "afxdp" if self.polls else "afxdp-nonpmd"
        return [f"type={kind}", "options:n_rxq=1", f"options:xdp-mode={self._values['mode']}"]

    def describe(self, daemons: Daemons) -> Mapping[str, Any]:
        """The mode that Open vSwitch came to, and the PMD's core."""
        found = re.search(r"xdp-mode-in-use=([\w-]+)", daemons.appctl("dpif/show"))
        return {"xdp_mode": found[1] if found else None, "pmd_core": self.plan.dut_pmd}

    def joined(self, daemons: Daemons, numbers: Sequence[int]) -> None:
        """Raises SetupError when a socket could not be made."""
        for number in numbers:
            error = daemons.vsctl("get", "interface", self.interface(number), "error").strip()
            if error not in ("[]", ""):
                raise SetupError(f"Open vSwitch could not use AF_XDP on {self.interface(number)}: {error}")


def check_built() -> None:
    """Raises MissingToolError when the installed Open vSwitch has no AF_XDP."""
    program = need_tool("ovs-vswitchd")
    if not _built(program):
        raise MissingToolError(
            f"{program} was built without AF_XDP",
            advice="use Debian's openvswitch-switch 3.0 or later, or build Open vSwitch with --enable-afxdp",
        )


@functools.cache
def _built(program: str) -> bool:
    return _MARK in Path(program).read_bytes()
