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

import openflow_peer_gaps as gaps
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


def osken_samples() -> list[tuple[str, bytes, dict[str, Any]]]:
    """Name, bytes and os-ken's reading of the messages of os-ken's own tests, in the versions that we speak."""
    spec = find_spec("os_ken")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    tests = Path(spec.submodule_search_locations[0]) / "tests"
    found = []
    for version in ("of10", "of13", "of14", "of15"):
        for file in sorted((tests / "packet_data" / version).glob("*.packet")):
            text = (tests / "unit" / "ofproto" / "json" / version / f"{file.name}.json").read_text()
            found.append((f"{version}/{file.name}", file.read_bytes(), json.loads(text)))
    return found


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

    protocol = ProtocolDesc(data[0])
    if data[1] not in protocol.ofproto_parser._MSG_PARSERS:
        raise LookupError("os-ken has no parser for it")
    parsed = ofproto_parser.msg(protocol, data[0], data[1], len(data), int.from_bytes(data[4:8]), data)
    assert parsed is not None, "os-ken fails to parse it"
    return OsKen(parsed.to_jsondict(), WIRE[data[0]]).bag


def our_bag(data: bytes) -> Any:
    """Our reading of a message."""
    from openflow_fields import Ours
    from os_ken.ofproto.ofproto_protocol import ProtocolDesc

    version, text = decode_message(data)
    return Ours(json.loads(text), version, ProtocolDesc(data[0]).ofproto).bag


def differences(data: bytes, reading: dict[str, Any] | None) -> str:
    """What the two readings of a message do not share; empty if they agree. `reading` is os-ken's, if it is known."""
    from openflow_fields import OsKen

    try:
        ours = our_bag(data)
    except FlowgaugeError as error:
        return f"we: {error}"
    try:
        theirs = osken_bag(data) if reading is None else OsKen(reading, WIRE[data[0]]).bag
    except Exception as error:
        return f"os-ken: {type(error).__name__}: {error}"
    left, right = ours - theirs, theirs - ours
    return f"ours {dict(left)}, os-ken's {dict(right)}" if left or right else ""


def test_os_ken_reads_what_we_write(caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("os_ken", reason="os-ken is not installed")
    caplog.set_level("CRITICAL")  # os-ken logs what it fails to parse
    failures, unparsed = {}, set()
    written = rewritten()
    assert len(written) > 150
    for data in written:
        if why := differences(data, None):
            if "has no parser" in why:
                unparsed.add((data[0], data[1]))
            else:
                failures[data] = why
    assert unparsed == gaps.OSKEN_NO_PARSER
    report(failures, gaps.OSKEN)


def test_we_read_what_os_ken_writes() -> None:
    pytest.importorskip("os_ken", reason="os-ken is not installed")
    samples = osken_samples()
    assert len(samples) > 250
    failures = {name: why for name, data, reading in samples if (why := differences(data, reading))}
    new = [f"{name}: {why}" for name, why in failures.items() if name not in gaps.OSKEN_SAMPLES]
    healed = [f"{name} is listed as a gap and agrees" for name in gaps.OSKEN_SAMPLES if name not in failures]
    assert not new + healed, "\n".join(["", *new, *healed])


# tshark


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
    fields = ["frame.protocols", "_ws.malformed", "_ws.expert.message"]
    command = ["tshark", "-r", str(file), "-Y", "tcp.seq_raw == 100", "-T", "fields", "-E", "occurrence=a"]
    for name in fields:
        command += ["-e", name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    rows = [(line.split("\t") + [""] * 3)[:3] for line in done.stdout.splitlines()]
    assert len(rows) == len(messages), done.stderr
    return [(protocols, f"{malformed} {message}".strip()) for protocols, malformed, message in rows]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_finds_nothing_malformed(tmp_path: Path) -> None:
    messages = [data for data in rewritten() if data[0] in (1, 4, 5)]
    failures = {}
    for data, (version, mark) in zip(messages, tshark_verdicts(messages, tmp_path), strict=True):
        if f":openflow_v{data[0]}" not in version:
            failures[data] = "tshark does not take it for OpenFlow"
        elif "malformed" in mark or "Malformed" in mark:
            failures[data] = f"tshark: {mark}"
    report(failures, gaps.TSHARK)


# ovs-ofctl


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
            if "***" in said or not said.startswith(("OFPT", "OFPST")):
                failures[data] = f"ovs-ofctl: {said.strip().splitlines()[0]}"
    report(failures, gaps.OVS)
