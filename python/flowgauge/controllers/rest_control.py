"""The control path through `ofctl_rest`.

The interface says neither when the switch has taken something nor what it refused. So whatever is to be there when a method returns is read
back; what is still missing after a while was refused.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flowgauge import _core
from flowgauge.controllers import rest_json
from flowgauge.controllers.common import Lines, TextControl
from flowgauge.controllers.interface import Guard
from flowgauge.controllers.plays import CallPlay, Sent
from flowgauge.controllers.rest_actions import Json
from flowgauge.controllers.rest_api import Api
from flowgauge.errors import ControllerError, RejectedError, UnknownSwitchError
from flowgauge.testbed.interface import Play

APPEAR_S = 2.0
"""How long after the controller returned something may take to be read back."""
RETURN_S = 10.0
"""How long a switch may take to connect to its controller again."""
POLL_S = 0.02


class RestControl(TextControl):
    """The control path of one switch through a REST controller."""

    def __init__(self, api: Api, datapath_id: int, version: str, guard: Guard, name: str) -> None:
        """Over an interface that knows the switch."""
        super().__init__(version, guard)
        self.name = name
        self._api = api
        self._id = datapath_id

    def delete_all(self) -> None:
        """`/stats/flowentry/clear`, until none is left."""
        self._guarded(lambda: self._api.call("DELETE", f"/stats/flowentry/clear/{self._id}"))
        self._until(lambda: self.count_entries() == 0, "flow entries are left after all were deleted")

    def count_entries(self) -> int:
        """`/stats/aggregateflow`."""
        found = self._stats("aggregateflow")
        try:
            return sum(int(part["flow_count"]) for part in found)
        except (TypeError, KeyError, ValueError):
            raise self._odd("aggregateflow", found) from None

    def describe(self) -> Mapping[str, Any]:
        """`/stats/desc` and `/stats/portdesc`."""
        desc, ports = self._stats("desc"), self._stats("portdesc")
        return {
            "manufacturer": desc.get("mfr_desc"),
            "hardware": desc.get("hw_desc"),
            "software": desc.get("sw_desc"),
            "serial_number": desc.get("serial_num"),
            "datapath": desc.get("dp_desc"),
            "openflow": self._version,
            "datapath_id": f"{self._id:016x}",
            "ports": [
                {"of_port": p["port_no"], "name": p["name"], "mac": p["hw_addr"]}
                for p in ports
                if isinstance(p["port_no"], int)
            ],
        }

    def add_flows(self, *flows: str) -> None:
        """`/stats/flowentry/add`, and read back. Raises RejectedError for the first that is not there."""
        bodies = [self._flow(text) for text in flows]
        before = self.count_entries()
        self._post("flowentry/add", bodies)
        self._must_hold(before, bodies, flows)

    def modify_flows(self, *flows: str, strict: bool = False) -> None:
        """`/stats/flowentry/modify`; the switch's refusals are not seen."""
        self._post(f"flowentry/modify{'_strict' * strict}", [self._flow(text) for text in flows])
        self._stats("desc")

    def delete_flows(self, *flows: str, strict: bool = False) -> None:
        """`/stats/flowentry/delete`; the switch's refusals are not seen."""
        self._post(f"flowentry/delete{'_strict' * strict}", [self._deleted(text) for text in flows])
        self._stats("desc")

    def dump_flows(self) -> list[str]:
        """`/stats/flow`, in ovs-ofctl's words."""
        return [rest_json.flow_text(entry) for entry in self._stats("flow")]

    def add_group(self, text: str) -> None:
        """`/stats/groupentry/add`, and read back."""
        self._change_group("add", text)

    def modify_group(self, text: str) -> None:
        """`/stats/groupentry/modify`, and read back."""
        self._change_group("modify", text)

    def delete_groups(self, text: str = "") -> None:
        """`/stats/groupentry/delete`."""
        if self._version != "1.0":
            self._post("groupentry/delete", [rest_json.group(text or "group_id=all", self._version)])
            self._stats("desc")

    def add_meter(self, text: str) -> None:
        """`/stats/meterentry/add`, and read back."""
        self._change_meter("add", text)

    def modify_meter(self, text: str) -> None:
        """`/stats/meterentry/modify`, and read back."""
        self._change_meter("modify", text)

    def delete_meters(self, text: str = "") -> None:
        """`/stats/meterentry/delete`."""
        if self._version != "1.0":
            self._post("meterentry/delete", [rest_json.meter(text or "meter=all")])
            self._stats("desc")

    def _sending(self, command: str, lines: Lines) -> Play:
        bodies = [self._flow(text) for text in lines]

        def send(sent: Sent) -> None:
            for body in bodies:
                if sent.stop.is_set():
                    return
                sent.sent_ns.append(_core.now())
                self._api.post(f"/stats/flowentry/{command}", body)
                sent.reply_ns.append(_core.now())
                sent.done += 1

        return CallPlay(len(bodies), send, self._api.close)

    def _flow(self, text: str) -> Json:
        return {"dpid": self._id, **rest_json.flow(text, self._version)}

    def _deleted(self, text: str) -> Json:
        body = self._flow(text)
        if not rest_json.names_table(text) and self._version != "1.0":
            body["table_id"] = rest_json.ALL_TABLES
        return body

    def _must_hold(self, before: int, bodies: Sequence[Json], flows: Sequence[str]) -> None:
        """As many more as were added; or, since one may have replaced another, each of them."""
        missing = ""

        def all_there() -> bool:
            nonlocal missing
            if self.count_entries() == before + len(bodies):
                return True
            missing = next((t for b, t in zip(bodies, flows, strict=True) if not self._holds(b)), "")
            return not missing

        self._until(all_there, lambda: f"the switch does not hold {missing!r} after it was added")

    def _holds(self, body: Json) -> bool:
        wanted = {k: body[k] for k in ("match", "priority", "table_id") if k in body}
        found = self._guarded(lambda: self._api.post(f"/stats/flow/{self._id}", wanted))
        return bool(self._of_us(found, "flow"))

    def _change_group(self, command: str, text: str) -> None:
        body = rest_json.group(text, self._version)
        self._post(f"groupentry/{command}", [body])
        known = lambda: body["group_id"] in [g.get("group_id") for g in self._stats("groupdesc")]  # noqa: E731
        self._until(known, f"the switch has no group {body['group_id']} after {command}: {text!r}")

    def _change_meter(self, command: str, text: str) -> None:
        body = rest_json.meter(text)
        self._post(f"meterentry/{command}", [body])
        known = lambda: body["meter_id"] in [m.get("meter_id") for m in self._stats("meterconfig")]  # noqa: E731
        self._until(known, f"the switch has no meter {body['meter_id']} after {command}: {text!r}")

    def _post(self, path: str, bodies: Sequence[Json]) -> None:
        def post() -> None:
            for body in bodies:
                self._api.post(f"/stats/{path}", {"dpid": self._id, **body})

        self._guarded(post)

    def _stats(self, kind: str) -> Any:
        return self._of_us(self._guarded(lambda: self._api.get(f"/stats/{kind}/{self._id}")), kind)

    def _of_us(self, found: Any, kind: str) -> Any:
        """What stands under the switch's number."""
        try:
            return found[str(self._id)]
        except (TypeError, KeyError):
            raise self._odd(kind, found) from None

    def _odd(self, kind: str, found: Any) -> ControllerError:
        return ControllerError(
            f"the controller answered /stats/{kind}/{self._id} with {str(found)[:200]}",
            advice="ofctl_rest answers so when the switch does not reply within a second",
        )

    def _until(self, there: Callable[[], bool], otherwise: str | Callable[[], str]) -> None:
        """Wait a little until it is there. Raises RejectedError with what `otherwise` says.

        os-ken drops an OpenFlow 1.0 switch that answers with an error; such a switch is waited for.
        """
        start = time.monotonic()
        while True:
            gone = None
            try:
                if there():
                    return
            except UnknownSwitchError as error:
                gone = error
            waited_s = time.monotonic() - start
            if gone is not None and waited_s > RETURN_S:
                raise gone
            if gone is None and waited_s > APPEAR_S:
                raise RejectedError(
                    otherwise if isinstance(otherwise, str) else otherwise(),
                    advice="The switch refused it; the controller does not say why, its log or the switch's may.",
                )
            time.sleep(POLL_S)
