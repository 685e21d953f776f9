"""`flowgauge openflow`: messages as bytes and as text, for debugging."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from flowgauge.cli.shared import Version

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Decode and encode OpenFlow messages, for debugging.",
)


class Form(StrEnum):
    """How decoded messages are written."""

    JSON = "json"
    TEXT = "text"


@app.command()
def decode(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A pcap or pcapng file, or text with bytes in hexadecimal. Default: -, standard input.",
        ),
    ] = Path("-"),
    form: Annotated[
        Form, typer.Option("--format", "-f", help="JSON, or text as ovs-ofctl writes it.")
    ] = Form.JSON,
    ports: Annotated[
        list[int] | None,
        typer.Option(
            "--port",
            "-p",
            metavar="PORT",
            min=1,
            max=65535,
            help="TCP port of OpenFlow in a capture; repeatable. Default: 6653 and 6633. "
            "Connections that begin with a HELLO are found without it.",
        ),
    ] = None,
) -> None:
    """Decode messages: one line each.

    Hexadecimal may have spaces, 0x, offsets and an ASCII column, as xxd, tshark -x and ovs-ofctl write it. In a capture, each TCP
    connection's directions are put together first. What can't be decoded is a line of its own that says where and what was
    expected; then the exit code is 1.
    """
    import signal
    import sys

    from flowgauge._core import OpenflowDecoder

    # Reading may wait for ever; Ctrl-C ends this filter as it ends others.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    decoder = OpenflowDecoder(None if str(file) == "-" else str(file), form is Form.TEXT, ports or [])
    for lines in decoder:
        sys.stdout.write(lines)
        sys.stdout.flush()
    raise typer.Exit(1 if decoder.errors else 0)


@app.command()
def encode(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="Messages as JSON, or flows, groups and meters, one per line. Default: -, standard input.",
        ),
    ] = None,
    flows: Annotated[
        list[str] | None,
        typer.Option(
            "--flow",
            metavar="TEXT",
            help="A flow, group or meter as ovs-ofctl takes it, instead of FILE; repeatable.",
        ),
    ] = None,
    version: Annotated[
        Version, typer.Option("--openflow", metavar="VERSION", help="For lines that name none.")
    ] = Version.V1_3,
) -> None:
    """Encode messages: one line of hexadecimal each.

    Lines are JSON as `flowgauge openflow decode` writes it, or flows, groups and meters as ovs-ofctl takes them, with "add", "modify",
    "delete" or nothing before them. A line that can't be encoded is reported on standard error; then the exit code is 1.

    `flowgauge openflow encode --flow "udp,tp_dst=53 actions=output:2"`
    """
    import signal
    import sys

    from flowgauge._core import OpenflowEncoder
    from flowgauge.errors import FlowgaugeError, UsageError

    if flows and file is not None:
        raise UsageError("--flow and FILE exclude each other")
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    encoder = OpenflowEncoder(version.value)
    failed = False
    for number, line in enumerate(flows or _lines(file), 1):
        try:
            encoded = encoder.line(line)
        except FlowgaugeError as error:
            sys.stdout.flush()
            print(f"line {number}: {error}", file=sys.stderr)
            failed = True
        else:
            if encoded is not None:
                print(encoded)
    raise typer.Exit(1 if failed else 0)


def _lines(file: Path | None) -> Iterator[str]:
    """The lines of a file, or of standard input."""
    import sys

    from flowgauge.errors import UsageError

    if file is None or str(file) == "-":
        yield from sys.stdin
        return
    try:
        with file.open(encoding="utf-8", errors="replace") as text:
            yield from text
    except OSError as error:
        raise UsageError(f"{file}: can't be read: {error.strerror or error}") from error
