"""Options that several commands have, in the same words."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class Version(StrEnum):
    """OpenFlow versions."""

    V1_0 = "1.0"
    V1_3 = "1.3"
    V1_4 = "1.4"
    V1_5 = "1.5"


def queues_option(told: str) -> Any:
    """A number of queues; `told`: which, and the default."""
    return typer.Option(metavar="N", min=1, max=64, help=told)


Dut = Annotated[
    str | None,
    typer.Option(metavar="NAME|FILE", help="What to measure: a name, or a TOML file. Default: embedded."),
]
Openflow = Annotated[
    Version | None,
    typer.Option(metavar="1.0|1.3|1.4|1.5", help="OpenFlow version. Default: the DUT's best."),
]
Netns = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Network namespace of interfaces; INTERFACE@NAME for one of its own."),
]
Count = Annotated[int | None, typer.Option(metavar="N", min=1, help="End after N frames.")]
Duration = Annotated[float | None, typer.Option(metavar="SECONDS", help="End after that time.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and no rates.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no rates while it runs.")]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="DIR", help="Where to write. Default: a new one in runs."),
]
Resume = Annotated[
    bool,
    typer.Option("--resume", help="Go on with the run in DIR; what was measured is not measured again."),
]
