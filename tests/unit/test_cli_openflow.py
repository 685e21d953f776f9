"""`flowgauge openflow decode` and `encode`, with good and broken input."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from captures import ACK, CONTROLLER, SWITCH, SYN, Connection, frame, pcap, pcapng
from test_cli import ROOT, flowgauge

from flowgauge._core import decode_message, encode_message
from flowgauge.errors import ChannelError, UsageError
from golden import check

FLOW = "priority=10,udp,nw_dst=10.0.0.1,tp_dst=53 actions=mod_nw_ttl:3,output:2"


def message(xid: int, body: dict[str, Any], version: str = "1.3") -> bytes:
    return encode_message(json.dumps({"xid": xid, **body}), version)


HELLO = message(1, {"hello": {"elements": [{"version_bitmap": [0x12]}]}})
ECHOES = [message(xid, {"echo_request": "ab" * xid}) for xid in range(2, 12)]


def decode(data: bytes | str, *options: str) -> tuple[list[dict[str, Any]], int]:
    """The lines that come out of standard input, and the exit code."""
    done = run(data, *options)
    return [json.loads(line) for line in done.stdout.decode().splitlines()], done.returncode


def run(data: bytes | str, *options: str) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run(
        [sys.executable, "-m", "flowgauge", "openflow", "decode", *options],
        input=data.encode() if isinstance(data, str) else data,
        capture_output=True,
        cwd=ROOT / "python",
        timeout=60,
        check=False,
    )
    assert done.stderr == b"" or done.returncode == 2, done.stderr
    return done


def xids(lines: list[dict[str, Any]]) -> list[int]:
    return [line["xid"] for line in lines if "xid" in line]


def whole() -> list[bytes]:
    """A connection from its start to its end: HELLOs, then echo requests from the controller."""
    tcp = Connection()
    return [
        *tcp.open(),
        *tcp.send(SWITCH, HELLO),
        *tcp.send(CONTROLLER, HELLO),
        *tcp.send(CONTROLLER, b"".join(ECHOES), 13),
        *tcp.close(),
    ]


@pytest.mark.parametrize("command", [(), ("decode",), ("encode",)])
def test_help(command: tuple[str, ...]) -> None:
    text = flowgauge("openflow", *command, "--help").stdout
    words = re.sub(r"\s*<list\[\w+\]>|\s*\[\d*<=?x<=?\d*\]|\s*\[x>=\d\]", "", text)
    check(
        f"help_openflow{'_'.join(('', *command))}.txt",
        "\n".join(" ".join(line.split()) for line in words.splitlines()) + "\n",
    )


def test_help_does_not_need_the_core() -> None:
    code = "import sys; from flowgauge.cli.app import build; build(['openflow']); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT / "python", check=True
    )
    assert not {"flowgauge._core", "numpy", "pydantic"} & set(done.stdout.split())


def test_what_is_encoded_is_decoded() -> None:
    done = flowgauge("openflow", "encode", "--flow", FLOW, "--flow", "delete table=1")
    assert (done.returncode, done.stderr) == (0, "")
    lines, code = decode(done.stdout)
    assert code == 0
    assert [line["flow_mod"]["command"] for line in lines] == ["add", "delete"]
    assert lines[0]["flow_mod"]["match"]["ipv4_dst"] == "10.0.0.1"
    again = "\n".join(json.dumps(line) for line in lines)
    back = subprocess.run(
        [sys.executable, "-m", "flowgauge", "openflow", "encode"],
        input=again, capture_output=True, text=True, cwd=ROOT / "python", check=True,
    )  # fmt: skip
    assert back.stdout == done.stdout
    text = run(done.stdout, "-f", "text").stdout.decode()
    assert text.splitlines()[0] == f"OFPT_FLOW_MOD (OF1.3) (xid=0x1): ADD {FLOW}"


def test_lines_that_can_not_be_encoded(tmp_path: Path) -> None:
    file = tmp_path / "messages"
    file.write_text(
        '# a comment\n\n{"xid": 1, "barrier_request": null}\n{"flow_mod": {"prio": 1}}\n{"xid": 1\nudp actions=fly\n'
        '{"version": "1.0", "group_mod": {}}\nactions=drop\n'
    )
    done = flowgauge("openflow", "encode", str(file))
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) == 2
    check("openflow_encode_errors.txt", done.stderr)


def test_bindings_say_what_is_wrong() -> None:
    assert encode_message('{"xid": 5, "barrier_request": null}', "1.3") == bytes.fromhex("0414000800000005")
    assert json.loads(decode_message(bytes.fromhex("0414000800000005"))[1]) == {
        "xid": 5,
        "barrier_request": None,
    }
    with pytest.raises(UsageError, match="unknown variant"):
        encode_message('{"xid": 5, "barier_request": null}', "1.3")
    with pytest.raises(UsageError, match="an OpenFlow version is"):
        encode_message('{"xid": 5, "barrier_request": null}', "2.0")
    with pytest.raises(ChannelError, match=r"1\.0 can't express"):
        encode_message('{"group_mod": {}}', "1.0")
    with pytest.raises(ChannelError, match="bad length at byte 2"):
        decode_message(bytes.fromhex("0414000900000005"))


def test_hexadecimal_with_mistakes_goes_on() -> None:
    text = f"{HELLO.hex(' ')}\n04 02 zz\n0402000800000001 0402000800000002\n04020009\n0463000800000003\n\n"
    lines, code = decode(text)
    assert code == 1
    assert xids(lines) == [1, 1, 2, 3]
    errors = [line for line in lines if "error" in line]
    assert errors[0] == {"line": 2, "error": 'column 7: expected bytes in hexadecimal, found "zz"'}
    assert errors[1]["line"] == 4
    assert errors[1]["offset"] == 0
    assert errors[1]["bytes"] == "04020009"


def test_a_connection_is_put_together() -> None:
    for data in (pcap(whole()), pcapng(whole())):
        lines, code = decode(data)
        assert code == 0
        assert xids(lines) == list(range(1, 2)) + list(range(1, 12))
        assert (lines[0]["from"], lines[0]["to"]) == ("10.0.0.2:40000", "10.0.0.1:6653")
        assert lines[0]["time"] == pytest.approx(1000.002)


def test_the_text_of_a_capture() -> None:
    check("openflow_decode.txt", run(pcap(whole()[:8]), "-f", "text").stdout.decode())


def test_segments_may_be_late_and_repeated() -> None:
    frames = whole()
    data = frames[4:-2]
    mixed = [*frames[:4], *data[3::-1], *data[2:6], *data[1:], *frames[-2:]]
    lines, code = decode(pcap(mixed))
    assert (xids(lines), code) == ([1, *range(1, 12)], 0)


def test_a_capture_that_starts_in_mid_stream() -> None:
    lines, code = decode(pcap(whole()[6:]))
    assert code == 1, "the first message is cut"
    assert "mid-stream" in lines[0]["note"]
    assert "left out" in lines[1]["error"]
    assert xids(lines)[-1] == 11
    clean, code = decode(pcap([frame(CONTROLLER, SWITCH, 99, message) for message in ECHOES[:1]]))
    assert (code, len(clean)) == (0, 2)


def test_lost_segments_are_told_and_messages_found_again() -> None:
    tcp = Connection()
    frames = tcp.open() + [f for echo in [HELLO, *ECHOES] for f in tcp.send(CONTROLLER, echo)]
    lines, code = decode(pcap(frames[:5] + frames[6:]))
    assert code == 1
    assert xids(lines) == [1, 2, 3, *range(5, 12)]
    assert "12 bytes are missing" in next(line["error"] for line in lines if "error" in line)


def test_cut_packets_are_told() -> None:
    tcp = Connection()
    frames = tcp.open() + [f for echo in ECHOES for f in tcp.send(CONTROLLER, echo)]
    lines, code = decode(pcap(frames, snaplen=14 + 20 + 20 + 14))
    assert code == 1
    assert xids(lines) == [2, 3, 4, 5, 6]
    assert "missing" in lines[-1]["error"] or "within a message" in lines[-1]["error"]


def test_garbage_in_a_connection() -> None:
    tcp = Connection()
    frames = [*tcp.open(), *tcp.send(CONTROLLER, HELLO + b"GET / HTTP/1.0"), *tcp.send(CONTROLLER, ECHOES[0])]
    lines, code = decode(pcap(frames))
    assert (xids(lines), code) == ([1, 2], 1)
    assert lines[1]["error"].startswith("not OpenFlow: unsupported version at byte 0")
    assert lines[1]["bytes"] == b"GET / HTTP/1.0".hex()
    tls = Connection()
    lines, _ = decode(pcap([*tls.open(), *tls.send(SWITCH, bytes.fromhex("16030100e1010000dd0303"))]))
    assert "TLS" in lines[0]["error"]


def test_other_ports_and_addresses() -> None:
    ends = (("2001:db8::1", 40000), ("2001:db8::2", 5555))
    tcp = Connection(*ends)
    frames = [
        *tcp.open(),
        *tcp.send(ends[0], HELLO),
        *tcp.send(ends[1], HELLO),
        *tcp.send(ends[1], ECHOES[0]),
    ]
    lines, code = decode(pcap(frames))
    assert (xids(lines), code) == ([1, 1, 2], 0)
    assert lines[0]["from"] == "[2001:db8::1]:40000"
    silent = pcap([frame(("10.0.0.1", 5555), SWITCH, 1, ECHOES[0])])
    lines, code = decode(silent)
    assert code == 1
    assert "none of the capture's 1 TCP segments is OpenFlow's" in lines[0]["error"]
    lines, code = decode(silent, "--port", "5555")
    assert xids(lines) == [2]


def test_vlan_tags_and_a_connection_that_is_opened_again() -> None:
    frames = [frame(SWITCH, CONTROLLER, 10, flags=SYN, vlan=7), frame(SWITCH, CONTROLLER, 11, HELLO, vlan=7)]
    again = [frame(SWITCH, CONTROLLER, 5000, flags=SYN), frame(SWITCH, CONTROLLER, 5001, ECHOES[0])]
    lines, code = decode(pcap(frames + again))
    assert (xids(lines), code) == ([1, 2], 0)


@pytest.mark.parametrize("cut", [10, 24, 30, 300])
def test_truncated_files(cut: int) -> None:
    for data in (pcap(whole()), pcapng(whole())):
        lines, code = decode(data[:cut])
        if len(lines) == 1 and "no TCP segments" in lines[0]["error"]:
            continue
        assert code == 1
        assert "ends within" in lines[-1]["error"] or "damaged" in lines[-1]["error"], (cut, lines)


def test_damaged_files() -> None:
    good = pcap(whole())
    lines, code = decode(good[:32] + b"\xff" * 4 + good[36:])
    assert code == 1
    assert "error" in lines[-1]


@pytest.mark.parametrize(
    "data", [b"\x7fELF\x02\x01\x01\x00\x00\x00", b"\x1f\x8b\x08\x00abc", b"\xa1\xb2\xc3\xd5" + bytes(40)]
)
def test_files_that_are_something_else(data: bytes) -> None:
    lines, code = decode(data)
    assert code == 1
    assert lines[0]["error"].startswith("expected a pcap or pcapng file, or bytes in hexadecimal")


def test_input_that_can_not_be_read(tmp_path: Path) -> None:
    for name in ("missing.pcap", "."):
        done = flowgauge("openflow", "decode", str(tmp_path / name))
        assert done.returncode == 2
        assert "can't be read" in done.stderr
    assert flowgauge("openflow", "encode", str(tmp_path / "missing")).returncode == 2
    assert flowgauge("openflow", "encode", "--flow", FLOW, "file").returncode == 2
    assert decode("") == ([], 0)


def test_a_live_capture_comes_line_by_line() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "flowgauge", "openflow", "decode"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT / "python",
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    data = pcap(whole())
    process.stdin.write(data[:400])
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["xid"] == 1
    process.stdin.write(data[400:])
    process.stdin.close()
    assert len(process.stdout.read().splitlines()) == 11
    process.stdout.close()
    assert process.wait(10) == 0


def test_a_large_capture_takes_little_time_and_memory(tmp_path: Path) -> None:
    echo = ECHOES[0]
    body = echo * 100
    frames = [frame(CONTROLLER, SWITCH, 1 + i * len(body), body, ACK) for i in range(3000)]
    file = tmp_path / "large.pcap"
    file.write_bytes(pcap(frames))
    code = (
        "import re, sys\nfrom flowgauge._core import OpenflowDecoder\n"
        "d = OpenflowDecoder(sys.argv[1], False, [])\nn = sum(t.count(chr(10)) for t in d)\n"
        # Not ru_maxrss, which begins with what the parent held.
        "held = re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())\n"
        "print(n, d.messages, int(held[1]) // 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(file)],
        capture_output=True,
        text=True,
        cwd=ROOT / "python",
        check=True,
    )
    lines, messages, mebibytes = map(int, done.stdout.split())
    assert (lines, messages) == (300_001, 300_000)
    assert mebibytes < 120


def test_structures() -> None:
    """The frames of these tests are as long as they say."""
    assert struct.unpack_from("!H", frame(SWITCH, CONTROLLER, 1, b"abc"), 16)[0] == 43


def test_the_example_in_the_documentation(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "reference" / "openflow-json.md").read_text()
    session = re.search(r"```console\n(.*?)```", page, re.DOTALL)
    assert session is not None
    printed = ""
    for line in session[1].splitlines(keepends=True):
        if line.startswith("$ "):
            shell = f'flowgauge() {{ PYTHONPATH="{ROOT / "python"}" "{sys.executable}" -m flowgauge "$@"; }}\n{line[2:]}'
            done = subprocess.run(shell, shell=True, capture_output=True, text=True, cwd=tmp_path, check=True)
            printed += line + done.stdout
    assert printed == session[1]
    example = re.search(r"```json\n(.*?)```", page, re.DOTALL)
    assert example is not None
    version, text = decode_message(encode_message(example[1], "1.3"))
    assert version == "1.3"
    assert json.loads(text)["flow_mod"]["instructions"][0]["apply_actions"][1] == {"output": {"port": 2}}
