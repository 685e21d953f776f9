"""`flowgauge generate` and `capture` on interfaces, beside the tools that people use: tshark, tcpdump, tcpreplay, trafgen, scapy."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from scapy.all import IP, UDP, Dot1Q, Ether, Raw  # type: ignore[attr-defined]
from scapy.utils import RawPcapReader, wrpcap

from flowgauge import _core
from flowgauge.duts import netns
from flowgauge.duts.lease import Lease

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
START_S = 10.0


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@pytest.fixture
def wire() -> Iterator[tuple[str, str]]:
    """A veth pair: two namespaces, each with an interface of its own name."""
    lease = Lease.take("packet-tools")
    try:
        left, right = ends = [netns.add(lease, side) for side in "lr"]
        ip("link", "add", left, "netns", left, "type", "veth", "peer", "name", right, "netns", right)
        for end in ends:
            ip("-n", end, "link", "set", end, "up")
        time.sleep(0.3)
        yield left, right
    finally:
        lease.end()


def inside(end: str, *words: str) -> list[str]:
    return ["ip", "netns", "exec", end, *words]


def start(words: Sequence[str], **options: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, **options
    )  # type: ignore[call-overload,no-any-return]


def flowgauge(command: str, backend: str, end: str, *words: str) -> list[str]:
    return [sys.executable, "-m", "flowgauge", command, "--port", f"{backend}:{end}", "--netns", end, *words]


def capture(end: str, file: Path | str, *words: str, backend: str = "af_packet") -> subprocess.Popen[str]:
    """A capture that has begun: its file is there and begins with its header."""
    process = start(flowgauge("capture", backend, end, "-w", str(file), *words))
    deadline = time.monotonic() + START_S
    while isinstance(file, Path) and not (file.exists() and file.stat().st_size) and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


def generate(end: str, *words: str, backend: str = "af_packet") -> dict[str, object]:
    done = subprocess.run(
        flowgauge("generate", backend, end, "--json", *words),
        capture_output=True, text=True, env=ENVIRONMENT, timeout=60, check=False,
    )  # fmt: skip
    if backend != "af_packet" and done.returncode == 3:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)["streams"][0]
    return found


def stop(process: subprocess.Popen[str]) -> str:
    """End it after what is under way has come; its output."""
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    return out


def frames_of(path: Path) -> list[bytes]:
    return [data for data, _ in RawPcapReader(str(path))]


def need(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")


def packets(path: Path) -> list[bytes]:
    """A capture of scapy's, and its frames."""
    made = [
        Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01") / IP(dst=f"10.0.0.{i}") / UDP(sport=i, dport=9) / Raw(bytes(20 + i))
        for i in range(1, 60)
    ]  # fmt: skip
    made.append(
        Ether(dst="02:00:00:00:00:02") / Dot1Q(vlan=5) / IP(dst="10.0.0.1") / UDP() / Raw(b"tagged" * 5)
    )
    wrpcap(str(path), made)
    return [bytes(packet) for packet in made]


@pytest.mark.parametrize("form", ["pcap", "pcapng"])
def test_tshark_and_tcpdump_read_our_stamps_to_the_nanosecond(
    form: str, wire: tuple[str, str], tmp_path: Path
) -> None:
    need("tcpdump")
    file = tmp_path / f"a.{form}"
    process = capture(wire[1], file, "--count", "300", "--probes", "--json")
    generate(wire[0], "--rate", "20k", "--count", "300")
    out, err = process.communicate(timeout=30)
    found = json.loads(out)
    (probes,) = found["probes"]
    assert (process.returncode, err) == (0, "")
    assert (found["frames"], found["lost"], found["ports"][0]["stamps"]) == (300, 0, "kernel")
    assert (probes["received"], probes["lost"], probes["reordered"]) == (300, 0, 0)
    assert 0 < probes["latency_ns"]["p50"] < 100_000_000
    stamps = [f"{at // 10**9}.{at % 10**9:09}" for at in _core.read_capture(str(file)).times_ns]
    read = ["tcpdump", "--nano", "-tt", "-n", "-r", str(file)]
    lines = subprocess.run(read, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.split()[0] for line in lines] == stamps
    need("tshark")
    read = ["tshark", "-r", str(file), "-T", "fields", "-e", "frame.time_epoch"]
    assert subprocess.run(read, capture_output=True, text=True, check=True).stdout.split() == stamps


def test_what_we_send_of_a_capture_arrives_byte_for_byte_at_tcpdump(
    wire: tuple[str, str], tmp_path: Path
) -> None:
    need("tcpdump")
    given, got = tmp_path / "given.pcap", tmp_path / "got.pcap"
    expected = packets(given)
    left, right = wire
    process = start(
        inside(
            right,
            "tcpdump",
            "-i",
            right,
            "--immediate-mode",
            # Without it the kernel has room for eight frames of the largest size.
            "--snapshot-length=2048",
            "-Q",
            "in",
            "-Z",
            "root",
            "-U",
            "-w",
            str(got),
            "-n",
        )
    )
    assert process.stderr is not None
    assert "listening on" in process.stderr.readline()
    generate(left, "--pcap", str(given), "--rate", "5k", "--loop", "3")
    stop(process)
    assert [f for f in frames_of(got) if f in expected] == 3 * expected


@pytest.mark.parametrize("tool", ["tcpreplay", "trafgen"])
def test_what_other_generators_send_is_captured_byte_for_byte(
    tool: str, wire: tuple[str, str], tmp_path: Path
) -> None:
    need(tool)
    given, got = tmp_path / "given.pcap", tmp_path / "got.pcap"
    expected = packets(given)
    left, right = wire
    if tool == "trafgen":
        frame = tmp_path / "frame.cfg"
        frame.write_text("{ " + ", ".join(f"0x{byte:02x}" for byte in expected[0]) + " }")
        expected = 40 * expected[:1]
        command = inside(left, "trafgen", "--dev", left, "--conf", str(frame), "--num", "40", "--cpus", "1")
    else:
        command = inside(left, "tcpreplay", "-q", "-i", left, "--pps", "5000", str(given))
    process = capture(right, got)
    subprocess.run(command, check=True, capture_output=True, timeout=30)
    stop(process)
    assert [f for f in frames_of(got) if f in expected] == expected


def test_af_xdp_sends_the_same(wire: tuple[str, str], tmp_path: Path) -> None:
    given, got = tmp_path / "given.pcap", tmp_path / "got.pcap"
    expected = packets(given)
    process = capture(wire[1], got)
    try:
        generate(wire[0], "--pcap", str(given), "--rate", "5k", backend="af_xdp")
    finally:
        stop(process)
    assert [f for f in frames_of(got) if f in expected] == expected


def dpdk(device: str, *words: str) -> dict[str, object]:
    """What `generate` says of its one stream on a DPDK device, which must leave no folder behind."""
    need("dpdk-testpmd")
    line = [sys.executable, "-m", "flowgauge", "generate", "--port", f"dpdk:{device}", "--json", *words]
    process = start(line)
    out, err = process.communicate(timeout=60)
    if process.returncode == 3:
        pytest.skip(err.strip())
    assert not Path(f"/run/dpdk/flowgauge-{process.pid}").exists()
    found: dict[str, object] = json.loads(out)["streams"][0]
    return found


def test_dpdk_sends_into_nothing() -> None:
    assert dpdk("net_null0", "--count", "10000")["sent"] == 10_000


def test_a_dpdk_device_may_hear_itself() -> None:
    found = dpdk("net_ring0", "--receive", "dpdk:net_ring0", "--rate", "10k", "--count", "500")
    assert (found["sent"], found["received"], found["lost"]) == (500, 500, 0)


def test_dpdk_finds_an_interface_in_its_namespace(wire: tuple[str, str]) -> None:
    assert (
        dpdk(f"net_af_packet0,iface={wire[0]}", "--netns", wire[0], "--rate", "1k", "--count", "10")["sent"]
        == 10
    )


def test_dpdk_says_that_its_interface_is_not_there() -> None:
    need("dpdk-testpmd")
    process = start(
        [sys.executable, "-m", "flowgauge", "generate", "--port", "dpdk:net_af_packet0,iface=fg-none"]
    )
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3
    if "can't be used" in err:
        pytest.skip(err.strip())
    assert 'there is no interface "fg-none"; there are: lo' in err


def test_sender_and_receiver_in_one_command(wire: tuple[str, str]) -> None:
    left, right = wire
    found = generate(left, "--receive", f"af_packet:{right}@{right}", "--rate", "5k", "--count", "200")
    assert (found["sent"], found["received"], found["lost"]) == (200, 200, 0)
    plain = generate(
        left, "--receive", f"af_packet:{right}@{right}", "--count", "20", "--rate", "1k", "--size", "1518"
    )
    assert (plain["received"], plain["lost"]) == (20, 0)


def test_a_snaplen_cuts_frames_and_keeps_their_lengths(wire: tuple[str, str], tmp_path: Path) -> None:
    file = tmp_path / "a.pcapng"
    process = capture(wire[1], file, "--snaplen", "50", "--count", "20")
    generate(wire[0], "--size", "512", "--rate", "5k", "--count", "20")
    assert process.wait(30) == 0
    found = _core.read_capture(str(file))
    assert {len(found[i]) for i in range(len(found))} == {50}
    assert found.cut == 20


def test_a_full_disk_leaves_a_whole_file(wire: tuple[str, str], tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(small)], check=True)
    try:
        file = small / "a.pcapng"
        process = capture(wire[1], file)
        generate(wire[0], "--size", "1000", "--rate", "20k", "--count", "4000")
        out, err = process.communicate(timeout=30)
        assert process.returncode == 3
        assert f"flowgauge: {file}: can't be written any more: No space left on device" in err
        found = _core.read_capture(str(file))
        assert found.broken is None
        assert 500 < len(found) < 1100
        assert f"It holds {len(found)} frames, all of them whole." in err
        read = int(re.search(r"^(\d+) frames,", out, re.M)[1])  # type: ignore[index]
        assert (
            f"missing in the file, which could not be written to its end: {read - len(found)} frames" in out
        )
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_closed_pipe_is_a_clear_message(wire: tuple[str, str]) -> None:
    process = start(flowgauge("capture", "af_packet", wire[1], "-w", "-", "--quiet"))
    assert process.stdout is not None
    os.read(process.stdout.fileno(), 28)
    process.stdout.close()
    generate(wire[0], "--rate", "5k", "--count", "100")
    assert process.stderr is not None
    err = process.stderr.read()
    assert process.wait(30) == 3
    assert "-: can't be written any more: Broken pipe" in err


def test_an_interface_that_goes_down_ends_both(wire: tuple[str, str], tmp_path: Path) -> None:
    left, right = wire
    file = tmp_path / "a.pcapng"
    capturing = capture(right, file)
    generating = start(flowgauge("generate", "af_packet", left, "--rate", "1k"))
    assert generating.stderr is not None
    assert generating.stderr.readline().startswith("stream 1")
    time.sleep(0.3)
    ip("-n", right, "link", "set", right, "down")
    for process in (capturing, generating):
        _, err = process.communicate(timeout=30)
        assert process.returncode == 1
        assert "went down" in err
    found = _core.read_capture(str(file))
    assert found.broken is None
    assert len(found) > 0


def test_what_cannot_be_had_is_said() -> None:
    for command in ("generate", "capture"):
        process = start([sys.executable, "-m", "flowgauge", command, "--port", "af_packet:fg-none"])
        _, err = process.communicate(timeout=30)
        assert process.returncode == 3
        assert 'flowgauge: there is no interface "fg-none"' in err


@pytest.mark.parametrize("backend", ["af_packet", "af_xdp"])
def test_what_the_benchmarks_sender_in_the_kernel_sends_are_our_probes(
    backend: str, wire: tuple[str, str], tmp_path: Path
) -> None:
    need("ethtool")
    subprocess.run(inside(wire[1], "ethtool", "-K", wire[1], "gro", "on"), check=True)
    process = capture(wire[1], tmp_path / "a.pcap", "--probes", "--json", backend=backend)
    sender = inside(wire[0], sys.executable, "-m", "bench.kernel_sender", wire[0], "0.5", "20000")
    sent = int(subprocess.run(sender, capture_output=True, text=True, check=True, cwd=ROOT).stdout)
    (probes,) = json.loads(stop(process))["probes"]
    assert (probes["received"], probes["lost"], probes["reordered"]) == (sent, 0, 0)
    assert 1000 < sent <= 10_001
    (first, *_, last) = _core.read_capture(str(tmp_path / "a.pcap")).times_ns
    assert last - first > 100_000_000
