"""Our codec beside os-ken, tshark and ovs-ofctl: what one writes, the others read, with the same fields.

Messages are those of the golden corpus and of os-ken's own tests. What a peer can't do is listed below with the message's bytes and the
reason; a message that is listed and works is a failure too.
"""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from flowgauge._core import decode_message, encode_message
from flowgauge.errors import FlowgaugeError

CORPUS = Path(__file__).parents[2] / "crates" / "openflow" / "corpus"
WIRE = {1: "1.0", 4: "1.3", 5: "1.4", 6: "1.5"}


def corpus() -> list[bytes]:
    """All good messages of the golden corpus."""
    found = []
    for file in sorted(CORPUS.glob("*.txt")):
        if file.stem in ("bad", "fuzzed"):
            continue
        digits: list[str] = []
        for line in [*file.read_text().splitlines(), "end"]:
            label, bar, rest = line.partition("|")
            if bar and label.strip() == "" and digits:
                digits.append(rest)
                continue
            if digits:
                found.append(bytes.fromhex("".join(digits)))
            digits = [rest] if bar and label.strip() in WIRE.values() else []
    return found


def osken_samples() -> list[bytes]:
    """The messages of os-ken's tests in the versions that we speak."""
    spec = find_spec("os_ken")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    folder = Path(spec.submodule_search_locations[0]) / "tests" / "packet_data"
    files = sorted(f for v in ("of10", "of13", "of14", "of15") for f in (folder / v).glob("*.packet"))
    return [file.read_bytes() for file in files]
