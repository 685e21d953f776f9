"""`flowgauge generate` and `capture` without root: rings, files, raw frames, and what is said of mistakes."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from scapy.all import IP, TCP, UDP, Dot1Q, Ether, IPv6, Raw  # type: ignore[attr-defined]
from scapy.utils import PcapNgReader, RawPcapReader, wrpcap

from flowgauge import _core
from flowgauge.cli.app import build
from flowgauge.errors import CaptureFileError, CaptureWriteError, FlowgaugeError, UsageError
from flowgauge.flows import FlowSet, Frames, Schedule
from flowgauge.packets.port_text import parse_port
from flowgauge.testbed.interface import Entry, OpenOptions, Reception, Stream
from flowgauge.testbed.live import open_testbed
from flowgauge.testbed.transmission import LiveTransmission, spec

ROOT = Path(__file__).parents[2]
PACKETS = (
    Ether(dst="02:00:00:00:00:02") / IP(dst="10.0.0.1") / UDP(sport=5, dport=7) / Raw(b"x" * 30),
    Ether() / IP(dst="10.0.0.2", options=[]) / TCP(dport=80) / Raw(b"GET /"),
    Ether(type=0x88B5) / Raw(bytes(range(46))),
)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit code, output and error output of the program."""
    code = build(words)(list(words), prog_name="flowgauge", standalone_mode=False)
    said = capsys.readouterr()
    return code or 0, said.out, said.err


def started(*words: str, **options: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    return subprocess.Popen(
        [sys.executable, "-m", "flowgauge", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        **options,  # type: ignore[call-overload]
    )


def frames_of(path: Path) -> list[bytes]:
    """As scapy reads them."""
    return [data for data, _ in RawPcapReader(str(path))]


def over_ring(flows: Frames | FlowSet, schedule: Schedule, **options: int) -> Reception:
    ports = _core.ring_pair(4096)
    stream = Stream(flows, 64, schedule, sink=1, **options)  # type: ignore[arg-type]
    core = _core.Transmission(ports, [spec(stream, 2)], drain_ns=50_000_000, core=None, connection=None)
    transmission = LiveTransmission([stream], core, lambda _channel: None)
    transmission.wait()
    return transmission.reception()


def test_a_ring_needs_no_root(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--port", "ring", "--flows", "ipv4_dst=10.0.0.1+1,udp_dst=7", "--rate", "50k", "--count", "500"]
    code, out, err = run(capsys, "generate", *words)
    assert code == 0
    assert err == "stream 1: 1000 flows of 64-byte frames, 50000 pps, constant\n"
    assert out.startswith("stream 1: sent 500 frames in ")
    assert "received 500, lost 0, duplicated 0, reordered 0" in out


def test_json_holds_what_is_known_and_null_for_the_rest(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "out.pcap"
    _, out, err = run(
        capsys, "generate", "--port", f"pcap:{file}", "--rate", "20k", "--count", "30", "--json"
    )
    result = json.loads(out)
    (stream,) = result["streams"]
    assert err == ""
    assert (stream["sent"], stream["requested"], stream["not_offered"]) == (30, 30, 0)
    assert stream["received"] is stream["latency_ns"] is result["receive_port"] is None
    assert set(stream["gap_error_ns"]) == {"p50", "p99", "p999", "max"}
    assert len(frames_of(file)) == 30


def test_streams_have_options_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--size", "128", "--rate", "10k", "--count", "100"]
    two = [
        "--stream",
        "flows=udp_dst=7 rate=20k poisson",
        "--stream",
        "flows=tcp_dst=80 size=256 burst=5 duration=0.02",
    ]
    _, out, _ = run(capsys, "generate", "--port", "ring", *words, *two, "--json")
    first, second = json.loads(out)["streams"]
    assert first["what"] == "1 flow of 128-byte frames, 20000 pps, Poisson"
    assert second["what"] == "1 flow of 256-byte frames, 10000 pps in bursts of 5"
    assert (first["requested"], second["requested"]) == (100, 200)
    assert first["lost"] == second["lost"] == 0


def test_scapy_packets_are_sent_byte_for_byte(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    given, sent = tmp_path / "given.pcap", tmp_path / "sent.pcap"
    wrpcap(str(given), list(PACKETS))
    code, _, _ = run(
        capsys, "generate", "--port", f"pcap:{sent}", "--pcap", str(given), "--loop", "2", "--rate", "1k"
    )
    assert code == 0
    assert frames_of(sent) == 2 * [bytes(packet) for packet in PACKETS]


def test_frames_from_bytes_and_scapy_packets() -> None:
    plain = over_ring(Frames.of(*PACKETS, bytes(60)), Schedule.cbr(10_000), count=40)
    assert (plain.sent, plain.probed, plain.received, plain.lost) == (40, False, 0, 0)
    probed = over_ring(Frames.of(PACKETS[0], PACKETS[0], probe=True), Schedule.cbr(10_000), count=40)
    assert (probed.sent, probed.probed, probed.received, probed.lost) == (40, True, 40, 0)
    assert (probed.first_arrival_ns > 0).all()
    assert probed.latency.count == 40


def test_probes_keep_udp_checksums_right(tmp_path: Path) -> None:
    file = tmp_path / "a.pcap"
    given = [
        Ether() / IP(dst="10.0.0.1") / UDP(dport=7) / Raw(b"a" * 31),
        Ether() / IPv6(dst="2001:db8::1") / UDP(dport=7) / Raw(b"b" * 64),
        Ether() / Dot1Q(vlan=5) / IP(dst="10.0.0.1") / UDP(dport=7) / Raw(b"c" * 18),
    ]
    port = _core.open_pcap(str(file))
    stream = Stream(Frames.of(*given, probe=True), 64, Schedule.cbr(20_000), count=30)
    core = _core.Transmission([port], [spec(stream, 1)], drain_ns=0, core=None, connection=None)
    LiveTransmission([stream], core, lambda _channel: None).wait()
    port.close()
    for i, data in enumerate(frames_of(file)):
        packet, anew = Ether(data), Ether(data)
        assert data[-len(given[i % 3]) :] != bytes(given[i % 3])
        del anew[UDP].chksum
        assert packet[UDP].chksum == Ether(bytes(anew))[UDP].chksum
    streams = _core.judge_capture(str(file))["probes"]
    assert [(one["received"], one["lost"], one["reordered"]) for one in streams] == [(30, 0, 0)]


def test_a_capture_comes_from_a_pipe_too(tmp_path: Path) -> None:
    given, sent = tmp_path / "given.pcap", tmp_path / "sent.pcap"
    wrpcap(str(given), list(PACKETS))
    with given.open() as stdin:
        process = started(
            "generate", "--port", f"pcap:{sent}", "--pcap", "-", "--rate", "1k", "-q", stdin=stdin
        )
        assert process.wait(30) == 0
    assert frames_of(sent) == [bytes(packet) for packet in PACKETS]


def test_a_capture_is_sent_at_its_own_times_or_scaled(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    given, sent = tmp_path / "given.pcap", tmp_path / "sent.pcapng"
    packets = [packet.copy() for packet in PACKETS]
    for packet, at in zip(packets, (1000.0, 1000.02, 1000.05), strict=True):
        packet.time = at
    wrpcap(str(given), packets)
    _, out, err = run(
        capsys,
        "generate",
        "--port",
        f"pcap:{sent}",
        "--pcap",
        str(given),
        "--speed",
        "2",
        "--loop",
        "2",
        "--json",
    )
    assert err == ""
    (stream,) = json.loads(out)["streams"]
    assert stream["what"].endswith("2 times as fast as captured")
    # Twice: 0, 10, 25 ms, and a mean gap of 12.5 ms in between and behind.
    times = [float(packet.time) for packet in PcapNgReader(str(sent))]
    assert len(times) == 6
    assert times == sorted(times)
    assert stream["seconds"] >= 0.0625


@pytest.mark.parametrize("form", ["pcap", "pcapng"])
def test_stamps_in_files_are_exact_to_the_nanosecond(form: str, tmp_path: Path) -> None:
    file = tmp_path / f"a.{form}"
    port = _core.open_pcap(str(file))
    stream = Stream(FlowSet(), 64, Schedule.cbr(100_000), count=200, record=200)
    core = _core.Transmission([port], [spec(stream, 1)], drain_ns=0, core=None, connection=None)
    LiveTransmission([stream], core, lambda _channel: None).wait()
    port.close()
    recording = _core.read_capture(str(file))
    # As a reader of our own that knows nothing of the writer sees them.
    assert recording.times_ns == stamps(file.read_bytes())
    assert len(recording) == 200


def stamps(data: bytes) -> list[int]:
    """Of a pcap or pcapng file with nanoseconds, little-endian."""
    found = []
    if data[:4] == b"\x4d\x3c\xb2\xa1":
        at = 24
        while at < len(data):
            seconds, ns, kept, _ = struct.unpack_from("<4I", data, at)
            found.append(seconds * 10**9 + ns)
            at += 16 + kept
        return found
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<2I", data, at)
        if kind == 6:
            high, low = struct.unpack_from("<2I", data, at + 12)
            found.append(high << 32 | low)
        at += length
    return found


def test_a_truncated_capture_is_sent_as_far_as_it_is_whole(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    given, sent = tmp_path / "given.pcap", tmp_path / "sent.pcap"
    wrpcap(str(given), list(PACKETS))
    given.write_bytes(given.read_bytes()[:-9])
    _, _, err = run(capsys, "generate", "--port", f"pcap:{sent}", "--pcap", str(given), "--rate", "1k")
    assert "the capture ends within a record at byte" in err
    assert "the 2 whole frames before it are sent" in err
    assert frames_of(sent) == [bytes(packet) for packet in PACKETS[:2]]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is no capture: expected a pcap or pcapng file, found an empty file"),
        (b"GIF89a..", "found a file that starts with 47 49 46"),
        (struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1), "holds no frames"),
        (
            struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101) + bytes(8) + b"\1\0\0\0" * 2 + b"x",
            "link type 101",
        ),
    ],
)
def test_what_is_no_capture_says_why(content: bytes, said: str, tmp_path: Path) -> None:
    file = tmp_path / "a.pcap"
    file.write_bytes(content)
    for read in (_core.read_capture, _core.judge_capture):
        with pytest.raises(CaptureFileError) as error:
            read(str(file))
        assert str(file) in str(error.value)
        assert said in str(error.value)


@pytest.mark.parametrize(
    ("frames", "probe", "said"),
    [
        ((), False, "there are no frames"),
        ((bytes(60), bytes(13)), False, "frame 2 has 13 bytes; allowed: 14"),
        ((bytes(60),), True, "frame 1 can't bear a probe"),
        ((bytes(4000),), False, "frames of 4000 bytes without FCS; port ring takes 2048"),
    ],
)
def test_frames_that_cannot_be_sent(frames: tuple[bytes, ...], probe: bool, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        over_ring(Frames(frames, probe), Schedule.max(), count=1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--port", "eth0"], "--port eth0: expected one of af_packet:INTERFACE"),
        (["--port", "ring:5"], "expected ring"),
        (["--port", "af_packet:"], "expected af_packet:INTERFACE"),
        (["--port", "af_packet:eth0@"], "or af_packet:INTERFACE@NETNS"),
        (["--port", "ring", "--receive", "ring"], "leave --receive out"),
        (["--port", "pcap:/tmp/x.pcap", "--receive", "pcap:y"], "nothing arrives there"),
        (["--port", "ring", "--flows", "udp_dst=x"], "udp_dst is x"),
        (["--port", "ring", "--rate", "quick"], "expected a rate above zero"),
        (["--port", "ring", "--rate", "line"], "link has no speed"),
        (["--port", "ring", "--size", "20"], "frames of 20 bytes"),
        (["--port", "ring", "--speed", "2"], "it needs --pcap FILE"),
        (["--port", "ring", "--late", "never"], "allowed: catch_up, skip, a time such as 20us"),
        (["--port", "ring", "--poisson"], "need a --rate"),
        (["--port", "ring", "--count", "5", "--duration", "1"], "--count and --duration exclude each other"),
        (["--port", "ring", "--flows", "udp_dst=7", "--pcap", "a"], "exclude each other"),
        (
            ["--port", "ring", "--duration", "nan"],
            "--duration is above 0 and at most 1000000000 seconds, not nan",
        ),
        (["--port", "ring", "--duration", "1e30"], "--duration is above 0"),
        (["--port", "ring", "--count", "9" * 23], "--count is at least 1 and at most 9223372036854775807"),
        (["--port", "ring", "--core", "4096"], "--core 4096: this process may not run there; allowed: "),
        (["--port", "ring", "--flow-count", "0"], "--flow-count: 0 flows; allowed: 1 to 4000000"),
        (["--port", "ring", "--seed", "-1"], "--seed is at least 0"),
        (["--port", "ring", "--rate", "1k", "--burst", "0"], "--burst is at least 1"),
        (
            ["--port", "ring", "--rate", "1k", "--burst", "9" * 23],
            "--burst is at least 1 and at most 1000000",
        ),
        (["--port", "ring", "--rate", "0.0000000001"], "less than a frame in 30 years"),
        (["--port", "ring", "--pcap", "a", "--speed", "1e-9"], "--speed is at least 1e-06 and at most"),
        (
            ["--port", "ring", "--pcap", "a", "--speed", "2", "--rate", "1k"],
            "--speed and --rate exclude each other",
        ),
        (["--port", "ring", "--pcap", "/nonexistent"], "/nonexistent can't be read"),
        (["--port", "ring", "--stream", "speeed=2"], "'speeed=2' is not understood; allowed: flows=..."),
        (["--port", "ring", "--stream", "size=big"], "size is 'big'; expected a number"),
        (
            ["--port", "ring", "--stream", "rate=1k", "--flows", "udp_dst=7"],
            "say flows and captures in each stream",
        ),
    ],
)
def test_mistakes_are_usage_errors(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(FlowgaugeError) as error:
        run(capsys, "generate", *words, "--quiet")
    assert said in str(error.value)
    assert error.value.exit_code == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "say where to capture"),
        (["--port", "ring"], "nothing arrives there"),
        (["--port", "af_packet:lo", "--duration", "0"], "--duration is above 0"),
        (["--read", "a", "--port", "af_packet:lo"], "leave --port and --write out"),
        (["--port", "af_packet:lo", "--duration", "nan"], "--duration is above 0"),
        (["--port", "af_packet:lo", "--core", "4096"], "this process may not run there"),
        (["--port", "af_packet:lo", "--port", "af_packet:lo"], "af_packet:lo is given 2 times"),
    ],
)
def test_mistakes_in_captures(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match=said):
        run(capsys, "capture", *words)


def test_probes_of_a_file_are_judged(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "a.pcapng"
    run(capsys, "generate", "--port", f"pcap:{file}", "--rate", "20k", "--count", "100")
    code, out, _ = run(capsys, "capture", "--read", str(file), "--json")
    (stream,) = json.loads(out)["probes"]
    assert code == 0
    assert (stream["sent"], stream["received"], stream["lost"], stream["reordered"]) == (100, 100, 0, 0)
    # A file that was written on this host has delays: between the stamp in the probe and the stamp in the file.
    assert stream["latency_ns"]["p50"] < 10_000_000
    assert stream["variation_ns"]["min"] >= 0


def test_ctrl_c_stops_cleanly(tmp_path: Path) -> None:
    process = started("generate", "--port", "ring", "--rate", "1k")
    assert process.stderr is not None
    assert process.stderr.readline().startswith("stream 1")
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")
    assert "lost 0" in out
    assert out.endswith("stopped\n")


def test_one_frame_is_not_1_frames(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "a.pcap"
    _, out, _ = run(capsys, "generate", "--port", f"pcap:{file}", "--count", "1")
    assert out.startswith("stream 1: sent 1 frame in ")
    _, out, _ = run(capsys, "capture", "--read", str(file))
    assert out.startswith("1 frame, 60 bytes\n")


def test_a_loop_of_more_frames_than_can_be_counted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "a.pcap"
    run(capsys, "generate", "--port", f"pcap:{file}", "--count", "2")
    with pytest.raises(UsageError, match=f"--loop {2**62}: more than {2**63 - 1} frames"):
        run(capsys, "generate", "--port", "ring", "--pcap", str(file), "--loop", str(2**62))


def test_namespaces_are_of_dpdk_devices_too() -> None:
    assert parse_port("dpdk:net_af_packet0,iface=a", "lab").netns == "lab"
    assert parse_port("pcap:a", "lab").netns is None


def test_a_full_disk_is_one_clear_message() -> None:
    process = started("generate", "--port", "pcap:/dev/full", "--rate", "10k", "--count", "5000", "--quiet")
    _, err = process.communicate(timeout=30)
    assert process.returncode == 3
    assert "flowgauge: writing on pcap /dev/full failed: No space left on device" in err
    assert "see that its folder exists, may be written to and has room" in err


def test_a_file_that_cannot_be_made(capsys: pytest.CaptureFixture[str]) -> None:
    if os.geteuid() != 0:
        pytest.skip("captures need root")
    with pytest.raises(CaptureWriteError, match="can't be written: No such file or directory"):
        run(capsys, "capture", "--port", "af_packet:lo", "-w", "/nonexistent/a.pcap")


def test_scapy_packets_go_through_a_switch() -> None:
    with open_testbed("embedded", OpenOptions()) as (_, testbed):
        testbed.control.install(Entry(None, actions="output:2", in_port=1))
        stream = Stream(Frames.of(PACKETS[0], probe=True), 64, Schedule.cbr(2000), source=0, sink=1, count=50)
        transmission = testbed.transmit(stream)
        transmission.wait()
        found = transmission.reception()
        assert (found.sent, found.received, found.lost) == (50, 50, 0)
        plain = Stream(Frames.of(*PACKETS), 64, Schedule.cbr(2000), source=0, sink=1, count=30)
        transmission = testbed.transmit(plain)
        transmission.wait()
        assert transmission.reception().probed is False
        assert sum(transmission.tester.foreign) == 30
