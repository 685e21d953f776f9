"""Streams for the queues of a port: each leaves by one, in order; one that is to be as fast as possible is divided by its flows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from flowgauge.flows import FlowSet
from flowgauge.packets.streams import Planned


def spread(planned: Sequence[Planned], queues: int) -> list[Planned]:
    """The streams that leave instead of these. Where there are more queues than streams, notes say why one was not divided."""
    share = queues // len(planned)
    return [part for one in planned for part in (_divided(one, share) if share > 1 else [one])]


def _divided(planned: Planned, parts: int) -> list[Planned]:
    stream = planned.stream
    if stream.schedule.kind != "max":
        return [_noted(planned, "it has a pace, and leaves by one queue to keep it")]
    if not isinstance(stream.flows, FlowSet) or stream.flows.count == 1:
        what = "one flow" if isinstance(stream.flows, FlowSet) else "the order of its capture"
        return [_noted(planned, f"it has {what}, and leaves by one queue")]
    return list(_parts(planned, stream.flows, parts))


def _noted(planned: Planned, why: str) -> Planned:
    note = f"{planned.stream.name}: {why}; several --stream are spread over queues"
    return replace(planned, notes=(*planned.notes, note))


def _parts(planned: Planned, flows: FlowSet, wanted: int) -> Iterator[Planned]:
    """Each with as many flows as the others, or one more, and exactly the frames that these have in the whole."""
    stream, parts = planned.stream, min(wanted, flows.count)
    bounds = [flows.count * i // parts for i in range(parts + 1)]
    for i, (start, end) in enumerate(pairwise(bounds)):
        count = None
        if stream.count is not None:
            each, more = divmod(stream.count, flows.count)
            count = each * (end - start) + min(max(more - start, 0), end - start)
        if count == 0:
            continue
        part = replace(flows, first=flows.first + start, count=end - start)
        name = f"{stream.name}, part {i + 1} of {parts}"
        title = f"flows {start + 1} to {end}: {planned.title}"
        yield Planned(
            replace(stream, flows=part, count=count, name=name), title, planned.notes if i == 0 else ()
        )
