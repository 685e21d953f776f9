"""What `flowgauge switch` does: reads its options, opens the interfaces, and tells what happens until it is stopped."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from flowgauge import _core
from flowgauge.errors import UsageError

VERSIONS = ("1.0", "1.3", "1.4", "1.5")
MAX_PORT = 0xFEFF
LOOK_EVERY_S = 0.05
RING_MIB = 8
"""Receive ring of each port: small, since many switches may run on one host."""

Tls = tuple[Path | None, Path | None, Path | None]


@dataclass(frozen=True)
class Wanted:
    """The command line as it was given."""

    ports: Sequence[str]
    controllers: Sequence[str]
    versions: str
    datapath_id: str | None
    standalone: bool
    tables: int
    entries: int
    buffers: int
    probe_s: float | None
    queues: Sequence[str]
    tls: Tls


def run(wanted: Wanted) -> None:
    """Run a switch until SIGINT or SIGTERM. Raises what keeps it from starting."""
    stop = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    numbered = read_ports(wanted.ports)
    versions = read_versions(wanted.versions)
    queues = [read_queue(text) for text in wanted.queues]
    tls = read_tls(wanted.tls, wanted.controllers)
    datapath_id = read_datapath_id(wanted.datapath_id, numbered[0][1])
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    ports = [_core.open_af_packet(name, ring_mib=RING_MIB) for _, name in numbered]
    options = _core.SwitchOptions(
        numbers=[number for number, _ in numbered],
        names=[name for _, name in numbered],
        controllers=list(wanted.controllers),
        standalone=wanted.standalone,
        tables=wanted.tables,
        entries=wanted.entries,
        buffers=wanted.buffers,
        probe_s=wanted.probe_s,
        queues=queues,
        tls=tls,
        description=f"flowgauge switch of {len(numbered)} ports",
        patient=True,
    )
    switch = _core.Switch(ports, versions=versions, datapath_id=datapath_id, options=options)
    try:
        told = ", ".join(f"port {number} is {name}" for number, name in numbered)
        say(f"switch {datapath_id:016x}: {told}")
        for address in switch.controls:
            say(f"{'listening' if address.startswith('p') else 'connecting'}: {address}")
        while switch.alive() and not stop.wait(LOOK_EVERY_S):
            for event in switch.events():
                say(event)
    finally:
        switch.stop()
    say("stopped")


def say(line: str) -> None:
    """Print a line now."""
    print(line, flush=True)


def read_ports(texts: Sequence[str]) -> list[tuple[int, str]]:
    """OpenFlow numbers and interfaces, in order; numbers that aren't given are the lowest free ones.

    >>> read_ports(["eth1", "eth2=7", "eth3"])
    [(1, 'eth1'), (7, 'eth2'), (2, 'eth3')]
    """
    given: list[tuple[int | None, str]] = []
    for text in texts:
        name, equals, number = text.partition("=")
        if not name or (equals and not (number.isdecimal() and 1 <= int(number) <= MAX_PORT)):
            raise UsageError(
                f"--port {text}: expected IFACE or IFACE=NUMBER with a number of 1 to {MAX_PORT}"
            )
        given.append((int(number) if equals else None, name))
    taken = [number for number, _ in given if number is not None]
    counted = Counter[int | str]([*taken, *(name for _, name in given)])
    for value in (value for value, count in counted.items() if count > 1):
        raise UsageError(f"--port: {value} is given twice")
    free = (number for number in range(1, MAX_PORT + 1) if number not in taken)
    return [(next(free) if number is None else number, name) for number, name in given]


def read_versions(text: str) -> list[str]:
    """The versions of a list with commas.

    >>> read_versions("1.0,1.3")
    ['1.0', '1.3']
    """
    versions = text.split(",")
    for version in versions:
        if version not in VERSIONS:
            raise UsageError(
                f"--openflow: {version!r} is no OpenFlow version; allowed: {', '.join(VERSIONS)}"
            )
    return versions


def read_datapath_id(text: str | None, interface: str) -> int:
    """The datapath id in hexadecimal, or the interface's Ethernet address.

    >>> read_datapath_id("00:00:00:00:00:00:00:2a", "lo")
    42
    """
    if text is None:
        path = Path("/sys/class/net") / interface / "address"
        text = path.read_text().strip() if path.exists() else "1"
    try:
        value = int(text.replace(":", ""), 16)
    except ValueError:
        value = -1
    if not 0 <= value < 1 << 64:
        raise UsageError(f"--datapath-id {text}: expected up to 16 hexadecimal digits")
    return value


def read_queue(text: str) -> tuple[int, int, int | None, int]:
    """Number, guaranteed rate, highest rate (both in kb/s) and priority of a queue.

    >>> read_queue("1,min=1000,max=5000,priority=7")
    (1, 1000, 5000, 7)
    """
    number, *rest = text.split(",")
    settings = {key: value for key, _, value in (item.partition("=") for item in rest)}
    allowed = {"min", "max", "priority"}
    if not all(part.isdecimal() for part in (number, *settings.values())) or not settings.keys() <= allowed:
        raise UsageError(f"--queue {text}: expected NUMBER[,min=KBPS][,max=KBPS][,priority=N]")
    highest = int(settings["max"]) if "max" in settings else None
    return int(number), int(settings.get("min", 0)), highest, int(settings.get("priority", 0))


def read_tls(files: Tls, controllers: Sequence[str]) -> tuple[Path, Path, Path] | None:
    """The files for TLS: all three, or none."""
    key, certificate, ca = files
    if key is not None and certificate is not None and ca is not None:
        return key, certificate, ca
    wants = next((c for c in controllers if c.startswith(("ssl:", "pssl:"))), None)
    if wants is not None or any(files):
        because = f"--controller {wants}" if wants else "TLS"
        raise UsageError(f"{because} needs --private-key, --certificate and --ca-cert")
    return None
