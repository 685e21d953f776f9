"""Keys and certificates for TLS between a controller and a switch, made by Open vSwitch's own `ovs-pki`.

There are two authorities: `controllerca` signs controllers' certificates, `switchca` switches'. Each side shows its own certificate and
trusts the other side's authority.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from flowgauge.duts.host import need_tool
from flowgauge.duts.interface import TlsFiles
from flowgauge.errors import SetupError

TOOLS = ("ovs-pki", "openssl")
_MAKE_S = 120.0
"""Keys are searched for at random: seconds, on a busy host more."""


def check_host() -> None:
    """Raises MissingToolError when this host can't make keys."""
    for name in TOOLS:
        need_tool(name)


def make(directory: Path) -> tuple[TlsFiles, TlsFiles]:
    """New authorities, and keys and certificates signed by them, within `directory`: the controller's files and the switch's.

    Raises SetupError.
    """
    authorities = directory / "pki"
    _pki(directory, "init")
    _pki(directory, "req+sign", "ctl", "controller")
    _pki(directory, "req+sign", "sc", "switch")
    switchca, controllerca = (str(authorities / name / "cacert.pem") for name in ("switchca", "controllerca"))
    return _files(directory, "ctl", switchca), _files(directory, "sc", controllerca)


def _files(directory: Path, name: str, ca: str) -> TlsFiles:
    return TlsFiles(str(directory / f"{name}-privkey.pem"), str(directory / f"{name}-cert.pem"), ca)


def _pki(directory: Path, *command: str) -> None:
    log = directory / "ovs-pki.log"
    argv = [need_tool("ovs-pki"), "--batch", f"--dir={directory / 'pki'}", f"--log={log}", *command]
    try:
        done = subprocess.run(
            argv, cwd=directory, capture_output=True, text=True, timeout=_MAKE_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise SetupError(f"`ovs-pki {' '.join(command)}` took longer than {_MAKE_S:g} s") from error
    if done.returncode != 0:
        raise SetupError(
            f"`ovs-pki {' '.join(command)}` failed: {done.stderr.strip() or done.stdout.strip()}"
        )
