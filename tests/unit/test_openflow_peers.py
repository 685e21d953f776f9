"""Our codec beside os-ken, tshark and ovs-ofctl: what one writes, the others read, with the same fields.

Messages are those of the golden corpus and of os-ken's own tests. What a peer can't do is listed below with the message's bytes and the
reason; a message that is listed and works is a failure too.
"""

from __future__ import annotations

import json
import shutil
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


def rewritten() -> list[bytes]:
    """The corpus as we write it: each message decoded, taken through JSON, and encoded again."""
    decoded = (decode_message(data) for data in corpus())
    return [encode_message(text, version) for version, text in decoded]


def osken_samples() -> list[bytes]:
    """The messages of os-ken's tests in the versions that we speak."""
    spec = find_spec("os_ken")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    folder = Path(spec.submodule_search_locations[0]) / "tests" / "packet_data"
    files = sorted(f for v in ("of10", "of13", "of14", "of15") for f in (folder / v).glob("*.packet"))
    return [file.read_bytes() for file in files]


def named(data: bytes) -> str:
    """A message's name in reports: version, type and the start of its bytes."""
    return f"{WIRE.get(data[0], data[0])} type {data[1]}: {data.hex()}"


def report(failures: dict[bytes, str], known: dict[str, str]) -> None:
    """Fail with what is unexpected: messages that don't agree and are not listed, and listed ones that do."""
    listed = {bytes.fromhex(text) for text in known}
    new = [f"{named(data)}\n    {why}" for data, why in failures.items() if data not in listed]
    healed = [f"{named(data)}\n    is listed as a gap and agrees" for data in listed - set(failures)]
    assert not new + healed, "\n".join(["", *new, *healed])


# os-ken


def osken_bag(data: bytes) -> Any:
    """os-ken's reading of a message; its exceptions go through."""
    from openflow_fields import OsKen
    from os_ken.ofproto import ofproto_parser
    from os_ken.ofproto.ofproto_protocol import ProtocolDesc

    parsed = ofproto_parser.msg(
        ProtocolDesc(data[0]), data[0], data[1], len(data), int.from_bytes(data[4:8]), data
    )
    assert parsed is not None, "os-ken has no parser for it"
    return OsKen(parsed, WIRE[data[0]]).bag


def our_bag(data: bytes) -> Any:
    """Our reading of a message."""
    from openflow_fields import Ours
    from os_ken.ofproto.ofproto_protocol import ProtocolDesc

    version, text = decode_message(data)
    return Ours(json.loads(text), version, ProtocolDesc(data[0]).ofproto).bag


def differences(data: bytes) -> str:
    """What the two readings of a message do not share; empty if they agree."""
    try:
        ours = our_bag(data)
    except FlowgaugeError as error:
        return f"we: {error}"
    try:
        theirs = osken_bag(data)
    except Exception as error:
        return f"os-ken: {type(error).__name__}: {error}"
    left, right = ours - theirs, theirs - ours
    return f"ours {dict(left)}, os-ken's {dict(right)}" if left or right else ""


def compare(messages: list[bytes]) -> dict[bytes, str]:
    return {data: why for data in messages if (why := differences(data))}


def test_os_ken_reads_what_we_write() -> None:
    pytest.importorskip("os_ken", reason="os-ken is not installed")
    written = rewritten()
    assert len(written) > 100
    report(compare(written), OSKEN_GAPS)


def test_we_read_what_os_ken_writes() -> None:
    pytest.importorskip("os_ken", reason="os-ken is not installed")
    samples = osken_samples()
    assert len(samples) > 200
    report(compare(samples), OSKEN_SAMPLE_GAPS)


OSKEN_GAPS: dict[str, str] = {}
OSKEN_SAMPLE_GAPS: dict[str, str] = {}


# tshark

TSHARK_GAPS: dict[str, str] = {}


def tshark_verdicts(messages: list[bytes], scratch: Path) -> list[tuple[str, str]]:
    """Of each message tshark's version and what it marks as malformed: one capture, one run, one connection per message."""
    from captures import CONTROLLER, SYN, frame, pcap

    frames = []
    for i, data in enumerate(messages):
        switch = (f"10.1.{i // 250}.{i % 250 + 1}", 40000)
        frames.append(frame(switch, CONTROLLER, 99, flags=SYN))
        frames.append(frame(switch, CONTROLLER, 100, data))
    file = scratch / "messages.pcap"
    file.write_bytes(pcap(frames))
    fields = ["openflow.version", "_ws.malformed", "_ws.expert.message", "_ws.expert.severity"]
    command = ["tshark", "-r", str(file), "-Y", "tcp.seq_raw == 100", "-T", "fields", "-E", "occurrence=a"]
    for name in fields:
        command += ["-e", name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    rows = [(line.split("\t") + [""] * 4)[:4] for line in done.stdout.splitlines()]
    assert len(rows) == len(messages), done.stderr
    return [
        (version, ", ".join(filter(None, (malformed, message)))) for version, malformed, message, _ in rows
    ]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_finds_nothing_malformed(tmp_path: Path) -> None:
    messages = [data for data in rewritten() if data[0] in (1, 4, 5)]
    failures = {}
    for data, (version, mark) in zip(messages, tshark_verdicts(messages, tmp_path), strict=True):
        if not version:
            failures[data] = "tshark does not take it for OpenFlow"
        elif "alformed" in mark or "xception" in mark or "invalid" in mark.lower():
            failures[data] = f"tshark: {mark}"
    report(failures, TSHARK_GAPS)


# ovs-ofctl

OVS_GAPS: dict[str, str] = {}


def ofp_print(data: bytes) -> str:
    """What `ovs-ofctl ofp-print` says."""
    done = subprocess.run(
        ["ovs-ofctl", "ofp-print", data.hex(), "1"], capture_output=True, text=True, timeout=20, check=False
    )
    return done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("ovs-ofctl") is None, reason="ovs-ofctl is not installed")
def test_ovs_reads_what_we_write_in_1_5() -> None:
    failures = {}
    for data in rewritten():
        if data[0] == 6:
            said = ofp_print(data)
            if "***" in said or "decode error" in said or "OFPT" not in said:
                failures[data] = f"ovs-ofctl: {said.strip().splitlines()[0]}"
    report(failures, OVS_GAPS)
