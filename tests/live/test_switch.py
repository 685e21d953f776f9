"""`flowgauge switch` between real interfaces: its own life, `ovs-ofctl`, and what it says when it can't."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from switch_bed import PYTHON_PATH, Bed, Program, bed, eventually

pytestmark = pytest.mark.live

AT = "tcp:127.0.0.1:6653"
WAITING = ("--controller", "ptcp:6653:127.0.0.1")
VERSIONS = ["OpenFlow10", "OpenFlow13", "OpenFlow14", "OpenFlow15"]
SINCE_13 = VERSIONS[1:]
SINCE_14 = VERSIONS[2:]


@pytest.fixture(scope="module")
def whole() -> Iterator[Bed]:
    with bed(3) as it:
        yield it


@pytest.fixture
def made(whole: Bed) -> Iterator[Bed]:
    """Three hosts; whatever a test starts ends with it."""
    yield whole
    whole.close()


@pytest.fixture
def table(made: Bed) -> Iterator[Bed]:
    """A switch that waits for ovs-ofctl, without entries."""
    program = made.switch(*WAITING)
    program.wait_for("^listening: ptcp:6653")
    yield made
    assert program.stop() == 0, program.said()


def entries(it: Bed, version: str) -> list[str]:
    dump = it.ofctl("--no-stats", "dump-flows", AT, version=version)
    return [line.strip() for line in dump.splitlines() if "actions=" in line]


@pytest.mark.parametrize("version", VERSIONS)
def test_shows_itself(table: Bed, version: str) -> None:
    show = table.ofctl("show", AT, version=version)
    assert "n_buffers:256" in show
    assert "3(s3): addr:" in show
    assert f"n_tables:{1 if version == 'OpenFlow10' else 255}" in show
    assert "Flowgauge" in table.ofctl("dump-desc", AT, version=version)
    assert "flowgauge switch" in table.ofctl("dump-desc", AT, version=version)
    assert table.ofctl("dump-ports", AT, version=version).count("rx pkts=") == 3
    assert table.ofctl("dump-ports", AT, "2", version=version).count("rx pkts=") == 1
    assert table.ofctl("dump-ports-desc", AT, version=version).count("addr:") == 3
    assert "table 0" in table.ofctl("dump-tables", AT, version=version)
    assert "normal" in table.ofctl("get-frags", AT, version=version)
    table.ofctl("set-frags", AT, "drop", version=version)
    assert "drop" in table.ofctl("get-frags", AT, version=version)
    table.ofctl("probe", AT, version=version)
    assert "bytes from" in table.ofctl("ping", AT, version=version)


@pytest.mark.parametrize("version", VERSIONS)
def test_entries_come_change_and_go(table: Bed, version: str, tmp_path: Path) -> None:
    dns = "priority=7,udp,nw_dst=10.0.0.0/8,tp_dst=53"
    table.ofctl("add-flow", AT, f"{dns},actions=mod_nw_src:1.2.3.4,output:2", version=version)
    table.ofctl("add-flow", AT, "cookie=0x5,in_port=1,dl_vlan=5,actions=strip_vlan,output:3", version=version)
    assert len(entries(table, version)) == 2
    table.ofctl("mod-flows", AT, "in_port=1,dl_vlan=5,actions=output:2", version=version)
    assert any(
        "cookie=0x5" in e or ("in_port=" in e and e.endswith("output:2")) for e in entries(table, version)
    )
    assert "flow_count=2" in table.ofctl("dump-aggregate", AT, version=version)
    table.ofctl("--strict", "del-flows", AT, dns, version=version)
    assert len(entries(table, version)) == 1
    flows = "\n".join(
        f"priority={n},ip,nw_dst=10.1.{n // 250}.{n % 250},actions=output:2" for n in range(1, 501)
    )
    table.ofctl("replace-flows", AT, "-", version=version, text=flows)
    assert len(entries(table, version)) == 500
    (tmp_path / "flows").write_text(flows)
    assert table.ofctl("diff-flows", AT, str(tmp_path / "flows"), version=version) == ""
    table.ofctl("del-flows", AT, version=version)
    assert entries(table, version) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_frames_follow_entries_and_are_counted(table: Bed, version: str) -> None:
    assert not table.ping(1, 2, count=1)
    for one, other in ((1, 2), (2, 1)):
        table.ofctl("add-flow", AT, f"in_port={one},actions=output:{other}", version=version)
    table.reaches(1, 2)
    dump = table.ofctl("dump-flows", AT, version=version)
    assert "n_packets=0" not in dump
    table.ofctl("del-flows", AT, version=version)
    table.ofctl("add-flow", AT, "actions=normal", version=version)
    table.reaches(1, 3)
    table.reaches(2, 3)


@pytest.mark.parametrize("version", VERSIONS)
def test_ports_can_be_changed(table: Bed, version: str) -> None:
    table.ofctl("add-flow", AT, "actions=normal", version=version)
    table.reaches(1, 2)
    table.ofctl("mod-port", AT, "2", "no-forward", version=version)
    assert "NO_FWD" in table.ofctl("dump-ports-desc", AT, version=version)
    assert not table.ping(1, 2, count=1)
    table.ofctl("mod-port", AT, "s2", "forward", version=version)
    table.reaches(1, 2)
    table.ofctl("mod-port", AT, "s2", "down", version=version)
    assert "PORT_DOWN" in table.ofctl("show", AT, version=version)
    assert not table.ping(1, 2, count=1)
    table.ofctl("mod-port", AT, "s2", "up", version=version)
    table.reaches(1, 2)


@pytest.mark.parametrize("version", VERSIONS)
def test_sends_packets_out_and_in(table: Bed, version: str) -> None:
    monitor = table.monitor(AT, "65534", version=version)
    frame = "ffffffffffff0200000000010806" + "00" * 46
    table.ofctl("add-flow", AT, "in_port=3,actions=CONTROLLER:128", version=version)
    table.ofctl("add-flow", AT, "in_port=2,actions=output:1", version=version)
    table.ofctl("packet-out", AT, f"in_port=2,packet={frame},actions=TABLE", version=version)
    assert "n_packets=1" in table.ofctl("dump-flows", AT, "in_port=2", version=version)

    def came() -> bool:
        table.ofctl("packet-out", AT, f"in_port=3,packet={frame},actions=TABLE", version=version)
        return any("PACKET_IN" in line for line in monitor.lines)

    eventually(came, monitor.said)
    assert monitor.stop() in (0, -signal.SIGTERM)


@pytest.mark.parametrize("version", SINCE_13)
def test_groups_and_meters(table: Bed, version: str) -> None:
    table.ofctl("add-group", AT, "group_id=1,type=all,bucket=output:2,bucket=output:3", version=version)
    failover = "group_id=2,type=ff,bucket=watch_port:2,output:2,bucket=watch_port:3,output:3"
    table.ofctl("add-group", AT, failover, version=version)
    table.ofctl("mod-group", AT, "group_id=1,type=indirect,bucket=output:2", version=version)
    groups = table.ofctl("dump-groups", AT, version=version)
    assert "group_id=1,type=indirect" in groups
    assert "group_id=2,type=ff" in groups
    table.ofctl("add-flow", AT, "in_port=1,actions=group:2", version=version)
    table.ofctl("add-flow", AT, "in_port=2,actions=output:1", version=version)
    table.reaches(1, 2)
    stats = table.ofctl("dump-group-stats", AT, "group_id=2", version=version)
    assert "ref_count=1" in stats
    assert "packet_count=0,byte_count=0,duration" not in stats
    assert "fast failover" in table.ofctl("dump-group-features", AT, version=version).lower()
    table.ofctl("del-groups", AT, version=version)
    assert "group_id" not in table.ofctl("dump-groups", AT, version=version)
    assert len(entries(table, version)) == 1, "entries go with their group"
    meter = "meter=1,pktps,burst,stats,bands=type=drop"
    table.ofctl("add-meter", AT, f"{meter},rate=1,burst_size=1", version=version)
    table.ofctl("mod-meter", AT, f"{meter},rate=2,burst_size=2", version=version)
    assert "rate=2" in table.ofctl("dump-meters", AT, version=version)
    table.ofctl("add-flow", AT, "in_port=1,actions=meter:1,output:2", version=version)
    assert not table.ping(1, 2, count=10)
    assert "flow_count:1" in table.ofctl("meter-stats", AT, version=version)
    if version != "OpenFlow15":  # ovs-ofctl 3.1 reads 1.5's longer reply as 1.3's
        assert "drop" in table.ofctl("meter-features", AT, version=version)
    table.ofctl("del-meters", AT, version=version)
    assert "meter=1" not in table.ofctl("dump-meters", AT, version=version)


@pytest.mark.parametrize("version", SINCE_13)
def test_bundles(table: Bed, version: str) -> None:
    flows = "\n".join(f"priority={n},actions=output:2" for n in range(1, 101))
    table.ofctl("--bundle", "add-flows", AT, "-", version=version, text=flows)
    assert len(entries(table, version)) == 100
    bad = "priority=200,actions=output:2\npriority=201,actions=group:77"
    said = table.ofctl("--bundle", "add-flows", AT, "-", version=version, text=bad, fails=True)
    assert "GROUP" in said
    assert len(entries(table, version)) == 100
    table.ofctl("--bundle", "replace-flows", AT, "-", version=version, text="actions=output:3")
    assert len(entries(table, version)) == 1
    mixed = "group add group_id=7,type=indirect,bucket=output:2\nflow add priority=9,actions=group:7"
    if version != "OpenFlow13":
        table.ofctl("bundle", AT, "-", version=version, text=mixed)
        assert len(entries(table, version)) == 2


@pytest.mark.parametrize("version", SINCE_13)
def test_tables(table: Bed, version: str) -> None:
    features = table.ofctl("dump-table-features", AT, version=version)
    assert "table 254" in features
    table.ofctl("add-flow", AT, "table=0,actions=goto_table:9", version=version)
    table.ofctl("add-flow", AT, "table=9,actions=normal", version=version)
    table.reaches(1, 2)
    if version in SINCE_14:
        table.ofctl("mod-table", AT, "3", "evict", version=version)
        table.ofctl("mod-table", AT, "4", "vacancy:20,80", version=version)
        told = table.ofctl("dump-table-desc", AT, version=version)
        assert "eviction=on" in told
        assert "vacancy=on" in told


@pytest.mark.parametrize("version", VERSIONS)
def test_queues(made: Bed, version: str) -> None:
    program = made.switch(*WAITING, "--queue", "1,max=1000", "--queue", "2,priority=1")
    through = "enqueue:2:2" if version == "OpenFlow10" else "set_queue:2,output:2"
    made.ofctl("add-flow", AT, f"in_port=1,actions={through}", version=version)
    made.ofctl("add-flow", AT, "in_port=2,actions=output:1", version=version)
    made.reaches(1, 2)
    stats = made.ofctl("queue-stats", AT, "2", version=version)
    assert "queue 2: bytes=" in stats
    assert "queue 2: bytes=0" not in stats
    limit = "queue 1" if version == "OpenFlow10" else "max_rate"
    assert limit in made.ofctl("queue-get-config", AT, "2", version=version)
    assert program.stop() == 0, program.said()


def test_a_lost_link_is_told(made: Bed) -> None:
    program = made.switch(*WAITING)
    monitor = made.monitor(AT)
    program.wait_for("^connected: tcp:127.0.0.1")
    down, up = (["ip", "-n", made.namespace, "link", "set", "s3", way] for way in ("down", "up"))
    subprocess.run(down, check=True)
    program.wait_for(r"^port 3 \(s3\): link down")
    subprocess.run(up, check=True)
    program.wait_for(r"^port 3 \(s3\): link up")
    eventually(lambda: sum("PORT_STATUS" in line for line in monitor.lines) >= 2, monitor.said)
    monitor.stop()
    program.wait_for("^disconnected: tcp:127.0.0.1")
    assert program.stop() == 0
    assert program.lines[-1] == "stopped"


def test_standalone_it_is_a_learning_switch(made: Bed) -> None:
    program = made.switch("--fail-mode", "standalone")
    program.wait_for("^standalone: ")
    made.reaches(1, 2)
    made.reaches(3, 1)
    assert program.stop() == 0


@pytest.mark.parametrize("version", SINCE_14)
def test_flow_monitors(table: Bed, version: str) -> None:
    table.ofctl("add-flow", AT, "priority=1,actions=output:1", version=version)
    # Without `!own`, ovs-ofctl asks for nothing but its own changes (OFPFMF_ONLY_OWN).
    monitor = table.monitor(AT, "watch:!own", version=version)
    monitor.wait_for("event=INITIAL")
    table.ofctl("add-flow", AT, "priority=2,actions=output:1", version=version)
    monitor.wait_for("event=ADDED")
    table.ofctl("mod-flows", AT, "actions=output:2", version=version)
    monitor.wait_for("event=MODIFIED")
    table.ofctl("del-flows", AT, version=version)
    monitor.wait_for("event=DELETED reason=delete")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_stop_it(made: Bed, number: signal.Signals) -> None:
    program = made.switch(*WAITING)
    program.process.send_signal(number)
    assert program.process.wait(10) == 0
    program.stop()
    assert program.lines[-1] == "stopped"


def failing(namespace: str, *options: str) -> Program:
    program = Program(namespace, [sys.executable, "-m", "flowgauge", "switch", *options])
    program.process.wait(20)
    program.stop()
    return program


def test_says_what_is_wrong(made: Bed) -> None:
    missing = failing(made.namespace, "--port", "nosuch")
    assert missing.process.returncode == 3
    assert "nosuch" in missing.lines[0]
    assert "s1" in missing.said(), "it names those that exist"
    for options in (
        ["--port", "s1=0"],
        ["--port", "s1", "--port", "s1"],
        ["--port", "s1", "--controller", "udp:1.2.3.4"],
        ["--port", "s1", "--openflow", "1.1"],
        ["--port", "s1", "--datapath-id", "zz"],
        ["--port", "s1", "--controller", "ssl:127.0.0.1"],
        ["--port", "s1", "--queue", "x"],
    ):
        wrong = failing(made.namespace, *options)
        assert wrong.process.returncode == 2, wrong.said()
    busy = made.start([sys.executable, "-c", HOLD_PORT])
    busy.wait_for("held")
    taken = failing(made.namespace, "--port", "s1", *WAITING)
    assert taken.process.returncode == 3
    assert "6653" in taken.lines[0]
    busy.stop()


HOLD_PORT = """
import socket, time
server = socket.create_server(("127.0.0.1", 6653))
print("held", flush=True)
time.sleep(60)
"""


def test_without_root_it_says_so(made: Bed) -> None:
    run = f"{sys.executable} -m flowgauge switch --port s1"
    done = subprocess.run(
        f"ip netns exec {made.namespace} setpriv --reuid=65534 --clear-groups -- {run}".split(),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(PYTHON_PATH)},
    )
    assert done.returncode == 3, done.stderr
    assert "root" in done.stderr or "CAP_NET_RAW" in done.stderr


def test_connects_again_and_again(made: Bed) -> None:
    program = made.switch("--controller", "tcp:127.0.0.1:6700")
    program.wait_for("^not connected: tcp:127.0.0.1:6700")
    greeter = made.start([sys.executable, "-c", GREET])
    program.wait_for("^connected: tcp:127.0.0.1:6700")
    greeter.stop()
    program.wait_for("^disconnected: tcp:127.0.0.1:6700")
    assert program.stop() == 0


GREET = """
import socket, time
server = socket.create_server(("127.0.0.1", 6700))
peer, _ = server.accept()
peer.sendall(bytes([4, 0, 0, 8, 0, 0, 0, 1]))
time.sleep(60)
"""


def test_speaks_tls_as_open_vswitch_does(made: Bed, tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    make = (
        f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test -keyout {key} -out {certificate}"
    )
    subprocess.run(make.split(), check=True, capture_output=True)
    files = f"--private-key={key} --certificate={certificate} --ca-cert={certificate}".split()
    program = made.switch("--controller", "pssl:6653:127.0.0.1", *files)
    show = made.ofctl(*files, "show", "ssl:127.0.0.1:6653")
    assert "dpid:" in show
    program.wait_for("^connected: ssl:127.0.0.1")
    assert program.stop() == 0
