"""`Connection.request`: messages as JSON to a switch and back."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from flowgauge import _core
from flowgauge.errors import RejectedError, UsageError


@pytest.fixture(params=["1.0", "1.3"])
def connection(request: pytest.FixtureRequest) -> Iterator[_core.Connection]:
    switch = _core.Switch([], versions=[request.param], datapath_id=7)
    host, port = switch.address
    channel = _core.Channel("connect", host, port, netns=None, versions=[request.param], spin_us=0)
    yield channel.wait_connected(5)
    channel.close()
    switch.stop()


def ask(connection: _core.Connection, body: dict[str, Any]) -> list[dict[str, Any]]:
    return [json.loads(text) for text in connection.request(json.dumps(body), 5)]


def test_replies_come_as_json(connection: _core.Connection) -> None:
    assert ask(connection, {"echo_request": "0a0b"})[0]["echo_reply"] == "0a0b"
    assert ask(connection, {"features_request": None})[0]["features_reply"]["datapath_id"] == "0x7"
    flow = {"match": {"in_port": 3}, "priority": 9, "cookie": 5}
    assert ask(connection, {"flow_mod": flow}) == [], "it has no reply; a barrier follows"
    (reply,) = ask(connection, {"multipart_request": {"body": {"flow": {}}}})
    (entry,) = reply["multipart_reply"]["body"]["flow"]
    assert (entry["priority"], entry["match"], entry["cookie"]) == (9, {"in_port": 3}, "0x5")


def test_refusals_have_type_code_and_name(connection: _core.Connection) -> None:
    flow = {"match": {"in_port": 3}, "flags": ["check_overlap"], "priority": 9}
    ask(connection, {"flow_mod": flow | {"flags": []}})
    with pytest.raises(RejectedError, match="OFPFMFC_OVERLAP") as caught:
        ask(connection, {"flow_mod": flow | {"match": {}}})
    expected = (3, 1) if connection.version == "1.0" else (5, 3)
    assert (caught.value.error_type, caught.value.code) == expected
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.reason, again.error_type) == ("OFPFMFC_OVERLAP", expected[0]), "it crosses processes whole"


def test_what_is_no_message_is_refused_here(connection: _core.Connection) -> None:
    with pytest.raises(UsageError, match="unknown field"):
        ask(connection, {"flow_mod": {"prioritty": 1}})
