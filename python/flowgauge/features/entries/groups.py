"""Groups of all four types, chains, failover, changes, statistics, and what must be refused (1.3.5, 5.6, 6.7)."""

from __future__ import annotations

from collections import Counter
from typing import Any

from flowgauge.features.entries.ports import set_down
from flowgauge.features.feature import Feature, since
from flowgauge.features.frames import UDP
from flowgauge.features.scenarios import Case, rows
from flowgauge.features.tester import Probe, Tester, through

NEW, LATE = since("1.3"), since("1.5")
TO = UDP.changed(ipv4_dst="10.1.2.4")
INTO = "in_port={1},actions=group:1"
BATCH = 50
FLOWS = [UDP.changed(udp_src=1024 + n, ipv4_src=0x0A000001 + 7 * n) for n in range(200)]


def select(tester: Tester) -> str:
    """Each frame leaves by one bucket, and many flows use them all; frames of a flow keep their bucket."""
    tester.group("group_id=1,type=select,bucket=output:{2},bucket=output:{3}")
    tester.flows(INTO)
    shares = scatter(tester, [f for f in FLOWS for _ in (1, 2)])
    tester.check(min(shares[2], shares[3]) > 0, f"all {len(FLOWS)} flows left by one bucket: {dict(shares)}")
    return f"{shares[2]} and {shares[3]} of {2 * len(FLOWS)} frames by the two buckets"


def weights(tester: Tester) -> str:
    """Weights 1 and 3 share flows about so: the light bucket gets more than 10 % and less than 40 %."""
    tester.group("group_id=1,type=select,bucket=weight:1,output:{2},bucket=weight:3,output:{3}")
    tester.flows(INTO)
    shares = scatter(tester, FLOWS)
    light = shares[2] / len(FLOWS)
    tester.check(
        0.1 < light < 0.4, f"weights 1 and 3 gave the first bucket {100 * light:.0f} % of {len(FLOWS)} flows"
    )
    return f"the bucket of weight 1 in 4 got {100 * light:.0f} % of {len(FLOWS)} flows"


def scatter(tester: Tester, sent: list[Any]) -> Counter[int]:
    """Send frames that may leave by any port but once and unchanged; how many left by which."""
    shares: Counter[int] = Counter()
    # Not faster than a switch may learn new flows: what is tested is not its speed.
    for at in range(0, len(sent), BATCH):
        found = tester.collect(1, sent[at : at + BATCH])
        tester.equal("the number of frames that came", len(found), len(tester.last_sent))
        tester.check(sorted(f for _, f in found) == sorted(tester.last_sent), "frames came changed or twice")
        shares.update(port for port, _ in found)
    return shares


def failover(tester: Tester) -> None:
    """The first live bucket counts: the first, the second while the first's port is down, the first again."""
    tester.group("group_id=1,type=ff,bucket=watch_port:{2},output:{2},bucket=watch_port:{3},output:{3}")
    tester.flows(INTO)
    tester.exchange(through(1, UDP, 2))
    set_down(tester, 2, True)
    tester.exchange(through(1, UDP, 3))
    set_down(tester, 2, False)
    tester.exchange(through(1, UDP, 2))


def nobody_live(tester: Tester) -> None:
    """Without a live bucket frames are dropped."""
    tester.group("group_id=1,type=ff,bucket=watch_port:{2},output:{3}")
    tester.flows(INTO)
    set_down(tester, 2, True)
    tester.exchange(Probe(1, UDP))
    set_down(tester, 2, False)
    tester.exchange(through(1, UDP, 3))


def modify(tester: Tester) -> None:
    """The group's entries use its new buckets at once."""
    tester.group("group_id=1,type=all,bucket=output:{2}")
    tester.flows(INTO)
    tester.exchange(through(1, UDP, 2))
    tester.control.modify_group(tester.text("group_id=1,type=indirect,bucket=output:{3}"))
    tester.exchange(through(1, UDP, 3))


def delete(tester: Tester) -> None:
    """Entries that use a deleted group go with it; others stay."""
    tester.group("group_id=1,type=all,bucket=output:{2}")
    tester.flows(INTO, "in_port={2},actions=output:{1}")
    tester.control.delete_groups("group_id=1")
    tester.equal("the number of entries left", tester.control.count_entries(), 1)
    tester.exchange(Probe(1, UDP), through(2, UDP, 1))


def statistics(tester: Tester) -> None:
    """Frames and bytes of the group and of each bucket, exact, and how many entries refer to it."""
    tester.group("group_id=1,type=all,bucket=output:{2},bucket=output:{3}")
    tester.flows(INTO)
    size = tester.send(1, UDP, 7)
    found = tester.settled(lambda: tester.statistics("group", 1)[0], "packet_count", 7)
    tester.equal("the group's id", found["group_id"], 1)
    tester.equal("the group's frames", found["packet_count"], 7)
    tester.bytes_of("the group's bytes", found["byte_count"], 7, size)
    tester.equal("the buckets' frames", [b["packet_count"] for b in found["buckets"]], [7, 7])
    tester.equal("the entries that refer to the group", found["ref_count"], 1)


def description(tester: Tester) -> None:
    """GROUP_DESC gives types and buckets as they were installed."""
    tester.group("group_id=1,type=all,bucket=output:{2},bucket=output:{3}")
    tester.group("group_id=2,type=indirect,bucket=output:{2}")
    found = sorted(tester.statistics("group_desc", 0xFFFFFFFC), key=lambda g: g["group_id"])
    shape = [(g["group_id"], str(g["group_type"]).lower(), len(g["buckets"])) for g in found]
    tester.equal("the groups (id, type, buckets)", shape, [(1, "all", 2), (2, "indirect", 1)])
    ports = [b["actions"][0]["output"]["port"] for b in found[0]["buckets"]]
    tester.equal("the buckets' ports", ports, [tester.of(2), tester.of(3)])


def abilities(tester: Tester) -> str:
    """GROUP_FEATURES names the required types."""
    found = tester.statistics("group_features")[0]
    tester.check(found["types"] & 0b101 == 0b101, f"types {found['types']:#x} lack all (1) or indirect (4)")
    return f"types {found['types']:#x}, at most {found['max_groups']}"


def unknown(tester: Tester) -> str:
    """An entry can't name a group that is not there."""
    return tester.refuses(
        "an entry to a group that is not there", lambda: tester.flows(INTO), "BAD_OUT_GROUP"
    )


def twice(tester: Tester) -> str:
    """A group can't be added twice."""
    tester.group("group_id=1,type=all,bucket=output:{2}")
    again = "group_id=1,type=all,bucket=output:{3}"
    return tester.refuses("a group added twice", lambda: tester.group(again), "GROUP_EXISTS")


def absent(tester: Tester) -> str:
    """A group that is not there can't be modified."""
    text = tester.text("group_id=1,type=all,bucket=output:{2}")
    return tester.refuses(
        "a change of a group that is not there", lambda: tester.control.modify_group(text), "UNKNOWN_GROUP"
    )


def loop(tester: Tester) -> str:
    """Groups that name each other in a circle are refused, by switches that check (1.3.5, 6.7)."""
    tester.group("group_id=1,type=indirect,bucket=output:{2}")
    tester.group("group_id=2,type=indirect,bucket=group:1")
    capabilities = tester.statistics("group_features")[0]["capabilities"]
    if "chaining_checks" not in {str(flag).lower() for flag in capabilities}:
        raise tester.not_applicable(
            "the switch says that it checks no circles (GROUP_FEATURES), and need not"
        )
    return tester.refuses(
        "a circle of groups",
        lambda: tester.control.modify_group("group_id=1,type=indirect,bucket=group:2"),
        "LOOP",
        "CHAINING_UNSUPPORTED",
        "GROUP_MOD_FAILED",
    )


def insert_bucket(tester: Tester) -> None:
    """1.5: a bucket is added behind the others, then removed by its id."""
    tester.group("group_id=1,type=all,bucket=bucket_id:1,output:{2}")
    tester.flows(INTO)
    second = {"bucket_id": 2, "actions": [tester.output(3)]}
    change = {"group_type": "all", "group_id": 1}
    tester.request(
        "group_mod",
        change | {"command": "insert_bucket", "command_bucket_id": 0xFFFFFFFE, "buckets": [second]},
    )
    tester.exchange(through(1, UDP, 2, 3))
    tester.request("group_mod", change | {"command": "remove_bucket", "command_bucket_id": 1})
    tester.exchange(through(1, UDP, 3))


def row(
    name: str, text: str, test: Any, needed: bool = False, ports: int = 2, request: bool = False
) -> Feature:
    """A row of this group."""
    needs = ("request",) if request else ()
    return Feature("group", name, text, test, NEW, frozenset(NEW if needed else ()), ports=ports, needs=needs)


FEATURES: tuple[Feature, ...] = (
    *rows(
        (
            Case(
                "group",
                "all",
                "all: a copy by every bucket",
                (INTO,),
                (through(1, UDP, 2, 3),),
                NEW,
                NEW,
                groups=("group_id=1,type=all,bucket=output:{2},bucket=output:{3}",),
                ports=3,
            ),
            Case(
                "group",
                "all.changed",
                "all: each bucket changes its own copy",
                ("in_port={1},ip,actions=group:1",),
                (Probe(1, UDP, ((2, TO), (3, UDP.changed(nw_ttl=63)))),),
                NEW,
                NEW,
                groups=(
                    "group_id=1,type=all,bucket=set_field:10.1.2.4->ip_dst,output:{2},bucket=dec_ttl,output:{3}",
                ),
                ports=3,
            ),
            Case(
                "group",
                "all.behind",
                "all: what follows the group in a list sees the frame unchanged",
                ("in_port={1},ip,actions=group:1,output:{3}",),
                (Probe(1, UDP, ((2, TO), (3, UDP))),),
                NEW,
                NEW,
                groups=("group_id=1,type=all,bucket=set_field:10.1.2.4->ip_dst,output:{2}",),
                ports=3,
            ),
            Case(
                "group",
                "all.empty",
                "all: without buckets frames are dropped",
                (INTO,),
                (Probe(1, UDP),),
                NEW,
                NEW,
                groups=("group_id=1,type=all",),
            ),
            Case(
                "group",
                "all.arrival",
                "all: a bucket to the port of arrival sends nothing back",
                (INTO,),
                (through(1, UDP, 2),),
                NEW,
                NEW,
                groups=("group_id=1,type=all,bucket=output:{1},bucket=output:{2}",),
            ),
            Case(
                "group",
                "indirect",
                "indirect: the one bucket",
                (INTO,),
                (through(1, UDP, 2),),
                NEW,
                NEW,
                groups=("group_id=1,type=indirect,bucket=output:{2}",),
            ),
            Case(
                "group",
                "chain",
                "a bucket that leads to another group",
                ("in_port={1},ip,actions=group:3",),
                (Probe(1, UDP, ((2, TO), (3, TO))),),
                NEW,
                groups=(
                    "group_id=1,type=all,bucket=output:{2},bucket=output:{3}",
                    "group_id=3,type=indirect,bucket=set_field:10.1.2.4->ip_dst,group:1",
                ),
                ports=3,
            ),
            Case(
                "group",
                "write_actions",
                "a group in the action set counts instead of its output",
                ("in_port={1},actions=write_actions(group:1,output:{3})",),
                (through(1, UDP, 2),),
                NEW,
                NEW,
                groups=("group_id=1,type=indirect,bucket=output:{2}",),
                ports=3,
            ),
        )
    ),
    row("select", "select: one bucket for each flow, all buckets over many", select, ports=3),
    row("select.weights", "select: weights share the flows", weights, ports=3),
    row("failover", "fast failover: a port taken down and up again", failover, ports=3, request=True),
    row("failover.none", "fast failover: no live bucket drops", nobody_live, ports=3, request=True),
    row("modify", "a modified group takes effect", modify, True, ports=3),
    row("delete", "deleting a group deletes the entries that use it", delete, True),
    row("statistics", "group statistics: exact counters", statistics, ports=3, request=True),
    row("description", "group descriptions", description, True, ports=3, request=True),
    row("features", "group features", abilities, True, request=True),
    row("unknown", "an entry to an unknown group is refused", unknown, True),
    row("exists", "a second group of one id is refused", twice, True),
    row("absent", "modifying an unknown group is refused", absent, True),
    row("loop", "a circle of groups is refused", loop, request=True),
    Feature(
        "group",
        "buckets",
        "1.5: insert and remove a bucket",
        insert_bucket,
        LATE,
        frozenset(LATE),
        ports=3,
        needs=("request",),
    ),
)
