"""The command line: one file per command. Only the command that is called is imported."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """The program `flowgauge`: run a command, turn its error into one message with advice and an exit code."""
    from flowgauge.cli.app import build
    from flowgauge.errors import FlowgaugeError

    if os.path.expanduser("~") == "~":
        # A user without a home (as containers have) has no cache and no state; libraries ask for the home, too.
        os.environ["HOME"] = "/nonexistent"
    debug = os.environ.get("FLOWGAUGE_DEBUG", "") not in ("", "0")
    try:
        build(sys.argv[1:])(prog_name="flowgauge")
    except FlowgaugeError as error:
        if debug:
            raise
        print_error(error)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader (`| head`) has gone; Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if debug:
            raise
        print(f"flowgauge: internal error: {type(error).__name__}: {error}", file=sys.stderr)
        print("  Set FLOWGAUGE_DEBUG=1 to see where, and please report it.", file=sys.stderr)
        sys.exit(1)


def print_error(error: Exception) -> None:
    """The message and, below it, the advice."""
    from flowgauge.errors import FlowgaugeError

    print(f"flowgauge: {error}", file=sys.stderr)
    if isinstance(error, FlowgaugeError) and error.advice:
        print(f"  {error.advice}", file=sys.stderr)
