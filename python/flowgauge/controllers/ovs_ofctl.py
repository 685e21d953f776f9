"""Entries by the program ovs-ofctl: it opens a connection of its own to the switch for each call."""

from __future__ import annotations

import contextlib
import re
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from flowgauge.controllers.common import Lines, TextControl
from flowgauge.controllers.interface import Guard
from flowgauge.controllers.plays import PER_MESSAGE_S, TIMEOUT_S, CallPlay, Sent
from flowgauge.duts.host import call, need_tool
from flowgauge.duts.interface import TO_NOBODY, Leads, Wiring
from flowgauge.errors import (
    ControllerError,
    FlowgaugeError,
    NeverConnectedError,
    RejectedError,
    ReplyTimeoutError,
    UsageError,
    VersionMismatchError,
)
from flowgauge.testbed.interface import Play

NAME = "ovs-ofctl"
PROTOCOLS = {"1.0": "OpenFlow10", "1.3": "OpenFlow13", "1.4": "OpenFlow14", "1.5": "OpenFlow15"}


class OvsOfctl:
    """The controller `ovs-ofctl`."""

    name = NAME

    def __init__(self) -> None:
        self._target = ""

    @property
    def leads(self) -> Leads:
        """Nobody needs to be connected: ovs-ofctl connects by itself."""
        return TO_NOBODY

    def check(self) -> None:
        """Raises MissingToolError when it is not installed."""
        need_tool(NAME)

    def control(self, wiring: Wiring, version: str, guard: Guard) -> OvsOfctlControl:
        """Tries whether ovs-ofctl reaches the switch. Raises UsageError when the DUT does not say where that is."""
        if wiring.ofctl is None:
            raise UsageError(
                "the DUT does not say where ovs-ofctl reaches it",
                advice='In its file: [control] ovs_ofctl = "tcp:10.0.0.1:6653", or connect = "10.0.0.1:6653".',
            )
        self._target = wiring.ofctl
        control = OvsOfctlControl(wiring.ofctl, version, guard)
        control.count_entries()
        return control

    def describe(self) -> Mapping[str, Any]:
        """Its version and the switch's address."""
        first = call([NAME, "--version"]).splitlines()[0]
        return {"name": NAME, "version": first.rpartition(" ")[2], "switch": self._target}


class OvsOfctlControl(TextControl):
    """The control path through ovs-ofctl."""

    name = NAME

    def __init__(self, target: str, version: str, guard: Guard) -> None:
        """`target` in ovs-ofctl's words: "unix:PATH", "tcp:HOST:PORT"."""
        super().__init__(version, guard)
        self._target = target

    def delete_all(self) -> None:
        """`ovs-ofctl del-flows`."""
        self._run("del-flows")

    def count_entries(self) -> int:
        """`ovs-ofctl dump-aggregate`."""
        said = self._run("dump-aggregate")
        found = re.search(r"flow_count=(\d+)", said)
        if found is None:
            raise ControllerError(f"ovs-ofctl dump-aggregate said: {said.strip() or 'nothing'}")
        return int(found[1])

    def describe(self) -> Mapping[str, Any]:
        """`ovs-ofctl dump-desc` and `show`."""
        return {
            **described(self._run("dump-desc"), self._run("show")),
            "openflow": self._version,
        }

    def add_flows(self, *flows: str) -> None:
        """`ovs-ofctl add-flows`, which waits for a barrier behind each."""
        self._batch("add", flows)

    def modify_flows(self, *flows: str, strict: bool = False) -> None:
        """`ovs-ofctl mod-flows`."""
        self._batch("modify_strict" if strict else "modify", flows)

    def delete_flows(self, *flows: str, strict: bool = False) -> None:
        """`ovs-ofctl del-flows`."""
        self._batch("delete_strict" if strict else "delete", flows)

    def dump_flows(self) -> list[str]:
        """`ovs-ofctl dump-flows`."""
        lines = self._run("dump-flows").splitlines()
        return [line.strip() for line in lines if "actions=" in line]

    def add_group(self, text: str) -> None:
        """`ovs-ofctl add-group`."""
        self._run("add-group", text)

    def modify_group(self, text: str) -> None:
        """`ovs-ofctl mod-group`."""
        self._run("mod-group", text)

    def delete_groups(self, text: str = "") -> None:
        """`ovs-ofctl del-groups`."""
        if self._version != "1.0":
            self._run("del-groups", *([text] if text else []))

    def add_meter(self, text: str) -> None:
        """`ovs-ofctl add-meter`."""
        self._run("add-meter", text)

    def modify_meter(self, text: str) -> None:
        """`ovs-ofctl mod-meter`."""
        self._run("mod-meter", text)

    def delete_meters(self, text: str = "") -> None:
        """`ovs-ofctl del-meter` or `del-meters`."""
        if self._version != "1.0":
            self._run("del-meters", *([text] if text else []))

    def _sending(self, command: str, lines: Lines) -> Play:
        run = _Call(self._argv("add-flows", "-"), _file(command, lines))

        def send(sent: Sent) -> None:
            try:
                run.finish(None)
                sent.done = len(lines)
            except RejectedError as error:
                sent.errors.append((0, 0, 0, error.message))

        return CallPlay(len(lines), send, run.kill)

    def _batch(self, command: str, lines: Sequence[str]) -> None:
        # A file may hold any command; so one way serves them all.
        self._run("add-flows", "-", stdin=_file(command, lines), messages=len(lines))

    def _run(self, command: str, *arguments: str, stdin: str = "", messages: int = 1) -> str:
        run = _Call(self._argv(command, *arguments), stdin)
        return self._guarded(lambda: run.finish(TIMEOUT_S + PER_MESSAGE_S * messages))

    def _argv(self, command: str, *arguments: str) -> list[str]:
        options = ["-O", PROTOCOLS[self._version], "--no-names"]
        return [need_tool(NAME), *options, command, self._target, *arguments]


class _Call:
    """One call of ovs-ofctl."""

    def __init__(self, argv: Sequence[str], stdin: str) -> None:
        self._argv = list(argv)
        self._stdin = stdin
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()
        self._killed = False

    def finish(self, timeout_s: float | None) -> str:
        """What it printed. Raises the error that what it said amounts to."""
        with self._lock:
            if self._killed:
                return ""
            self._process = subprocess.Popen(
                self._argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        with self._process as process:
            try:
                out, said = process.communicate(self._stdin, timeout_s)
            except subprocess.TimeoutExpired:
                process.kill()
                raise ReplyTimeoutError(
                    f"`{self._words()}` did not end within {timeout_s:g} s",
                    advice="check that the switch still answers",
                ) from None
        if process.returncode != 0 and not self._killed:
            raise error_of(self._words(), said or out)
        return out

    def kill(self) -> None:
        """End it."""
        with self._lock:
            self._killed = True
            if self._process is not None:
                with contextlib.suppress(ProcessLookupError):
                    self._process.kill()

    def _words(self) -> str:
        return " ".join([NAME, *self._argv[1:]])


def error_of(command: str, said: str) -> FlowgaugeError:
    """The error of the catalogue for what ovs-ofctl said when it failed.

    >>> error_of("ovs-ofctl add-flow", "OFPT_ERROR (OF1.3) (xid=0x6): OFPFMFC_TABLE_FULL").name
    'rejected'
    """
    said = said.strip() or "nothing"
    refusal = re.search(r"OFPT_ERROR[^:]*: (\w+)", said)
    if refusal is not None:
        error = RejectedError(
            f"the switch refused what ovs-ofctl sent: {refusal[1]}",
            advice="The switch does not support this, or its table is full.",
        )
        error.reason = refusal[1]
        return error
    if "version negotiation failed" in said:
        return VersionMismatchError(
            f"`{command}` failed: {_last(said)}", advice="choose a version that the switch speaks: --openflow"
        )
    if re.search(
        r"failed to connect|Connection refused|No such file|not a bridge or a socket|timed out", said
    ):
        return NeverConnectedError(
            f"ovs-ofctl does not reach the switch: {_last(said)}",
            advice="check that the switch runs, and listens where its file says (`ptcp:`)",
        )
    return ControllerError(
        f"`{command}` failed, saying: {said}", advice="`ovs-ofctl --help` lists what this version can do."
    )


def described(desc: str, show: str) -> dict[str, Any]:
    """The switch's description from what `dump-desc` and `show` print."""
    keys = {
        "manufacturer": r"Manufacturer: (.*)",
        "hardware": r"Hardware: (.*)",
        "software": r"Software: (.*)",
        "serial_number": r"Serial Num: (.*)",
        "datapath": r"DP Description: (.*)",
    }
    found: dict[str, Any] = {k: m[1].strip() for k, p in keys.items() if (m := re.search(p, desc))}
    for key, pattern in (
        ("datapath_id", r"dpid:([0-9a-f]+)"),
        ("tables", r"n_tables:(\d+)"),
        ("buffers", r"n_buffers:(\d+)"),
        ("capabilities", r"capabilities: (.*)"),
    ):
        if m := re.search(pattern, show):
            found[key] = int(m[1]) if key in ("tables", "buffers") else m[1].strip()
    ports = re.findall(r"^ (\d+)\((.*?)\): addr:([0-9a-f:]+)", show, re.MULTILINE)
    found["ports"] = [{"of_port": int(number), "name": name, "mac": mac} for number, name, mac in ports]
    return found


def _file(command: str, lines: Sequence[str]) -> str:
    return "".join(f"{command} {line}\n" for line in lines)


def _last(said: str) -> str:
    return said.splitlines()[-1].removeprefix("ovs-ofctl: ")
