"""`flowgauge generate`: the packet generator on its own."""

from __future__ import annotations

from typing import Annotated

import typer

from flowgauge.cli.shared import Count, Duration, Json, Netns, Quiet, queues_option


def command(
    port: Annotated[
        str,
        typer.Option(
            "--port",
            metavar="PORT",
            help="Where frames leave: af_packet:INTERFACE, af_xdp:INTERFACE, dpdk:DEVICE, pcap:FILE, or ring (in this "
            "process: no root, nothing to set up).",
        ),
    ],
    receive: Annotated[
        str | None,
        typer.Option(
            metavar="PORT", help="Where they are expected: loss and delay are told. A ring has its other end."
        ),
    ] = None,
    netns: Netns = None,
    flows: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD=PATTERN,...",
            help="The flow set. Patterns: 10.0.0.1, 10.0.0.1+1 (more in each flow), 1..100, 7|9, random, "
            "random:10.0.0.0/8. Default: one UDP flow.",
        ),
    ] = None,
    flow_count: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Number of flows. Default: of the longest range or list, or 1000, or 1."
        ),
    ] = None,
    pcap: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Frames of a pcap or pcapng file instead, byte for byte. -: standard input."
        ),
    ] = None,
    speed: Annotated[
        float | None, typer.Option(metavar="FACTOR", help="How much faster than captured. Default: 1.")
    ] = None,
    loop: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Send the capture N times; 0: until stopped.")
    ] = None,
    probe: Annotated[
        bool,
        typer.Option(
            "--probe", help="Write probes into the UDP payloads of the capture, to know loss and delay."
        ),
    ] = False,
    size: Annotated[
        int, typer.Option(metavar="BYTES", help="Size of the flow set's frames, FCS counted.")
    ] = 64,
    rate: Annotated[
        str | None,
        typer.Option(
            metavar="RATE",
            help="10000, 10k, 1.5Mpps: frames per second. 10Mbps: layer 2. line, 50%: of the link. max. Default: max; of a "
            "capture: its own times.",
        ),
    ] = None,
    poisson: Annotated[
        bool, typer.Option("--poisson", help="Exponential gaps with that mean rate, not constant ones.")
    ] = False,
    burst: Annotated[
        int | None, typer.Option(metavar="N", help="Bursts of N frames back to back, at that mean rate.")
    ] = None,
    late: Annotated[
        str,
        typer.Option(
            metavar="catch_up|skip|TIME",
            help="Frames whose time has passed leave at once (the mean rate stays), or not at all (gaps stay), or at once if they are "
            "no later than, say, 20us.",
        ),
    ] = "catch_up",
    count: Count = None,
    duration: Duration = None,
    seed: Annotated[int, typer.Option(metavar="N", help="For random values and gaps.")] = 1,
    streams: Annotated[
        list[str] | None,
        typer.Option(
            "--stream",
            metavar="TEXT",
            help="A stream with its own options, written without dashes: 'flows=udp_dst=7 rate=10k poisson'. The other "
            "options are its defaults. May be repeated.",
        ),
    ] = None,
    core: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Core to spin on. Default: the last one.")
    ] = None,
    queues: Annotated[
        int | None,
        queues_option(
            "Queues of PORT that are used, each by a core if there are enough. Streams take them in turn; one as fast as "
            "possible is divided by its flows. Default: one.",
        ),
    ] = None,
    receive_queues: Annotated[
        int | None,
        queues_option("Queues of the receiving port. Default: as --queues."),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Generate packets: flow sets, or a capture.

    `flowgauge generate --port ring --flows "ipv4_dst=10.0.0.1+1,udp_dst=7" --rate 100k --count 1000` needs no root.

    Without --count, --duration or --loop a flow set is sent until Ctrl-C, a capture once. Each second the rates are shown, at the end
    what was offered, how exactly, and, with a receiver, what arrived.

    Exit codes: 0 done or stopped; 1 the port broke; 2 usage; 3 the port can't be had.
    """
    from flowgauge.packets.generate import Request, run
    from flowgauge.packets.streams import Wanted

    options = Wanted(
        flows=flows,
        flow_count=flow_count,
        pcap=pcap,
        speed=speed,
        loop=loop,
        probe=probe,
        size=size,
        rate=rate,
        poisson=poisson,
        burst=burst,
        late=late,
        count=count,
        duration=duration,
        seed=seed,
    )
    request = Request(
        port, receive, netns, options, streams or [], core, as_json, quiet, queues, receive_queues
    )
    raise typer.Exit(run(request))
