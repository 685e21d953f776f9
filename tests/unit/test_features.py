"""The catalogue, frames, evidence, matrix and book of feature tests."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

import golden
from flowgauge import _core, compare
from flowgauge.benchmarks.features import FeatureParams, Features
from flowgauge.compare.terminal import print_comparison
from flowgauge.errors import ChannelClosedError, NotOfferedError, RejectedError, UnknownNameError, UsageError
from flowgauge.features import book, evidence, frames
from flowgauge.features.catalogue import FEATURES, get, select
from flowgauge.features.entries import match_fields, set_fields
from flowgauge.features.feature import VERSIONS, Feature, Mismatch, NotApplicable, Result
from flowgauge.features.frames import MPLS, PBB, UDP, VLAN, Frame
from flowgauge.features.run import run
from flowgauge.model import Point, TrialRecord
from flowgauge.report import markdown, tables, terminal
from flowgauge.report.rundata import Run

OXM = [
    "in_port",
    "in_phy_port",
    "metadata",
    "eth_dst",
    "eth_src",
    "eth_type",
    "vlan_vid",
    "vlan_pcp",
    "ip_dscp",
    "ip_ecn",
    "ip_proto",
    "ipv4_src",
    "ipv4_dst",
    "tcp_src",
    "tcp_dst",
    "udp_src",
    "udp_dst",
    "sctp_src",
    "sctp_dst",
    "icmpv4_type",
    "icmpv4_code",
    "arp_op",
    "arp_spa",
    "arp_tpa",
    "arp_sha",
    "arp_tha",
    "ipv6_src",
    "ipv6_dst",
    "ipv6_flabel",
    "icmpv6_type",
    "icmpv6_code",
    "ipv6_nd_target",
    "ipv6_nd_sll",
    "ipv6_nd_tll",
    "mpls_label",
    "mpls_tc",
    "mpls_bos",
    "pbb_isid",
    "tunnel_id",
    "ipv6_exthdr",
]
MASKED = [
    "metadata",
    "eth_dst",
    "eth_src",
    "vlan_vid",
    "ipv4_src",
    "ipv4_dst",
    "arp_spa",
    "arp_tpa",
    "arp_sha",
    "arp_tha",
    "ipv6_src",
    "ipv6_dst",
    "ipv6_flabel",
    "pbb_isid",
    "tunnel_id",
]
TWELVE = [
    *(
        "in_port",
        "eth_src",
        "eth_dst",
        "eth_type",
        "vlan_vid",
        "vlan_pcp",
        "ipv4_src",
        "ipv4_dst",
        "ip_proto",
    ),
    *("ip_dscp", "tcp_src", "tcp_dst"),
]
"""The match of OpenFlow 1.0."""


def test_every_field_of_the_specifications_is_tested() -> None:
    assert all("1.3" in FEATURES[f"match.{name}"].versions for name in OXM)
    assert all("1.3" in FEATURES[f"match.{name}.masked"].versions for name in MASKED)
    assert all("1.0" in FEATURES[f"match.{name}"].required for name in TWELVE)


def test_every_settable_field_is_tested() -> None:
    names = {entry.name for entry in set_fields.FIELDS}
    unsettable = {"in_port", "in_phy_port", "metadata", "tunnel_id", "ipv6_exthdr", "mpls_bos"}
    assert set(OXM) - unsettable <= names


def test_ids_are_unique_and_versions_known() -> None:
    assert all(key == feature.id for key, feature in FEATURES.items())
    for feature in FEATURES.values():
        assert feature.required <= set(feature.versions) <= set(VERSIONS), feature.id
        assert feature.versions, feature.id
        assert feature.text, feature.id


def test_features_are_found_and_selected() -> None:
    assert get("output.port").id == "output.port"
    with pytest.raises(UnknownNameError, match=r"output\.port"):
        get("output.prot")
    assert {f.group for f in select(["set_field."])} == {"set_field"}
    assert len(select([])) == len(FEATURES)
    with pytest.raises(UsageError, match="no feature's name contains nonsense"):
        select(["nonsense"])


@pytest.mark.parametrize("field", match_fields.FIELDS, ids=lambda f: f"{f.name}.{f.suffix}")
def test_rules_of_match_fields_are_sound(field: Any) -> None:
    masks = [None] if field.mask is None else [None, frames.number(field.mask)]
    first, second = field.frame, field.partner()
    for mask in masks:
        rules = [f"{field.rule(frame, mask)},actions=drop" for frame in (first, second)]
        encoded = [_core.encode_flow(rule.lstrip(","), "1.5") for rule in rules]
        assert encoded[0] != encoded[1]


def test_changes_of_frames_are_values() -> None:
    assert UDP.changed(udp_dst=80).value("udp_dst") == 80
    assert UDP.value("udp_dst") == 7
    assert VLAN.popped().kinds == ("eth", "ipv4", "udp")
    assert MPLS.pushed("mpls", mpls_label=9).value("mpls_label") == 9
    assert PBB.value("pbb_isid") == 1
    assert Frame.of("eth ipv6 ns").value("ipv6_nd_target") == frames.number("2001:2:0:8000::2")
    with pytest.raises(UsageError, match="has tcp_dst"):
        UDP.changed(tcp_dst=1)


def test_payloads_are_found_again() -> None:
    data = UDP.to_bytes(frames.payload(7, 300))
    assert frames.index_of(data, 7) == 300
    assert frames.index_of(data, 8) is None
    assert frames.index_of(data[:50], 7) is None
    assert len(data) >= 60


def test_dumps_mark_what_differs() -> None:
    data = UDP.to_bytes(frames.payload(1, 0))
    other = data[:30] + b"\xff" + data[31:] + b"\x00"
    lines = list(evidence.dump(other, data))
    assert len(lines) == 4
    assert lines[1].count("^^") == 1
    assert lines[1].index("^^") == lines[0].index("ff", 6)
    assert list(evidence.dump(data, data)) == []


class _Control:
    version = "1.3"
    abilities = frozenset(("request",))

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: ["table=0, priority=1 actions=output:2"] if name == "dump_flows" else []


def _testbed(**more: Any) -> Any:
    ports = [SimpleNamespace(index=n, of_port=n + 1) for n in range(3)]
    return SimpleNamespace(ports=ports, control=_Control(), exchange=None, **more)


def _raises(error: Exception) -> Feature:
    def test(_: Any) -> None:
        raise error

    return Feature("x", "y", "a test", test, ("1.3",))


@pytest.mark.parametrize(
    ("error", "result"),
    [
        (Mismatch("wrong", ["shown"]), Result.FAILED),
        (RejectedError("BAD_MATCH"), Result.REFUSED),
        (NotApplicable("no queues"), Result.NOT_APPLICABLE),
        (NotOfferedError("it can't say that"), Result.NOT_APPLICABLE),
        (ChannelClosedError("the switch closed the channel"), Result.FAILED),
    ],
)
def test_outcomes(error: Exception, result: Result) -> None:
    assert run(_raises(error), _testbed()).result is result


def test_what_cannot_be_tested_says_why() -> None:
    def never(_: Any) -> None:
        raise AssertionError

    bed = _testbed()
    cases = {
        "OpenFlow 1.4 and later have it": Feature("x", "y", "", never, ("1.4", "1.5")),
        "OpenFlow 1.0 alone has it": Feature("x", "y", "", never, ("1.0",)),
        "it needs 4 ports; the DUT has 3": Feature("x", "y", "", never, ports=4),
        "echo": Feature("x", "y", "", never, needs=("echo",)),
    }
    for why, feature in cases.items():
        found = run(feature, bed)
        assert found.result is Result.NOT_APPLICABLE
        assert why in found.detail


def _trial(group: str, name: str, **metrics: str) -> TrialRecord:
    return TrialRecord("0" * 16, "features", Point(group=group, feature=name), 0, "ok", metrics)


TRIALS = (
    _trial("match", "ipv4_dst", result="passed", wanted="required", detail=""),
    _trial(
        "match",
        "pbb_isid",
        result="refused",
        wanted="optional",
        detail="the switch refused it: BAD_MATCH BAD_FIELD",
    ),
    _trial(
        "action",
        "copy_ttl_in",
        result="failed",
        wanted="optional",
        detail="of 3 frames 3 came changed at port 2",
        evidence="rules:\n  in_port=1,mpls,actions=copy_ttl_in,output:2",
    ),
    _trial("group", "all", result="not applicable", wanted="—", detail="OpenFlow 1.3 and later have it"),
    TrialRecord(
        "1" * 16, "features", Point(group="port", feature="down"), 0, "failed", reason="dut-died: it stopped"
    ),
)


def _run(label: str, trials: tuple[TrialRecord, ...]) -> Run:
    figures = tuple(Features().figures(FeatureParams(), trials))
    document: Mapping[str, Any] = {
        "id": label,
        "suite": "features",
        "config": {"benchmarks": [{"name": "features", "params": {}}]},
        "status": "complete",
    }
    return Run(label, Path("nowhere"), document, {"features": figures}, trials)


def test_the_matrix_reads_well() -> None:
    out = io.StringIO()
    terminal.print_run(_run("switch", TRIALS), Console(file=out, width=110))
    golden.check(
        "features_matrix.txt", "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"
    )


def test_every_format_has_the_matrix() -> None:
    text = markdown.render(_run("switch", TRIALS))
    assert "| action | copy_ttl_in | optional | failed | of 3" in text
    assert "in_port=1,mpls,actions=copy_ttl_in,output:2" in text
    section = tables.section(_run("switch", TRIALS), "features")
    assert [row.detail for row in section.tables[0].rows][1].endswith("BAD_FIELD")


def test_matrices_stand_beside_each_other() -> None:
    other = (_trial("match", "ipv4_dst", result="failed", wanted="required", detail=""), *TRIALS[1:])
    out = io.StringIO()
    comparison = compare.build([_run("one", TRIALS), _run("two", other)])
    print_comparison(comparison, Console(file=out, width=100))
    text = out.getvalue()
    assert "1 of 5 results differ" in text
    row = next(line for line in text.splitlines() if "ipv4_dst" in line)
    assert row.split() == ["match", "ipv4_dst", "passed", "failed"]
    assert "ratio" not in text


def test_the_book_remembers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    switch = {"version": "3.1", "cores": [1], "ports": [1, 2]}
    book.FeatureBook.of("ovs", switch, "1.3").put("output.port", "passed", "")
    again = book.FeatureBook.of("ovs", {**switch, "cores": [0]}, "1.3")
    assert again.get("output.port") == (Result.PASSED, "")
    assert again.get("output.all") is None
    assert book.FeatureBook.of("ovs", {**switch, "version": "3.2"}, "1.3").get("output.port") is None
    assert book.FeatureBook.of("ovs", switch, "1.0").get("output.port") is None
    monkeypatch.setattr(book, "MAX_AGE_S", 0.0)
    assert again.get("output.port") is None


def test_a_damaged_book_is_forgotten(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"output.port": {"result": "perhaps"}}')
    assert book.FeatureBook(tmp_path / "x.json").get("output.port") is None
    (tmp_path / "x.json").write_text("[1")
    assert book.FeatureBook(tmp_path / "x.json").get("output.port") is None
