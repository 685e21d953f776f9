"""Programs of the host that drivers call: found, run, and their failures made into errors of the catalogue."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence

from flowgauge.errors import MissingToolError, PermissionNeededError, SetupError

PACKAGES = {
    "ip": "iproute2",
    "ethtool": "ethtool",
    "taskset": "util-linux",
    "tcpdump": "tcpdump",
    "ovsdb-tool": "openvswitch-switch",
    "ovsdb-server": "openvswitch-switch",
    "ovs-vswitchd": "openvswitch-switch",
    "ovs-vsctl": "openvswitch-switch",
    "ovs-ofctl": "openvswitch-switch",
    "ovs-appctl": "openvswitch-switch",
    "ovs-pki": "openvswitch-common",
}
"""Program -> Debian package that holds it."""

_SYSTEM_PATHS = ("/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin")


def find_tool(name: str) -> str | None:
    """Full path of a program, also when `sbin` is not on the user's PATH; None when it is not installed."""
    path = os.pathsep.join((os.environ.get("PATH", ""), *_SYSTEM_PATHS))
    return shutil.which(name, path=path)


def need_tool(name: str) -> str:
    """Full path of a program. Raises MissingToolError with the command that installs it."""
    if found := find_tool(name):
        return found
    package = PACKAGES.get(name, name)
    raise MissingToolError(f"{name} is not installed", advice=f"apt-get install {package}")


def need_root(what: str) -> None:
    """Raises PermissionNeededError unless this process may do `what` (an activity: "starting Open vSwitch")."""
    if os.geteuid() != 0:
        raise PermissionNeededError(
            f"{what} needs root: it makes network namespaces and raw sockets",
            advice="run the same command with sudo, or use `--dut embedded`, which needs no privilege",
        )


def call(argv: Sequence[str], *, timeout_s: float = 30, env: dict[str, str] | None = None) -> str:
    """Run a program to its end and return its standard output.

    Raises SetupError with the command and what it said when it fails or takes longer than `timeout_s`.
    """
    command = " ".join(argv)
    try:
        done = subprocess.run(
            [need_tool(argv[0]), *argv[1:]],
            capture_output=True,
            text=True,
            timeout=timeout_s,
            env=None if env is None else {**os.environ, **env},
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as error:
        raise SetupError(f"`{command}` did not end within {timeout_s:g} s") from error
    except OSError as error:
        raise SetupError(f"`{command}` could not be started: {error.strerror}") from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip() or "nothing"
        raise SetupError(f"`{command}` failed with status {done.returncode}, saying: {said}")
    return done.stdout
