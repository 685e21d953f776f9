"""`ovs:kernel`: Open vSwitch with its datapath in the kernel, in the DUT's network namespace.

The module must be loaded already: loading it is the administrator's affair. Asking the kernel for the datapath by its name would load
it, so we only look.
"""

from __future__ import annotations

import platform
from pathlib import Path

from flowgauge.duts.ovs.datapath import Datapath
from flowgauge.errors import MissingToolError

MODULE = "openvswitch"


class Kernel(Datapath):
    """The kernel's datapath."""

    name = "ovs:kernel"
    type = "system"

    def check_host(self) -> None:
        """Raises MissingToolError when the module is not loaded, too."""
        super().check_host()
        check_module()

    def switch_options(self) -> list[str]:
        """The kernel's datapath is wanted."""
        return ["--disable-system-route"]


def check_module(sys: Path = Path("/sys/module"), modules: Path = Path("/lib/modules")) -> None:
    """Raises MissingToolError when the kernel's datapath is not there; says whether it can be loaded. Only looks."""
    if (sys / MODULE).is_dir():
        return
    release = platform.release()
    folder = modules / release
    if _names(folder / "modules.builtin"):
        return
    if _names(folder / "modules.dep"):
        raise MissingToolError(
            f"the kernel module {MODULE} is not loaded", advice=f"modprobe {MODULE} (as root)"
        )
    raise MissingToolError(
        f"the kernel {release} has no module {MODULE}",
        advice="use a kernel with CONFIG_OPENVSWITCH, or `--dut ovs`, which needs no module",
    )


def _names(listing: Path) -> bool:
    try:
        lines = listing.read_text(errors="replace").splitlines()
    except OSError:
        return False
    return any(Path(line.partition(":")[0]).name.partition(".")[0] == MODULE for line in lines)
