"""What a feature test works with: rules as text, frames with what should become of each, single messages, and evidence.

Rules are in ovs-ofctl's syntax; `{1}`, `{2}`, `{3}` stand for the OpenFlow numbers of the ports that the tester's ports are
cabled to.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flowgauge import _core
from flowgauge.errors import ChannelError, FlowgaugeError, RejectedError
from flowgauge.features import evidence, frames
from flowgauge.features.feature import Mismatch, NotApplicable
from flowgauge.features.frames import Frame
from flowgauge.testbed.interface import Arrival, Control, FeatureTestbed

QUIET_S = 0.04
"""How long nothing may come once everything expected came."""
LIMIT_S = 2.0
"""How long frames may take."""
PER_FRAME_S = 0.01
"""More patience for each frame of many: every one may be of a flow that the switch has not seen yet."""
SILENCE_S = 0.25
"""How long to listen where nothing should come."""
EVENT_S = 2.0
"""How long a message that the switch owes us may take."""


@dataclass(frozen=True)
class Probe:
    """A frame to send into port `port`, and what should come of it: `out` (port, frame), and whether it is punted.

    `punted`: the frame that a PACKET_IN should hold, None: none should come. Ports are the tester's, counted from 1.
    """

    port: int
    frame: Frame
    out: tuple[tuple[int, Frame], ...] = ()
    punted: Frame | None = None


def through(port: int, frame: Frame, *ports: int, to: Frame | None = None) -> Probe:
    """A probe that should leave by those ports, changed to `to` if that is given."""
    return Probe(port, frame, tuple((p, to or frame) for p in ports))


@dataclass
class _Done:
    """What was asked of the switch, for evidence."""

    rules: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


class Tester:
    """One feature test's hands on the testbed."""

    __test__ = False  # pytest: its name says nothing about tests of ours

    def __init__(self, testbed: FeatureTestbed, seed: int = 1) -> None:
        self.testbed = testbed
        self.control: Control = testbed.control
        self.version = testbed.control.version
        self._done = _Done()
        self._random = random.Random(seed)
        self._undo: list[Callable[[], object]] = []
        self.last_sent: list[bytes] = []

    # Rules

    def text(self, template: str) -> str:
        """The text with port numbers put in."""
        return template.format("", *(port.of_port for port in self.testbed.ports))

    def flows(self, *templates: str) -> None:
        """Add flow entries. Raises RejectedError with the switch's error."""
        texts = [self.text(t) for t in templates]
        self._done.rules += texts
        self._asked(self.control.add_flows, *texts)

    def group(self, template: str) -> None:
        """Add a group."""
        self._done.rules.append("group: " + self.text(template))
        self._asked(self.control.add_group, self.text(template))

    def meter(self, template: str) -> None:
        """Add a meter."""
        self._done.rules.append("meter: " + template)
        self._asked(self.control.add_meter, template)

    def request(self, kind: str, body: Any = None, timeout_s: float = 5.0) -> list[Any]:
        """Send one message; the bodies of its replies."""
        try:
            replies = self._asked(self.control.request, {kind: body}, timeout_s)
        except ChannelError as error:
            if type(error) is not ChannelError:
                raise
            # What can't be encoded is a mistake of the test; what can't be decoded is one of the switch.
            _core.encode_message(json.dumps({kind: body}), self.version)
            raise self.mismatch(f"the reply to {kind} can't be read: {error.message}") from None
        return [content(reply)[1] for reply in replies]

    def statistics(self, kind: str, body: Any = None) -> list[Any]:
        """The entries of a multipart reply, or the one that there is."""
        request: Any = kind if body is None else {kind: body}
        found: list[Any] = []
        for reply in self.request("multipart_request", {"body": request}):
            part = reply["body"]
            part = part[kind] if isinstance(part, Mapping) else part
            found.extend(part if isinstance(part, list) else [part])
        return found

    def refuses(self, what: str, action: Callable[[], object], *names: str) -> str:
        """The switch must refuse it with an error of one of these names ("OVERLAP"); gives the error."""
        try:
            action()
        except RejectedError as error:
            if names and not any(_plain(name) in _plain(error.message) for name in names):
                raise self.mismatch(
                    f"{what} was refused with {error.message}, not {' or '.join(names)}"
                ) from None
            return error.message
        raise self.mismatch(
            f"{what} was not refused; the specification wants {' or '.join(names) or 'an error'}"
        )

    # Frames

    def exchange(self, *probes: Probe, punts: bool = False, wait_s: float | None = None) -> list[Arrival]:
        """Send the probes; all must behave. `punts`: PACKET_INs are checked, too. Raises Mismatch with the evidence."""
        nonce = self._random.getrandbits(32)
        sent = [(p.port - 1, p.frame.to_bytes(frames.payload(nonce, n))) for n, p in enumerate(probes)]
        expected = [
            (port - 1, frame.to_bytes(frames.payload(nonce, n)), n)
            for n, p in enumerate(probes)
            for port, frame in p.out
        ]
        self.testbed.settle()
        if punts:
            self.testbed.messages()
        limit_s = wait_s or (LIMIT_S if expected else SILENCE_S)
        found = self.testbed.exchange(sent, frames.mark(nonce), len(expected), QUIET_S, limit_s)
        problems = list(_compare(expected, found, nonce))
        if punts:
            problems += self._compare_punts(probes, nonce)
        if problems:
            raise self._wrong(problems, probes, sent)
        return found

    def _compare_punts(self, probes: Sequence[Probe], nonce: int) -> list[Problem]:
        wanted = Counter(
            p.punted.to_bytes(frames.payload(nonce, n)) for n, p in enumerate(probes) if p.punted
        )
        came = Counter(
            bytes.fromhex(body["data"])
            for body in self.events("packet_in", wanted.total(), EVENT_S if wanted else SILENCE_S)
            if frames.mark(nonce) in bytes.fromhex(body["data"])
        )
        absent, more = "never came in a PACKET_IN", "came unexpected in a PACKET_IN"
        return [
            *(Problem(absent, [f"{absent}: {evidence.summary(f)}"]) for f in wanted - came),
            *(Problem(more, [f"{more}: {evidence.summary(f)}"]) for f in came - wanted),
        ]

    def events(self, kind: str, enough: int = 1, timeout_s: float = EVENT_S) -> list[Any]:
        """Unasked messages of a kind, until there are `enough` (0: all that come within the time)."""
        found: list[Any] = []
        deadline = self.testbed.clock.now() + round(timeout_s * 1e9)
        while True:
            found += [body for name, body in map(content, self.testbed.messages()) if name == kind]
            if (enough and len(found) >= enough) or self.testbed.clock.now() >= deadline:
                return found
            self.testbed.clock.sleep(0.005)

    def send(self, port: int, frame: Frame, count: int) -> int:
        """Send frames that nobody waits for; gives the bytes of one, without FCS."""
        nonce = self._random.getrandbits(32)
        sent = [(port - 1, frame.to_bytes(frames.payload(nonce, n))) for n in range(count)]
        self.testbed.settle()
        self.testbed.exchange(sent, frames.mark(nonce), count, QUIET_S, SILENCE_S)
        return len(sent[0][1])

    def collect(
        self, port: int, sent: Sequence[Frame], limit_s: float | None = None
    ) -> list[tuple[int, bytes]]:
        """Send frames whose way is not known in advance; (port, bytes) of what came. `last_sent` holds what was sent."""
        nonce = self._random.getrandbits(32)
        self.last_sent = [frame.to_bytes(frames.payload(nonce, n)) for n, frame in enumerate(sent)]
        self.testbed.settle()
        found = self.testbed.exchange(
            [(port - 1, data) for data in self.last_sent],
            frames.mark(nonce),
            len(sent),
            QUIET_S,
            LIMIT_S + PER_FRAME_S * len(sent) if limit_s is None else limit_s,
        )
        return [(arrival.port + 1, arrival.frame) for arrival in found]

    def packet_out(
        self, frame: Frame, actions: Sequence[Any], *out: tuple[int, Frame], in_port: Any = "CONTROLLER"
    ) -> None:
        """Send a frame by PACKET_OUT; it must leave as `out` says (port, frame), and nowhere else."""
        nonce = self._random.getrandbits(32)
        data = frame.to_bytes(frames.payload(nonce, 0))
        body = {"in_port": in_port, "actions": list(actions), "data": data.hex()}
        self.testbed.settle()
        self.request("packet_out", body)
        expected = [(port - 1, to.to_bytes(frames.payload(nonce, 0)), 0) for port, to in out]
        limit_s = LIMIT_S if expected else SILENCE_S
        found = self.testbed.exchange([], frames.mark(nonce), len(expected), QUIET_S, limit_s)
        problems = list(_compare(expected, found, nonce))
        if problems:
            raise self._wrong(problems, [Probe(0, frame)], [])

    def output(self, port: int) -> dict[str, Any]:
        """An output action to a tester port, as messages have it."""
        return {"output": {"port": self.of(port)}}

    def of(self, port: int) -> int:
        """The OpenFlow number of the port that tester port `port` is cabled to."""
        return self.testbed.ports[port - 1].of_port

    # Judgement

    def settled(self, read: Callable[[], Any], key: object, value: object, timeout_s: float = 2.0) -> Any:
        """Read statistics until `key` is `value`, or the time is over; counters may lag behind the frames that they count."""
        deadline = self.testbed.clock.now() + round(timeout_s * 1e9)
        while True:
            self.testbed.settle()
            found = read()
            if found[key] == value or self.testbed.clock.now() >= deadline:
                return found
            self.testbed.clock.sleep(0.05)

    def bytes_of(self, what: str, found: int, count: int, size: int) -> None:
        """Raises Mismatch unless it is that many frames of that size; a switch may count the FCS or not."""
        self.check(
            found in (count * size, count * (size + 4)),
            f"{what} are {found}; expected {count * size} for {count} frames of {size} bytes ({count * (size + 4)} with FCS)",
        )

    def check(self, holds: bool, text: str) -> None:
        """Raises Mismatch with that text unless it holds."""
        if not holds:
            raise self.mismatch(text)

    def equal(self, what: str, found: object, expected: object) -> None:
        """Raises Mismatch unless both are equal."""
        self.check(found == expected, f"{what} is {found}; expected {expected}")

    def mismatch(self, text: str) -> Mismatch:
        """The switch does not behave: with the rules and the flow dump."""
        return Mismatch(text, [*self.asked_for(), *evidence.section("flow dump", self.flow_dump())])

    def not_applicable(self, why: str) -> NotApplicable:
        """The test can't be made here."""
        return NotApplicable(why)

    def asked_for(self) -> list[str]:
        """Rules and the switch's errors so far."""
        return [
            *evidence.section("rules", self._done.rules),
            *evidence.section("the switch's errors", self._done.errors),
        ]

    def flow_dump(self) -> list[str]:
        """The switch's flow entries, or why they can't be had."""
        try:
            return list(self.control.dump_flows())
        except FlowgaugeError as error:
            return [f"not to be had: {error.message}"]

    # Order

    def clear(self) -> None:
        """No entries, groups and meters."""
        self.control.delete_all()
        if self.version != "1.0":
            self.control.delete_groups()
            self.control.delete_meters()
        self._done = _Done()

    def afterwards(self, action: Callable[[], object]) -> None:
        """Do that at the end, whatever happens (a port is taken up again, a role given back)."""
        self._undo.append(action)

    def finish(self) -> None:
        """Undo what was to be undone, last first. Errors are left to the next test, which starts from a clean switch."""
        while self._undo:
            action = self._undo.pop()
            try:
                action()
            except FlowgaugeError as error:
                self._done.errors.append(f"while tidying up: {error.message}")

    def _asked(self, action: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return action(*arguments)
        except RejectedError as error:
            self._done.errors.append(error.message)
            raise

    def _wrong(
        self, problems: list[Problem], probes: Sequence[Probe], sent: Sequence[tuple[int, bytes]]
    ) -> Mismatch:
        lines: list[str] = self.asked_for()
        for problem in problems[: evidence.MOST]:
            if problem.index is not None and problem.index < len(sent):
                port, data = sent[problem.index]
                lines.append(f"sent into port {port + 1}: {evidence.summary(data)}")
                lines += (f"  {line}" for line in evidence.dump(data))
            lines += problem.lines
        if len(problems) > evidence.MOST:
            lines.append(f"and {len(problems) - evidence.MOST} more frames")
        lines += evidence.section("flow dump", self.flow_dump())
        kinds = ", ".join(f"{n} {short}" for short, n in Counter(p.short for p in problems).items())
        return Mismatch(f"of {len(probes)} frames {kinds}", lines)


@dataclass(frozen=True)
class Problem:
    """A frame that misbehaved: in a few words, how it shows, and which frame of those sent it came of."""

    short: str
    lines: list[str]
    index: int | None = None


def _compare(
    expected: Sequence[tuple[int, bytes, int]], found: Sequence[Arrival], nonce: int
) -> Iterator[Problem]:
    """What was expected and did not come, came and was not expected, or came changed. Ports count from 0."""
    wanted = Counter((port, frame, n) for port, frame, n in expected)
    for arrival in found:
        key = next(((p, f, n) for p, f, n in wanted if (p, f) == (arrival.port, arrival.frame)), None)
        if key is not None:
            wanted[key] -= 1
            if not wanted[key]:
                del wanted[key]
            continue
        n = frames.index_of(arrival.frame, nonce)
        pair = next((k for k in wanted if k[0] == arrival.port and k[2] == n), None)
        if pair is not None:
            wanted.subtract([pair])
            wanted += Counter()
            lines = list(evidence.different(arrival.port + 1, pair[1], arrival.frame))
            yield Problem(f"came changed at port {arrival.port + 1}", lines, n)
        else:
            lines = list(evidence.surplus(arrival.port + 1, arrival.frame))
            yield Problem(f"came unexpected at port {arrival.port + 1}", lines, n)
    for port, frame, n in wanted.elements():
        yield Problem(f"never came at port {port + 1}", list(evidence.missing(port + 1, frame)), n)


def content(message: Mapping[str, Any]) -> tuple[str, Any]:
    """Kind and body of a message as `flowgauge openflow decode` writes it.

    >>> content({"version": "1.3", "xid": 1, "barrier_reply": None})
    ('barrier_reply', None)
    """
    return next((k, v) for k, v in message.items() if k not in ("version", "xid", "time", "from", "to"))


def _plain(text: str) -> str:
    return "".join(c for c in text.upper() if c.isalnum())
