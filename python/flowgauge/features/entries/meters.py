"""Meters and queues (1.3.5, 5.7, 5.9.3, 7.3.4.4; 1.0.0, 5.2.2). That rates are kept is a matter for benchmarks: here it counts that
a meter passes what is below its rate, and acts on what is above.
"""

from __future__ import annotations

from typing import Any

from flowgauge.errors import RejectedError
from flowgauge.features.feature import Feature, since
from flowgauge.features.frames import UDP
from flowgauge.features.tester import Tester, through

NEW, LATE = since("1.3"), since("1.5")
RULE = "in_port={1},actions=meter:1,output:{2}"
MANY = 200
"""Frames sent at once to a meter that passes a tenth of them."""
AF11 = UDP.changed(ip_dscp=10)
AF12 = UDP.changed(ip_dscp=12)


def _drop(unit: str, rate: int, burst: int) -> Any:
    def test(tester: Tester) -> str:
        tester.meter(f"meter=1,{unit},burst,bands=type=drop,rate={rate},burst_size={burst}")
        tester.flows(RULE)
        found = tester.collect(1, [UDP] * MANY)
        tester.check({p for p, _ in found} <= {2}, "metered frames left by a wrong port")
        tester.check({f for _, f in found} <= set(tester.last_sent), "metered frames came changed")
        tester.check(
            0 < len(found) <= MANY // 2,
            f"{len(found)} of {MANY} frames passed a meter of {rate} {unit}, burst {burst}",
        )
        return f"{len(found)} of {MANY} frames passed"

    return test


def passes(tester: Tester) -> None:
    """What is below the rate passes unchanged."""
    tester.meter("meter=1,pktps,burst,bands=type=drop,rate=1000000,burst_size=100000")
    tester.flows(RULE)
    tester.exchange(*(through(1, UDP, 2) for _ in range(50)))


def remark(tester: Tester) -> str:
    """All frames come; some of those above the rate have their drop precedence raised, AF11 to AF12."""
    tester.meter("meter=1,pktps,burst,bands=type=dscp_remark,rate=10,burst_size=10,prec_level=1")
    tester.flows("in_port={1},ip,actions=meter:1,output:{2}")
    found = tester.collect(1, [AF11] * MANY)
    tester.equal("the number of frames that came", len(found), MANY)
    same = sum(f in set(tester.last_sent) for _, f in found)
    raised = {_remarked(data) for data in tester.last_sent}
    changed = sum(f in raised for _, f in found)
    tester.equal("frames that came neither as sent nor as AF12", MANY - same - changed, 0)
    tester.check(
        changed >= MANY // 2 and same > 0, f"{changed} of {MANY} frames were remarked, {same} were not"
    )
    return f"{changed} of {MANY} frames remarked to AF12"


def _remarked(data: bytes) -> bytes:
    return AF12.to_bytes(data[AF12.payload_at() :])


def statistics(tester: Tester) -> None:
    """Frames into the meter and frames in its band add up to what came and what did not."""
    tester.meter("meter=1,pktps,burst,stats,bands=type=drop,rate=10,burst_size=10")
    tester.flows(RULE)
    passed = len(tester.collect(1, [UDP] * MANY))
    found = tester.settled(lambda: tester.statistics("meter", 1)[0], "packet_in_count", MANY)
    tester.equal("frames into the meter", found["packet_in_count"], MANY)
    tester.equal("frames in the band", found["bands"][0]["packet_count"], MANY - passed)
    tester.equal("entries that use the meter", found["flow_count"], 1)


def configuration(tester: Tester) -> None:
    """METER_CONFIG gives the meter as it was installed."""
    tester.meter("meter=1,kbps,burst,bands=type=drop,rate=5000,burst_size=700")
    found = tester.statistics("meter_config", 1)[0]
    tester.equal("the band", found["bands"], [{"drop": {"rate": 5000, "burst_size": 700}}])
    flags = {str(flag).upper() for flag in found["flags"]}
    tester.check({"KBPS", "BURST"} <= flags, f"the flags are {sorted(flags)}; expected KBPS and BURST")


def abilities(tester: Tester) -> str:
    """METER_FEATURES says how many meters there may be."""
    found = tester.statistics("meter_features")[0]
    if not found["max_meters"]:
        raise tester.not_applicable("the switch says that it has no meters")
    return f"at most {found['max_meters']} meters of {found['max_bands']} bands"


def modify(tester: Tester) -> None:
    """A modified meter acts by its new rate."""
    tester.meter("meter=1,pktps,burst,bands=type=drop,rate=10,burst_size=10")
    tester.flows(RULE)
    tester.control.modify_meter("meter=1,pktps,burst,bands=type=drop,rate=1000000,burst_size=100000")
    tester.exchange(*(through(1, UDP, 2) for _ in range(50)))


def delete(tester: Tester) -> None:
    """Entries that use a deleted meter go with it."""
    tester.meter("meter=1,pktps,bands=type=drop,rate=1000")
    tester.flows(RULE, "in_port={2},actions=output:{1}")
    tester.control.delete_meters("meter=1")
    tester.equal("the number of entries left", tester.control.count_entries(), 1)


def unknown(tester: Tester) -> str:
    """An entry can't name a meter that is not there."""
    return tester.refuses(
        "an entry to a meter that is not there",
        lambda: tester.flows(RULE),
        "UNKNOWN_METER",
        "BAD_METER",
        "METER_MOD_FAILED",
        "INVALID_METER",
    )


def twice(tester: Tester) -> str:
    """A meter can't be added twice."""
    text = "meter=1,pktps,bands=type=drop,rate=1000"
    tester.meter(text)
    return tester.refuses("a meter added twice", lambda: tester.meter(text), "METER_EXISTS")


def absent(tester: Tester) -> str:
    """A meter that is not there can't be modified."""
    text = "meter=1,pktps,bands=type=drop,rate=1000"
    return tester.refuses(
        "a change of an unknown meter", lambda: tester.control.modify_meter(text), "UNKNOWN_METER"
    )


def queues(tester: Tester) -> dict[int, int]:
    """Queue numbers of tester port 2 with the frames that they sent. Raises NotApplicable where there are none."""
    try:
        found = tester.statistics("queue", {"port": tester.of(2), "queue_id": 0xFFFFFFFF})
    except RejectedError as error:
        if "BAD_QUEUE" not in error.message:
            raise
        found = []
    if not found:
        raise tester.not_applicable(f"port {tester.of(2)} has no queues")
    return {q["queue_id"]: q["tx_packets"] for q in found}


def set_queue(tester: Tester) -> str:
    """Frames leave through a queue that the port has, and its counter says so."""
    before = queues(tester)
    number = max(before)
    old = f"in_port={{1}},actions=enqueue:{{2}}:{number}"
    tester.flows(old if tester.version == "1.0" else f"in_port={{1}},actions=set_queue:{number},output:{{2}}")
    tester.exchange(*(through(1, UDP, 2) for _ in range(5)))
    found = tester.settled(lambda: queues(tester), number, before[number] + 5)
    tester.equal(f"frames that queue {number} sent", found[number] - before[number], 5)
    return f"queue {number} of {sorted(before)}"


def queue_configuration(tester: Tester) -> str:
    """The port's queues are described."""
    number = tester.of(2)
    if tester.version in ("1.0", "1.3"):
        found = tester.request("queue_get_config_request", number)[0]["queues"]
    else:
        found = tester.statistics("queue_desc", {"port": number, "queue_id": 0xFFFFFFFF})
    if not found:
        raise tester.not_applicable(f"port {number} has no queues")
    return f"queues {sorted(q['queue_id'] for q in found)}"


def row(name: str, text: str, test: Any, **more: Any) -> Feature:
    """A row of this group."""
    return Feature("meter", name, text, test, more.pop("versions", NEW), **more)


FEATURES: tuple[Feature, ...] = (
    row("drop.pktps", "a drop band in frames per second", _drop("pktps", 10, 10)),
    row("drop.kbps", "a drop band in kbit/s", _drop("kbps", 10, 10)),
    row("pass", "a meter passes what is below its rate", passes),
    row("dscp_remark", "a DSCP remark band", remark),
    row("statistics", "meter statistics: exact counters", statistics, needs=("request",)),
    row("configuration", "meter configuration", configuration, needs=("request",)),
    row("features", "meter features", abilities, needs=("request",)),
    row("modify", "a modified meter takes effect", modify),
    row("delete", "deleting a meter deletes the entries that use it", delete),
    row("unknown", "an entry to an unknown meter is refused", unknown),
    row("exists", "a second meter of one id is refused", twice),
    row("absent", "modifying an unknown meter is refused", absent),
    Feature(
        "queue", "set_queue", "frames leave through a chosen queue, counted", set_queue, needs=("request",)
    ),
    Feature(
        "queue",
        "configuration",
        "the queues of a port are described",
        queue_configuration,
        needs=("request",),
    ),
)
