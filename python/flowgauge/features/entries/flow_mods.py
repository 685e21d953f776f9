"""FLOW_MOD: add, modify, delete, overlap, flags, cookies, timeouts, FLOW_REMOVED (1.3.5, 6.4-6.6; 1.0.0, 4.6, 5.3.3)."""

from __future__ import annotations

from typing import Any

from flowgauge.features.feature import VERSIONS, Feature, since
from flowgauge.features.frames import ARP, TCP, UDP
from flowgauge.features.tester import Probe, Tester, through

ALL, NEW = VERSIONS, since("1.3")
FIRST, SECOND = UDP.changed(udp_dst=1001), UDP.changed(udp_dst=1002)
TWO = ("in_port={1},udp,tp_dst=1001,actions=output:{2}", "in_port={1},udp,tp_dst=1002,actions=output:{2}")


def counted(tester: Tester, **match: Any) -> list[dict[str, Any]]:
    """Flow statistics of the entries within a match."""
    return tester.statistics("flow", {"match": match})


def replaced(tester: Tester) -> None:
    """Adding an entry with match and priority of another replaces it."""
    tester.flows("in_port={1},actions=output:{2}", "in_port={1},actions=output:{3}")
    tester.equal("the number of entries", tester.control.count_entries(), 1)
    tester.exchange(through(1, UDP, 3))


def overlap(tester: Tester) -> str:
    """With CHECK_OVERLAP an entry that overlaps another of its priority is refused; one of another priority is not."""
    tester.flows("priority=5,udp,actions=output:{2}")
    tester.flows("check_overlap,priority=6,in_port={1},actions=output:{3}")
    error = tester.refuses(
        "an overlapping entry",
        lambda: tester.flows("check_overlap,priority=5,in_port={2},actions=output:{3}"),
        "OVERLAP",
    )
    tester.equal("the number of entries", tester.control.count_entries(), 2)
    return error


def overlap_ignored(tester: Tester) -> None:
    """Without the flag overlapping entries may be."""
    tester.flows("priority=5,udp,actions=output:{2}", "priority=5,in_port={1},actions=output:{2}")
    tester.equal("the number of entries", tester.control.count_entries(), 2)
    tester.exchange(through(1, UDP, 2), through(1, ARP, 2))


def modify(tester: Tester) -> None:
    """A loose modify changes every entry within its match, and no other; it adds none (since 1.1)."""
    tester.flows(*TWO, "in_port={1},tcp,actions=output:{2}")
    tester.control.modify_flows(tester.text("udp,actions=output:{3}"))
    tester.exchange(through(1, FIRST, 3), through(1, SECOND, 3), through(1, TCP, 2))
    tester.equal("the number of entries", tester.control.count_entries(), 3)


def modify_strict(tester: Tester) -> None:
    """A strict modify changes the one entry with its match and priority."""
    tester.flows(*TWO, "priority=9,in_port={1},udp,tp_dst=1001,actions=drop")
    tester.control.modify_flows(tester.text("in_port={1},udp,tp_dst=1001,actions=output:{3}"), strict=True)
    tester.exchange(through(1, FIRST, 3), through(1, SECOND, 2))


def modify_absent(tester: Tester) -> None:
    """A modify that matches no entry adds none, and is no error."""
    tester.control.modify_flows(tester.text("in_port={1},actions=output:{2}"))
    tester.equal("the number of entries", tester.control.count_entries(), 0)


def modify_adds(tester: Tester) -> None:
    """1.0: a modify that matches no entry adds one."""
    tester.control.modify_flows(tester.text("in_port={1},actions=output:{2}"))
    tester.equal("the number of entries", tester.control.count_entries(), 1)
    tester.exchange(through(1, UDP, 2))


def modify_keeps(tester: Tester) -> None:
    """A modify keeps the entry's counters."""
    tester.flows("in_port={1},actions=output:{2}")
    tester.send(1, UDP, 5)
    tester.settled(lambda: counted(tester)[0], "packet_count", 5)
    tester.control.modify_flows(tester.text("in_port={1},actions=output:{3}"))
    tester.equal("the entry's frames after the modify", counted(tester)[0]["packet_count"], 5)


def reset_counts(tester: Tester) -> None:
    """RESET_COUNTS: a modify sets the counters to 0."""
    tester.flows("in_port={1},actions=output:{2}")
    tester.send(1, UDP, 5)
    tester.settled(lambda: counted(tester)[0], "packet_count", 5)
    tester.control.modify_flows(tester.text("reset_counts,in_port={1},actions=output:{2}"))
    tester.equal("the entry's frames after the modify", counted(tester)[0]["packet_count"], 0)
    tester.send(1, UDP, 3)
    found = tester.settled(lambda: counted(tester)[0], "packet_count", 3)
    tester.equal("the entry's frames after 3 more", found["packet_count"], 3)


def delete(tester: Tester) -> None:
    """A loose delete removes every entry within its match, and no other."""
    tester.flows(*TWO, "in_port={1},tcp,actions=output:{2}")
    tester.control.delete_flows("udp")
    tester.equal("the number of entries", tester.control.count_entries(), 1)
    tester.exchange(Probe(1, FIRST), Probe(1, SECOND), through(1, TCP, 2))


def delete_strict(tester: Tester) -> None:
    """A strict delete removes the one entry with its match and priority."""
    tester.flows(*TWO, "priority=9,in_port={1},udp,tp_dst=1001,actions=output:{3}")
    tester.control.delete_flows(tester.text("priority=9,in_port={1},udp,tp_dst=1001"), strict=True)
    tester.equal("the number of entries", tester.control.count_entries(), 2)
    tester.exchange(through(1, FIRST, 2), through(1, SECOND, 2))


def delete_by_port(tester: Tester) -> None:
    """A delete with out_port removes entries that output there, and no others."""
    tester.flows("udp,actions=output:{2}", "tcp,actions=output:{3}", "arp,actions=drop")
    tester.control.delete_flows(tester.text("out_port={2}"))
    tester.equal("the number of entries", tester.control.count_entries(), 2)
    tester.exchange(Probe(1, UDP), through(1, TCP, 3))


def cookies(tester: Tester) -> None:
    """Statistics give cookies back; modify and delete go by cookie and mask."""
    tester.flows("cookie=0x17,udp,actions=output:{2}", "cookie=0x27,tcp,actions=output:{2}")
    found = sorted(int(str(f["cookie"]), 0) for f in counted(tester))
    tester.equal("the cookies", found, [0x17, 0x27])
    tester.control.modify_flows(tester.text("cookie=0x10/0xf0,actions=output:{3}"))
    tester.exchange(through(1, UDP, 3), through(1, TCP, 2))
    tester.control.delete_flows("cookie=0x10/0xf0")
    tester.exchange(Probe(1, UDP), through(1, TCP, 2))


def uncounted(flag: str, counter: str, other: str) -> Any:
    """An entry that does not count, beside one that does."""

    def test(tester: Tester) -> str:
        tester.flows(f"{flag},in_port={{1}},actions=output:{{2}}", "in_port={2},actions=output:{1}")
        size = tester.send(1, UDP, 4)
        tester.send(2, UDP, 4)
        first, second = tester.of(1), tester.of(2)
        kept = tester.settled(lambda: counted(tester, in_port=second)[0], "packet_count", 4)
        tester.equal("the counting entry's frames", kept["packet_count"], 4)
        found = counted(tester, in_port=first)[0]
        flags = {str(f).upper() for f in found["flags"]}
        tester.check(
            flag.upper() in flags, f"the entry's flags are {sorted(flags)}; {flag.upper()} is not among them"
        )
        return f"{counter} {found[counter]}, {other} {found[other]} after 4 frames of {size} bytes"

    return test


def removed(tester: Tester, reason: str, timeout_s: float) -> dict[str, Any]:
    """The FLOW_REMOVED that must come, checked for its reason and priority."""
    found = tester.events("flow_removed", 1, timeout_s)
    tester.check(bool(found), f"no FLOW_REMOVED came within {timeout_s:g} s")
    tester.equal("its reason", str(found[0]["reason"]).lower(), reason)
    tester.equal("its priority", found[0]["priority"], 77)
    tester.equal("its cookie", int(str(found[0]["cookie"]), 0), 0x4242)
    return dict(found[0])


def removed_by_delete(tester: Tester) -> None:
    """SEND_FLOW_REM: a deletion is told with exact counters; an entry without the flag goes silently."""
    tester.flows(
        "send_flow_rem,priority=77,cookie=0x4242,in_port={1},actions=output:{2}",
        "in_port={2},actions=output:{1}",
    )
    size = tester.send(1, UDP, 6)
    tester.settled(lambda: counted(tester, in_port=tester.of(1))[0], "packet_count", 6)
    tester.testbed.messages()
    tester.control.delete_all()
    found = removed(tester, "delete", 2)
    tester.equal("its frames", found["packet_count"], 6)
    tester.bytes_of("its bytes", found["byte_count"], 6, size)
    tester.equal("further FLOW_REMOVEDs", len(tester.events("flow_removed", 0, 0.2)), 0)


def hard_timeout(tester: Tester) -> str:
    """An entry goes a second after it was added, though frames hit it; FLOW_REMOVED says so."""
    return _timeout(tester, "hard_timeout")


def idle_timeout(tester: Tester) -> str:
    """An entry goes a second after the last frame that hit it; FLOW_REMOVED says so."""
    return _timeout(tester, "idle_timeout")


def _timeout(tester: Tester, kind: str) -> str:
    tester.testbed.messages()
    tester.flows(f"send_flow_rem,{kind}=1,priority=77,cookie=0x4242,in_port={{1}},actions=output:{{2}}")
    tester.exchange(through(1, UDP, 2))
    found = removed(tester, kind, 4)
    lasted = found["duration_sec"] + found["duration_nsec"] / 1e9
    tester.check(0.95 <= lasted <= 3.5, f"the entry lasted {lasted:.2f} s; its {kind} is 1 s")
    tester.exchange(Probe(1, UDP))
    return f"the entry lasted {lasted:.2f} s"


def idle_kept(tester: Tester) -> None:
    """Frames keep an entry with an idle timeout of 2 s for 3 s."""
    tester.flows("idle_timeout=2,in_port={1},actions=output:{2}")
    for _ in range(6):
        tester.testbed.clock.sleep(0.5)
        tester.exchange(through(1, UDP, 2))
    tester.equal("the number of entries", tester.control.count_entries(), 1)


def importance(tester: Tester) -> None:
    """1.4: an entry's importance is kept."""
    tester.flows("importance=7,in_port={1},actions=output:{2}")
    tester.equal("the importance", counted(tester)[0]["importance"], 7)


def row(name: str, text: str, test: Any, needed: tuple[str, ...] = (), **more: Any) -> Feature:
    """A row of this group."""
    return Feature("flow_mod", name, text, test, required=frozenset(needed), **more)


ASK = ("request",)
FEATURES: tuple[Feature, ...] = (
    row("add.replace", "adding an entry again replaces it", replaced, ALL, ports=3),
    row("add.overlap", "CHECK_OVERLAP refuses overlapping entries", overlap, ALL, ports=3),
    row("add.overlap_ignored", "without CHECK_OVERLAP overlapping entries may be", overlap_ignored, ALL),
    row("modify", "modify changes all entries within its match", modify, ALL, ports=3),
    row("modify.strict", "modify strict changes one entry", modify_strict, ALL, ports=3),
    row("modify.absent", "modify without a match adds nothing", modify_absent, NEW, versions=NEW),
    row("modify.add", "1.0: modify without a match adds the entry", modify_adds, ("1.0",), versions=("1.0",)),
    row("modify.counters", "modify keeps counters", modify_keeps, ALL, ports=3, needs=ASK),
    row("modify.reset_counts", "RESET_COUNTS sets counters to 0", reset_counts, NEW, versions=NEW, needs=ASK),
    row("delete", "delete removes all entries within its match", delete, ALL),
    row("delete.strict", "delete strict removes one entry", delete_strict, ALL, ports=3),
    row("delete.out_port", "delete by output port", delete_by_port, ALL, ports=3),
    row(
        "cookie",
        "cookies are kept; modify and delete by cookie",
        cookies,
        NEW,
        versions=NEW,
        ports=3,
        needs=ASK,
    ),
    row(
        "no_packet_counts",
        "NO_PACKET_COUNTS is taken and kept",
        uncounted("no_packet_counts", "packet_count", "byte_count"),
        versions=NEW,
        needs=ASK,
    ),
    row(
        "no_byte_counts",
        "NO_BYTE_COUNTS is taken and kept",
        uncounted("no_byte_counts", "byte_count", "packet_count"),
        versions=NEW,
        needs=ASK,
    ),
    row("removed.delete", "FLOW_REMOVED of a deletion, exact counters", removed_by_delete, ALL, needs=ASK),
    row("removed.hard", "hard timeout and its FLOW_REMOVED", hard_timeout, ALL, needs=ASK, seconds=3),
    row("removed.idle", "idle timeout and its FLOW_REMOVED", idle_timeout, ALL, needs=ASK, seconds=3),
    row("idle_timeout.kept", "frames keep an entry with an idle timeout", idle_kept, ALL, seconds=4),
    row("importance", "1.4: importance is kept", importance, versions=since("1.4"), needs=ASK),
)
