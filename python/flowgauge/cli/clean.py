"""`flowgauge clean`: removes what crashed runs left behind, and says what."""

from __future__ import annotations

import typer


def command() -> None:
    """Remove what crashed runs left behind: processes, network namespaces, directories.

    Only what Flowgauge recorded as its own, and whose owner is gone; of DPDK's folders what bears its name and
    nobody uses. Exit code 3 if something could not be removed.
    """
    import os

    from flowgauge.cli.words import counted
    from flowgauge.duts.cleanup import clean
    from flowgauge.duts.dpdk_folders import sweep
    from flowgauge.duts.lease import leases

    cleaned = clean()
    folders = sweep({path for lease in leases() for path in lease.directories})
    for title, things in cleaned.removed.items():
        typer.echo(f"removed what {title} left: {', '.join(things) or 'nothing but its lease'}")
    if folders:
        typer.echo(
            f"removed {counted(len(folders), 'folder')} of DPDK processes that are gone: {_some(folders)}"
        )
    for title, reason in cleaned.failed.items():
        typer.echo(f"not removed: {title}: {reason}", err=True)
    for title in cleaned.in_use:
        typer.echo(f"in use, left alone: {title}")
    if not cleaned.removed and not cleaned.failed and not folders:
        typer.echo("nothing was left behind")
    if os.geteuid() != 0:
        typer.echo("(what runs of root left, only root can remove: sudo flowgauge clean)")
    raise typer.Exit(3 if cleaned.failed else 0)


def _some(names: list[str], most: int = 4) -> str:
    """The first of them.

    >>> _some(["a", "b", "c", "d", "e", "f"])
    'a, b, c, d, and 2 more'
    """
    rest = len(names) - most
    return ", ".join(names) if rest <= 0 else f"{', '.join(names[:most])}, and {rest} more"
