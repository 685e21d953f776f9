"""The `[control]` table of an external switch: who connects to whom, and with which keys."""

from __future__ import annotations

from pathlib import Path

from flowgauge.duts.interface import ControlWiring, TlsFiles
from flowgauge.duts.keys import Keys
from flowgauge.duts.through import OTHERS

DEFAULT_PORT = 6653
"""IANA's port of OpenFlow."""
FILES = ("private_key", "certificate", "ca")
_PEM = "the path of a PEM file, relative to this one"
_HOW = {
    "listen": 'address and port, such as "0.0.0.0:6653", "[::1]:6653", "ptcp:6653", with TLS "pssl:6653:10.0.0.1"',
    "connect": 'address and port, such as "10.0.0.1:6653", "[::1]:6653", with TLS "ssl:10.0.0.1:6653"',
}


def read_control(keys: Keys, *, optional: bool = False) -> ControlWiring | None:
    """How to reach the switch; None when the file does not say it and it is `optional`. Raises ConfigError."""
    where = ("control",)
    keys.only(where, (*_HOW, *FILES, *OTHERS))
    control = keys.value(
        where,
        dict,
        'a table: [control] with listen = "0.0.0.0:6653" or connect = "10.0.0.1:6653"',
        default={} if optional else None,
    )
    modes = [mode for mode in _HOW if mode in control]
    if optional and not modes:
        return None
    if len(modes) != 1:
        raise keys.file.error(where, f"{len(modes)} ways to connect", allowed="one of listen, connect")
    mode = modes[0]
    try:
        secure, host, port = _address(mode, control[mode])
    except ValueError:
        raise keys.wrong((*where, mode), control[mode], _HOW[mode]) from None
    files = _files(keys, mode, secure=secure)
    return ControlWiring(mode, host, port, tls=files)


def _files(keys: Keys, mode: str, *, secure: bool) -> TlsFiles | None:
    given = [name for name in FILES if name in keys.file.data["control"]]
    if not secure:
        if given:
            tls = "pssl:6653" if mode == "listen" else "ssl:10.0.0.1:6653"
            found = f"{given[0]} is given, but {mode} is without TLS"
            raise keys.file.error(("control", given[0]), found, allowed=f'it goes with {mode} = "{tls}"')
        return None
    return TlsFiles(*(_file(keys, name) for name in FILES))


def _file(keys: Keys, name: str) -> str:
    where = ("control", name)
    path = keys.file.path.parent / Path(keys.value(where, str, _PEM)).expanduser()
    try:
        path.read_bytes()
    except OSError as error:
        raise keys.file.error(where, f"{name} {path}: {error.strerror}", allowed=_PEM) from error
    return str(path)


def _address(mode: str, text: object) -> tuple[bool, str, int]:
    """Whether with TLS, host and port; `host:port` with an IPv6 host in brackets, or as Open vSwitch writes it. Raises ValueError."""
    if not isinstance(text, str):
        raise ValueError(text)
    kind, _, rest = text.partition(":")
    if kind in ("ptcp", "pssl") and mode == "listen":
        digits, _, host = rest.partition(":")
        return kind == "pssl", _bare(host) or "0.0.0.0", _port(digits or str(DEFAULT_PORT))
    if kind in ("tcp", "ssl", "ptcp", "pssl"):
        if mode == "listen" or kind in ("ptcp", "pssl"):
            raise ValueError(text)
        text = f"{rest}:{DEFAULT_PORT}" if rest.endswith("]") or ":" not in rest else rest
    host, _, digits = text.rpartition(":")
    if not _bare(host):
        raise ValueError(text)
    return kind == "ssl", _bare(host), _port(digits)


def _bare(host: str) -> str:
    return host.removeprefix("[").removesuffix("]")


def _port(digits: str) -> int:
    port = int(digits)
    if not 0 < port < 65536:
        raise ValueError(digits)
    return port
