"""The connection itself: echo, barrier, features, configuration, roles, asynchronous messages, and errors for bad requests
(1.3.5, 6.3, 7.3.1, 7.3.8-7.3.10, 7.4.4; 1.0.0, 5.3, 5.4.4, 5.5).
"""

from __future__ import annotations

from typing import Any

from flowgauge.features.feature import VERSIONS, Feature, since
from flowgauge.features.frames import UDP
from flowgauge.features.tester import Probe, Tester, through

ALL, NEW = VERSIONS, since("1.3")
ROLE_MASTER, ROLE_SLAVE, ROLE_EQUAL = "primary", "secondary", "equal"


def echo(tester: Tester) -> None:
    """Payloads of 0, 1 and 1000 bytes come back unchanged."""
    for size in (0, 1, 1000):
        data = bytes(n & 0xFF for n in range(size)).hex()
        found = tester.request("echo_request", data)
        tester.equal(
            f"the replies to an echo of {size} bytes", [str(f).replace(" ", "") for f in found], [data]
        )


def barrier(tester: Tester) -> None:
    """An entry sent before a barrier is in effect when the reply comes; so is its deletion."""
    for _ in range(5):
        tester.flows("in_port={1},actions=output:{2}")
        tester.exchange(through(1, UDP, 2))
        tester.control.delete_all()
        tester.exchange(Probe(1, UDP))


def features(tester: Tester) -> str:
    """FEATURES_REPLY: a datapath id and at least one table."""
    found = tester.request("features_request")[0]
    tester.check(found["n_tables"] >= 1, "the switch says that it has no table")
    tester.check(int(str(found["datapath_id"]), 0) != 0, "the datapath id is 0")
    return f"{found['n_tables']} tables, {found['n_buffers']} buffers"


def config(tester: Tester) -> None:
    """GET_CONFIG gives what SET_CONFIG set."""
    before = tester.request("get_config_request")[0]["miss_send_len"]
    tester.afterwards(lambda: tester.control.set_miss_send_len(before))
    for length in (77, 65535):
        tester.control.set_miss_send_len(length)
        tester.equal("miss_send_len", tester.request("get_config_request")[0]["miss_send_len"], length)


def role(tester: Tester, name: str, generation: int) -> dict[str, Any]:
    """Ask for a role; the reply."""
    found = tester.request("role_request", {"role": name, "generation_id": f"{generation:#x}"})
    return dict(found[0])


def roles(tester: Tester) -> None:
    """Master, slave, equal: each is granted and told."""
    generation = _generation(tester)
    tester.afterwards(lambda: role(tester, ROLE_EQUAL, generation))
    for name in (ROLE_MASTER, ROLE_SLAVE, ROLE_EQUAL):
        tester.equal("the role granted", _role(role(tester, name, generation)), name)
        tester.equal("the role told", _role(role(tester, "no_change", generation)), name)


def slave(tester: Tester) -> str:
    """A slave may not change anything, gets no PACKET_IN, and may read."""
    generation = _generation(tester)
    tester.flows("in_port={1},actions=CONTROLLER:65535", "in_port={2},actions=output:{1}")
    tester.afterwards(lambda: role(tester, ROLE_EQUAL, generation))
    role(tester, ROLE_SLAVE, generation)
    error = tester.refuses(
        "a FLOW_MOD of a slave", lambda: tester.flows("in_port={3},actions=drop"), "IS_SLAVE"
    )
    tester.refuses("a PACKET_OUT of a slave", lambda: tester.packet_out(UDP, [tester.output(2)]), "IS_SLAVE")
    tester.exchange(Probe(1, UDP), through(2, UDP, 1), punts=True)
    tester.equal("the number of entries that the slave reads", tester.control.count_entries(), 2)
    role(tester, ROLE_EQUAL, generation)
    tester.exchange(Probe(1, UDP, punted=UDP), punts=True)
    return error


def stale(tester: Tester) -> str:
    """A generation id older than the last one is refused."""
    generation = _generation(tester)
    tester.afterwards(lambda: role(tester, ROLE_EQUAL, generation))
    role(tester, ROLE_MASTER, generation)
    return tester.refuses(
        "a role request with an older generation id",
        lambda: role(tester, ROLE_MASTER, generation - 1),
        "STALE",
    )


def _generation(tester: Tester) -> int:
    """A generation id newer than all so far."""
    told = int(str(role(tester, "no_change", 0)["generation_id"]), 0)
    return 1 if told >= (1 << 64) - 2 else told + 2


def _role(reply: dict[str, Any]) -> str:
    return str(reply["role"]).lower()


MASKS = {"packet_in": 7, "port_status": 7, "flow_removed": 15}


def async_config(tester: Tester) -> None:
    """SET_ASYNC turns PACKET_IN and FLOW_REMOVED off and on; GET_ASYNC tells."""
    before = tester.request("get_async_request")[0]
    tester.afterwards(lambda: tester.request("set_async", {k: before[k] for k in ("primary", "secondary")}))
    tester.flows("in_port={1},actions=CONTROLLER:65535")
    for masks, punted in ((dict.fromkeys(MASKS, 0), None), (MASKS, UDP)):
        tester.request("set_async", {"primary": masks, "secondary": masks})
        told = tester.request("get_async_request")[0]["primary"]
        tester.equal("what GET_ASYNC tells", {k: told[k] & MASKS[k] for k in MASKS}, masks)
        tester.exchange(Probe(1, UDP, punted=punted), punts=True)


def bad(what: str, kind: str, body: Any, *names: str) -> Any:
    """A request that must be refused with an error of one of these names."""

    def test(tester: Tester) -> str:
        return tester.refuses(what, lambda: tester.request(kind, body), *names)

    return test


def entry(**more: Any) -> dict[str, Any]:
    """A FLOW_MOD as messages have it."""
    return {"command": "add", "match": {}, "instructions": [], **more}


def with_action(action: Any) -> dict[str, Any]:
    """A FLOW_MOD with one action."""
    return entry(instructions=[{"apply_actions": [action]}])


def row(
    name: str, text: str, test: Any, needed: tuple[str, ...] = ALL, group: str = "session", **more: Any
) -> Feature:
    """A row of this group."""
    versions = more.pop("versions", ALL)
    required = frozenset(needed) & frozenset(versions)
    return Feature(group, name, text, test, versions, required, needs=("request",), **more)


def error(name: str, text: str, kind: str, body: Any, *names: str, **more: Any) -> Feature:
    """A row of a bad request."""
    return row(name, f"{text} is refused", bad(text, kind, body, *names), group="error", **more)


FEATURES: tuple[Feature, ...] = (
    row("echo", "echo: payloads come back", echo),
    row("barrier", "barrier: all before it is in effect", barrier),
    row("features", "features reply", features),
    row("config", "configuration set and read", config),
    row("roles", "roles: master, slave, equal", roles, NEW, versions=NEW),
    row("roles.slave", "a slave may read, and nothing else", slave, NEW, versions=NEW, ports=3),
    row("roles.stale", "an old generation id is refused", stale, NEW, versions=NEW),
    row("async", "asynchronous configuration", async_config, NEW, versions=NEW),
    error("type", "a message of an unknown type", "unknown", {"message_type": 99, "data": ""}, "BAD_TYPE"),
    error(
        "multipart",
        "an unknown kind of statistics",
        "multipart_request",
        {"body": {"unknown": {"kind": 4242, "data": ""}}},
        "BAD_MULTIPART",
        "BAD_STAT",
    ),
    error(
        "experimenter",
        "an unknown experimenter's message",
        "experimenter",
        {"experimenter": "0xabcdef", "experimenter_type": 1, "data": ""},
        "BAD_EXPERIMENTER",
        "BAD_EXP_TYPE",
        versions=NEW,
    ),
    error(
        "vendor",
        "an unknown vendor's message",
        "experimenter",
        {"experimenter": "0xabcdef", "experimenter_type": None, "data": "0000000000000000"},
        "BAD_VENDOR",
        "BAD_EXPERIMENTER",
        versions=("1.0",),
    ),
    error(
        "flow_mod.command", "a FLOW_MOD with an unknown command", "flow_mod", entry(command=99), "BAD_COMMAND"
    ),
    error(
        "action.type",
        "an unknown action",
        "flow_mod",
        with_action({"unknown": {"action_type": 999, "data": "00000000"}}),
        "BAD_TYPE",
    ),
    error(
        "action.port",
        "an output to a reserved port that does not exist",
        "flow_mod",
        with_action({"output": {"port": 0xFFFFFF10}}),
        "BAD_OUT_PORT",
    ),
    error(
        "action.inconsistent",
        "a set-field without the match that it needs",
        "flow_mod",
        with_action({"set_field": {"ipv4_dst": "10.0.0.1"}}),
        "MATCH_INCONSISTENT",
        "BAD_PREREQ",
        needed=(),
        versions=NEW,
    ),
    error(
        "instruction",
        "an unknown instruction",
        "flow_mod",
        entry(instructions=[{"unknown": {"instruction_type": 99, "data": "00000000"}}]),
        "UNKNOWN_INST",
        "UNSUP_INST",
        versions=NEW,
    ),
    error(
        "match.prerequisite",
        "a match without its prerequisite",
        "flow_mod",
        entry(match={"udp_dst": 80}),
        "BAD_PREREQ",
        versions=NEW,
    ),
    error("table", "an entry for table 255", "flow_mod", entry(table_id=255), "BAD_TABLE_ID", versions=NEW),
    error(
        "group.type",
        "a group of an unknown type",
        "group_mod",
        {"command": "add", "group_type": 77, "group_id": 1, "command_bucket_id": 0xFFFFFFFF},
        "BAD_TYPE",
        versions=NEW,
    ),
    error(
        "group.command",
        "a GROUP_MOD with an unknown command",
        "group_mod",
        {"command": 99, "group_id": 1, "command_bucket_id": 0xFFFFFFFF},
        "BAD_COMMAND",
        versions=NEW,
    ),
    error(
        "meter.command",
        "a METER_MOD with an unknown command",
        "meter_mod",
        {"command": 99, "meter_id": 1},
        "BAD_COMMAND",
        versions=NEW,
        needed=(),
    ),
    error("role", "a role that does not exist", "role_request", {"role": 9}, "BAD_ROLE", versions=NEW),
)
