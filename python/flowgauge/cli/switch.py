"""`flowgauge switch`: our software switch on its own, between interfaces of this host."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class FailMode(StrEnum):
    """What the switch does without a controller."""

    SECURE = "secure"
    STANDALONE = "standalone"


def command(
    ports: Annotated[
        list[str],
        typer.Option(
            "--port",
            metavar="IFACE[=NUMBER]",
            help="An interface that becomes a port. May be repeated. Numbers count from 1 where none is given.",
        ),
    ],
    controllers: Annotated[
        list[str] | None,
        typer.Option(
            "--controller",
            metavar="ADDRESS",
            help="tcp:HOST[:PORT] or ssl:HOST[:PORT] to connect to, ptcp:[PORT][:IP] or pssl:[PORT][:IP] to wait at. "
            "May be repeated.",
        ),
    ] = None,
    openflow: Annotated[
        str, typer.Option(metavar="VERSIONS", help="OpenFlow versions to offer, with commas between them.")
    ] = "1.0,1.3,1.4,1.5",
    datapath_id: Annotated[
        str | None,
        typer.Option(metavar="HEX", help="Up to 16 digits. Default: the first port's Ethernet address."),
    ] = None,
    fail_mode: Annotated[
        FailMode,
        typer.Option(help="Without a controller: go on by the entries, or forward by learned addresses."),
    ] = FailMode.SECURE,
    tables: Annotated[int, typer.Option(metavar="N", min=1, max=255, help="Number of flow tables.")] = 255,
    entries: Annotated[
        int, typer.Option(metavar="N", min=1, max=16_000_000, help="The most entries in each table.")
    ] = 1_000_000,
    buffers: Annotated[
        int, typer.Option(metavar="N", min=0, max=65_536, help="Packets kept for controllers to decide on.")
    ] = 256,
    probe: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="Ask a controller that is silent for so long for an echo; the third without an answer is the end. "
            "0: never.",
        ),
    ] = 5.0,
    queues: Annotated[
        list[str] | None,
        typer.Option(
            "--queue",
            metavar="NUMBER[,min=KBPS][,max=KBPS][,priority=N]",
            help="A queue of every port: a guaranteed and a highest rate, and which goes first. May be repeated.",
        ),
    ] = None,
    private_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For ssl: and pssl: our private key (PEM).")
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For ssl: and pssl: our certificate (PEM).")
    ] = None,
    ca_cert: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="For ssl: and pssl: who signs controllers' certificates (PEM)."),
    ] = None,
) -> None:
    """Run our software switch between interfaces of this host.

    Needs root (CAP_NET_RAW). Says in one line each what happens: controllers, ports. Ctrl-C or SIGTERM stops it.

    Exit codes: 0 stopped; 2 usage; 3 an interface or address can't be had.
    """
    from flowgauge.cli import switching

    switching.run(
        switching.Wanted(
            ports=ports,
            controllers=controllers or [],
            versions=openflow,
            datapath_id=datapath_id,
            standalone=fail_mode is FailMode.STANDALONE,
            tables=tables,
            entries=entries,
            buffers=buffers,
            probe_s=probe or None,
            queues=queues or [],
            tls=(private_key, certificate, ca_cert),
        )
    )
