"""Several tables, instructions, priorities, table misses (1.3.5, 5.1-5.9)."""

from __future__ import annotations

from flowgauge.features.feature import VERSIONS, Feature, since
from flowgauge.features.frames import ARP, TCP, UDP, UDP6, VLAN
from flowgauge.features.scenarios import Case, rows
from flowgauge.features.tester import Probe, Tester, through

NEW, LATE = since("1.3"), since("1.5")
SENT_TO = UDP.changed(ipv4_dst="10.1.2.4")


def backwards(tester: Tester) -> str:
    """A frame can only go to tables behind."""
    return tester.refuses(
        "goto_table to the same table",
        lambda: tester.flows("table=1,in_port={1},actions=goto_table:1"),
        "BAD_TABLE_ID",
        "BAD_INSTRUCTION",
        "BAD_ARGUMENT",
    )


def miss_to_controller(tester: Tester) -> None:
    """The table-miss entry punts with the reason for it; other frames are not punted."""
    tester.flows("priority=0,actions=CONTROLLER:65535", "in_port={2},actions=output:{1}")
    tester.exchange(Probe(1, UDP, punted=UDP), through(2, UDP, 1), Probe(1, ARP, punted=ARP), punts=True)


def miss_reason(tester: Tester) -> None:
    """The reason of a PACKET_IN tells a miss (no_match) from an action."""
    tester.flows("priority=0,actions=CONTROLLER:65535", "priority=9,udp,actions=CONTROLLER:65535")
    tester.testbed.messages()
    for frame, reason in ((ARP, "no_match"), (UDP, "action")):
        tester.send(1, frame, 1)
        found = tester.events("packet_in")
        tester.check(bool(found), f"no PACKET_IN came for {frame}")
        tester.equal("the PACKET_IN's reason", _word(found[0]["reason"]), reason)
        tester.equal("the PACKET_IN's in_port", found[0]["match"].get("in_port"), tester.of(1))


def old_miss(tester: Tester) -> None:
    """OpenFlow 1.0 punts what matches nothing, with the reason no_match."""
    tester.flows("in_port={2},actions=output:{1}")
    tester.control.set_miss_send_len(65535)
    tester.exchange(Probe(1, UDP, punted=UDP), through(2, UDP, 1), punts=True)


def _word(value: object) -> str:
    return str(value).lower()


FEATURES: tuple[Feature, ...] = (
    *rows(
        (
            Case(
                "pipeline",
                "priority",
                "of several entries that match, the one with the highest priority counts",
                (
                    "priority=10,ip,actions=output:{2}",
                    "priority=20,udp,actions=output:{3}",
                    "priority=5,in_port={1},actions=output:{1}",
                    "priority=30,tcp,tp_dst=99,actions=drop",
                ),
                (through(1, UDP, 3), through(1, TCP, 2), Probe(1, TCP.changed(tcp_dst=99)), Probe(1, ARP)),
                VERSIONS,
                VERSIONS,
                ports=3,
            ),
            Case(
                "pipeline",
                "priority.later",
                "an entry with a higher priority counts, whichever was added first",
                ("priority=20,udp,actions=output:{3}", "priority=10,ip,actions=output:{2}"),
                (through(1, UDP, 3), through(1, TCP, 2)),
                VERSIONS,
                VERSIONS,
                ports=3,
            ),
            Case(
                "pipeline",
                "miss",
                "without a table-miss entry, what matches nothing is dropped and not punted",
                ("in_port={2},actions=output:{1}",),
                (Probe(1, UDP), through(2, UDP, 1)),
                NEW,
                NEW,
                punts=True,
            ),
            Case(
                "pipeline",
                "miss.entry",
                "a table-miss entry handles what matches nothing",
                ("priority=0,actions=output:{2}", "priority=1,udp,actions=drop"),
                (through(1, TCP, 2), through(1, ARP, 2), Probe(1, UDP)),
                NEW,
                NEW,
            ),
            Case(
                "pipeline",
                "goto_table",
                "goto_table: the entry of the second table decides",
                (
                    "in_port={1},actions=goto_table:1",
                    "table=1,udp,actions=output:{2}",
                    "table=1,arp,actions=drop",
                ),
                (through(1, UDP, 2), Probe(1, ARP), Probe(1, TCP)),
                NEW,
                NEW,
            ),
            Case(
                "pipeline",
                "goto_table.far",
                "goto_table over three tables, each with actions of its own",
                (
                    "ip,actions=set_field:10.1.2.4->ip_dst,goto_table:1",
                    "table=1,ip,nw_dst=10.1.2.4,actions=output:{2},dec_ttl,goto_table:3",
                    "table=3,ip,actions=output:{3}",
                ),
                (Probe(1, UDP, ((2, SENT_TO), (3, SENT_TO.changed(nw_ttl=63)))),),
                NEW,
                ports=3,
            ),
            Case(
                "pipeline",
                "miss.later",
                "a miss in a later table drops, in spite of a table-miss entry in the first",
                (
                    "priority=0,actions=output:{2}",
                    "udp,actions=goto_table:1",
                    "table=1,tcp,actions=output:{2}",
                ),
                (Probe(1, UDP), through(1, TCP, 2)),
                NEW,
                NEW,
            ),
            Case(
                "instruction",
                "write_actions",
                "write_actions: done at the end of the pipeline",
                ("in_port={1},actions=write_actions(output:{2})",),
                (through(1, UDP, 2), through(1, ARP, 2)),
                NEW,
                NEW,
            ),
            Case(
                "instruction",
                "write_actions.merged",
                "write_actions of a later table replaces actions of the same kind",
                (
                    "ip,actions=write_actions(set_field:10.1.2.4->ip_dst,output:{2}),goto_table:1",
                    "table=1,udp,actions=write_actions(output:{3})",
                ),
                (through(1, UDP, 3, to=SENT_TO),),
                NEW,
                NEW,
                ports=3,
            ),
            Case(
                "instruction",
                "write_actions.order",
                "an action set is done in the specification's order, output last",
                ("ip,actions=write_actions(output:{2},set_field:10.1.2.4->ip_dst,dec_ttl)",),
                (through(1, UDP, 2, to=SENT_TO.changed(nw_ttl=63)),),
                NEW,
                NEW,
            ),
            Case(
                "instruction",
                "write_actions.set_fields",
                "an action set holds one set-field for each field",
                (
                    "udp,actions=write_actions(set_field:80->udp_dst,output:{2}),goto_table:1",
                    "table=1,udp,actions=write_actions(set_field:81->udp_dst,set_field:82->udp_src)",
                ),
                (through(1, UDP, 2, to=UDP.changed(udp_dst=81, udp_src=82)),),
                NEW,
                NEW,
            ),
            Case(
                "instruction",
                "clear_actions",
                "clear_actions empties the action set",
                (
                    "in_port={1},actions=write_actions(output:{2}),goto_table:1",
                    "table=1,udp,actions=clear_actions",
                    "table=1,arp,actions=clear_actions,write_actions(output:{3})",
                    "table=1,tcp,actions=drop",
                ),
                (Probe(1, UDP), through(1, ARP, 3), through(1, TCP, 2)),
                NEW,
                LATE,
                ports=3,
            ),
            Case(
                "instruction",
                "apply_actions",
                "apply_actions: done at once, and seen by the next table",
                (
                    "ip,actions=set_field:10.1.2.4->ip_dst,goto_table:1",
                    "table=1,ip,nw_dst=10.1.2.4,actions=output:{2}",
                    "table=1,priority=1,actions=output:{3}",
                ),
                (through(1, UDP, 2, to=SENT_TO),),
                NEW,
                ports=3,
            ),
            Case(
                "instruction",
                "apply_and_write",
                "apply_actions and write_actions in one entry: both are done",
                ("ip,actions=output:{3},write_actions(set_field:10.1.2.4->ip_dst,output:{2})",),
                (Probe(1, UDP, ((3, UDP), (2, SENT_TO))),),
                NEW,
                ports=3,
            ),
            Case(
                "instruction",
                "apply_push",
                "a tag pushed by apply_actions is matched by the next table",
                (
                    "in_port={1},actions=push_vlan:0x8100,set_field:4105->vlan_vid,goto_table:1",
                    "table=1,dl_vlan=9,actions=output:{2}",
                ),
                (
                    through(1, UDP, 2, to=UDP.pushed("vlan", vlan_vid=9)),
                    through(1, UDP6, 2, to=UDP6.pushed("vlan", vlan_vid=9)),
                ),
                NEW,
            ),
            Case(
                "instruction",
                "write_metadata",
                "write_metadata: matched by the next table",
                (
                    "udp,actions=write_metadata:0x1234,goto_table:1",
                    "arp,actions=write_metadata:0x4321,goto_table:1",
                    "table=1,metadata=0x1234,actions=output:{2}",
                    "table=1,metadata=0x4321,actions=output:{3}",
                ),
                (through(1, UDP, 2), through(1, ARP, 3)),
                NEW,
                ports=3,
            ),
            Case(
                "instruction",
                "write_metadata.masked",
                "write_metadata under a mask leaves the other bits",
                (
                    "actions=write_metadata:0x1200/0xff00,goto_table:1",
                    "table=1,actions=write_metadata:0x34/0xff,goto_table:2",
                    "table=2,metadata=0x1234,actions=output:{2}",
                ),
                (through(1, UDP, 2), through(1, VLAN, 2)),
                NEW,
            ),
        )
    ),
    Feature(
        "pipeline",
        "goto_table.backwards",
        "goto_table to a table in front is refused",
        backwards,
        NEW,
        frozenset(NEW),
    ),
    Feature(
        "pipeline",
        "miss.controller",
        "a table-miss entry to the controller",
        miss_to_controller,
        NEW,
        frozenset(NEW),
        needs=("request",),
    ),
    Feature(
        "pipeline",
        "miss.reason",
        "PACKET_INs tell a miss from an action, and the port",
        miss_reason,
        NEW,
        frozenset(NEW),
        needs=("request",),
    ),
    Feature(
        "pipeline",
        "miss.punt",
        "1.0: what matches nothing is punted",
        old_miss,
        ("1.0",),
        frozenset({"1.0"}),
        needs=("request",),
    ),
)
