"""`flowgauge capture`: packets into a file, and probes judged."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from flowgauge.cli.shared import Count, Duration, Json, Netns, Quiet, queues_option


class Form(StrEnum):
    """Formats of capture files."""

    PCAP = "pcap"
    PCAPNG = "pcapng"


def command(
    ports: Annotated[
        list[str] | None,
        typer.Option(
            "--port",
            metavar="PORT",
            help="Where frames arrive: af_packet:INTERFACE, af_xdp:INTERFACE or dpdk:DEVICE. May be repeated.",
        ),
    ] = None,
    read: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Judge the probes of a capture file instead. -: standard input."),
    ] = None,
    netns: Netns = None,
    write: Annotated[
        str | None,
        typer.Option(
            "--write",
            "-w",
            metavar="FILE",
            help="The capture file; - is standard output. Default: only count.",
        ),
    ] = None,
    form: Annotated[
        Form | None,
        typer.Option("--format", "-f", help="Default: pcap for FILE.pcap and FILE.cap, else pcapng."),
    ] = None,
    count: Count = None,
    duration: Duration = None,
    snaplen: Annotated[
        int, typer.Option(metavar="BYTES", min=0, max=262_144, help="Keep that much of each frame; 0: all.")
    ] = 0,
    probes: Annotated[
        bool, typer.Option("--probes", help="Judge probes of `flowgauge generate`: loss, order, delay.")
    ] = False,
    queues: Annotated[
        int | None,
        queues_option(
            "Queues of each port that are read, in turn, by one core; order between them is not known. Default: af_xdp: "
            "all; the others: one.",
        ),
    ] = None,
    queue: Annotated[
        int, typer.Option(metavar="MIB", min=1, max=4096, help="Memory for frames that wait for the file.")
    ] = 64,
    core: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Core to read on. Default: any.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Capture packets, with nanosecond stamps.

    `sudo flowgauge capture --port af_packet:eth0 -w out.pcapng --duration 10`

    Stamps are the best that the port has: of the network card, the kernel, or ours. Each second the rates are shown, and what was
    dropped before us (ring, socket, card) or lost by us (the file did not keep pace). Without --count or --duration it ends with Ctrl-C.

    Exit codes: 0 done or stopped; 1 the port broke; 2 usage; 3 port or file can't be had, or the disk is full: the file is whole then, too.
    """
    from flowgauge.packets.capture import Request, run

    chosen = None if form is None else form.value
    request = Request(
        ports or [],
        read,
        netns,
        write,
        chosen,
        count,
        duration,
        snaplen,
        probes,
        queue,
        core,
        as_json,
        quiet,
        queues,
    )
    raise typer.Exit(run(request))
