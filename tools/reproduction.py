#!/usr/bin/env python3
"""Writes docs/reference/reproduction.md: ALIEN's published tables beside runs on the models of its devices.

    python tools/reproduction.py [--check] [--runs DIR]

--check writes nothing, and ends with 1 when the page is not what a new run gives or a table's deviation reaches the limit.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from flowgauge.reproduction.page import render
from flowgauge.reproduction.run import reproduce
from flowgauge.reproduction.tables import LIMIT

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "reproduction.md"


def main() -> int:
    """Run, then write or compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--runs", type=Path, help="keep the runs there")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        results = reproduce(arguments.runs or Path(scratch))
    for result in results:
        print(f"Table {result.table.number:<5}{result.median_deviation():.1%}")
    bad = [r.table.number for r in results if not (r.median_deviation() or 0) < LIMIT]
    page = render(results)
    if bad:
        print(f"at or over the limit of {LIMIT:.0%}: {', '.join(bad)}", file=sys.stderr)
    if arguments.check:
        if page != PAGE.read_text():
            print(f"{PAGE}: not what a run gives; call tools/reproduction.py", file=sys.stderr)
            return 1
    else:
        PAGE.write_text(page)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
