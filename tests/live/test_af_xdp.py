"""AF_XDP ports from Python, on a veth pair: frames pass by one queue and by several, errors say what to do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping

import pytest
from live_helpers import ip, veth_of_queues

from flowgauge import _core
from flowgauge.errors import FlowgaugeError, InterfaceError, SetupError, UsageError

pytestmark = pytest.mark.live

PROGRAM = """
import json, sys
from flowgauge import _core
from flowgauge.errors import FlowgaugeError
try:
    _core.open_af_xdp("va", sys.argv[1])
    print(json.dumps(None))
except FlowgaugeError as error:
    print(json.dumps([type(error).__name__, error.message, error.advice]))
"""


@pytest.fixture
def space() -> Iterator[str]:
    """A namespace with the pair `va`, `vb`, each end with four queues."""
    with veth_of_queues(4) as name:
        try:
            _core.open_af_xdp("va", name).close()
        except SetupError as error:
            pytest.skip(f"no AF_XDP here: {error}")
        yield name


def _loop(space: str, **options: object) -> tuple[str, Mapping[str, int]]:
    """Frames from one end to the other: what the receiver is, and its counters."""
    ports = [_core.open_af_xdp("va", space), _core.open_af_xdp("vb", space, **options)]  # type: ignore[arg-type]
    try:
        rates, delay_ns, _ = _core.measure_loopback(ports, [64], core=None, trial_ns=20_000_000)
        assert [size for size, _ in rates] == [64]
        assert delay_ns > 0
        assert ports[1].timestamps() == "user transmit, user receive"
        return ports[1].describe(), ports[1].counters()
    finally:
        for port in ports:
            port.close()


@pytest.mark.parametrize(
    ("options", "became"),
    [
        ({}, "4 queues, native, copied"),
        ({"queues": 1}, "1 queue, native, copied"),
        ({"queues": 2, "busy_poll_us": 20}, "2 queues, native, copied, busy-polled"),
    ],
)
def test_frames_pass_and_are_counted(space: str, options: Mapping[str, int], became: str) -> None:
    name, counters = _loop(space, **options)
    assert name == f"af_xdp vb in {space} ({became})"
    assert counters["rx_frames"] >= 2000
    assert {"tx_frames", "rx_dropped", "fill_ring_empty", "rx_ring_full"} <= counters.keys()
    assert "xdp" not in ip(space, "link show vb"), "the program goes with the port"


def test_what_is_wrong_has_a_name_and_advice(space: str) -> None:
    def said(interface: str, **options: object) -> FlowgaugeError:
        with pytest.raises(FlowgaugeError) as caught:
            _core.open_af_xdp(interface, space, **options)  # type: ignore[arg-type]
        return caught.value

    assert isinstance(said("nope"), InterfaceError)
    assert isinstance(said("va", copy="maybe"), UsageError)
    impossible = said("va", copy="zero-copy")
    assert isinstance(impossible, SetupError)
    assert "zero-copy" in impossible.message
    assert impossible.advice
    holder = _core.open_af_xdp("va", space)
    busy = said("va")
    assert isinstance(busy, InterfaceError)
    assert "ip link set" in str(busy.advice)
    holder.close()


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv")
def test_a_limit_of_locked_memory_is_told(space: str) -> None:
    less = ["prlimit", "--memlock=1048576", "setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock"]
    done = subprocess.run(
        [*less, sys.executable, "-c", PROGRAM, space],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    kind, message, advice = json.loads(done.stdout)
    assert kind == "SetupError"
    assert "the limit is 1048576" in message
    assert "ulimit -l" in advice
