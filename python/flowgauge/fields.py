"""One table of every metric and figure: its unit, the header a reader sees, and what it means.

Column names, headers, units and documentation all come from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Field:
    """A column: `unit` is "" for plain numbers and text; `digits` is how many significant digits to print.

    `words`: what values mean, for figures that are no quantities; such columns have a detail in words beside them.
    """

    name: str
    header: str
    unit: str
    text: str
    digits: int = 4
    words: Mapping[float, str] = field(default_factory=dict)


FIELDS: dict[str, Field] = {
    f.name: f
    for f in (
        Field("rate_mbps", "rate", "Mbit/s", "Requested layer-2 load, 10^6 bit/s, FCS counted."),
        Field("frame_size", "frame size", "B", "Frame size with FCS (RFC 2544)."),
        Field("entries", "flow entries", "", "Number of flow entries added, modified or deleted."),
        Field("echo_rate", "echo rate", "1/s", "ECHO_REQUESTs per second."),
        Field("requested", "requested", "frames", "Frames that the schedule asked for."),
        Field("sent", "sent", "frames", "Frames that left the tester: the offered load."),
        Field("received", "received", "frames", "Distinct frames that came back where they were expected."),
        Field("lost", "lost", "frames", "Sent and never received."),
        Field("duplicated", "duplicated", "frames", "Further copies of a frame already received."),
        Field("reordered", "reordered", "frames", "Received behind a frame that was sent later."),
        Field("late", "late", "frames", "Arrived after the stop, within the drain time."),
        Field("loss_ratio", "loss", "", "Lost frames by sent frames.", 3),
        Field("offered_pps", "offered load", "pps", "Frames that left, per second."),
        Field("offered_l2_mbps", "offered load (L2)", "Mbit/s", "pps * size * 8 / 1e6."),
        Field("forwarding_pps", "forwarding rate", "pps", "Frames that came back, per second."),
        Field("message_rate", "messages", "1/s", "Control messages per second."),
        Field("delay_min_us", "delay min", "us", "Smallest delay."),
        Field("delay_mean_us", "delay mean", "us", "Mean delay."),
        Field("delay_median_us", "delay median", "us", "Median delay."),
        Field("delay_p90_us", "delay p90", "us", "90th percentile of the delay."),
        Field("delay_p99_us", "delay p99", "us", "99th percentile of the delay."),
        Field("delay_p999_us", "delay p99.9", "us", "99.9th percentile of the delay."),
        Field("delay_max_us", "delay max", "us", "Largest delay."),
        Field("delay_std_us", "delay std", "us", "Standard deviation of the delay."),
        Field("misrouted", "misrouted", "frames", "Arrived at another port than expected."),
        Field(
            "delay_slope_us_per_s",
            "delay slope",
            "us/s",
            "Growth of the delay over the trial (see check ramp).",
        ),
        Field(
            "gap_error_p99_ns",
            "gap error p99",
            "ns",
            "99th percentile of the departures' error against the schedule.",
            3,
        ),
        Field("payload_changed", "payload changed", "", "Echo replies whose payload came back changed."),
        Field(
            "packet_in_bytes_min",
            "bytes in PACKET_IN",
            "B",
            "Fewest frame bytes that a PACKET_IN held (truncation).",
        ),
        Field("packet_in_buffered", "buffered", "", "PACKET_INs that named a buffer id."),
        Field(
            "activation_us",
            "time to data plane",
            "us",
            "First byte of the batch to its effect on probes: middle of the interval.",
        ),
        Field(
            "activation_low_us",
            "time to data plane, low",
            "us",
            "Its earliest value: the last probe under the old table.",
        ),
        Field(
            "activation_high_us",
            "time to data plane, high",
            "us",
            "Its latest value: the first probe under the new table.",
        ),
        Field("barrier_us", "time to barrier reply", "us", "First byte of the batch to the barrier reply."),
        Field(
            "barrier_lead_us",
            "data plane after barrier",
            "us",
            "Data plane minus barrier reply; above 0: the barrier was premature.",
        ),
        Field("per_entry_us", "time per entry", "us", "Time to data plane by number of entries."),
        Field(
            "slope_us_per_entry",
            "slope",
            "us/entry",
            "Time to data plane over number of entries, least squares.",
        ),
        Field(
            "barrier_slope_us_per_entry",
            "barrier slope",
            "us/entry",
            "Barrier reply over number of entries, least squares.",
        ),
        Field("probe_pps", "probe rate", "pps", "Probes per second."),
        Field("path_delay_us", "path delay", "us", "Median delay of the probes that were forwarded."),
        Field("rejected", "rejected", "", "Messages that the switch answered with an error."),
        Field(
            "held", "entries held", "", "Entries that the switch says it holds, read back after a barrier.", 9
        ),
        Field("max_entries", "most entries held", "", "Largest number of entries that the switch held.", 9),
        Field(
            "delay_stated_us",
            "delay stated",
            "us",
            "A delay as a document's text states it, mean or median not said.",
        ),
        Field(
            "delay_variation_stated_us",
            "variation stated",
            "us",
            "A delay variation as a document's text states it.",
        ),
        Field("throughput_ratio", "received/sent", "", "Received frames by sent frames, as published.", 4),
        Field(
            "activation_median_us",
            "to data plane, median",
            "us",
            "Median of the time to data plane, as published.",
        ),
        Field(
            "activation_std_us", "to data plane, std", "us", "Standard deviation of the time to data plane."
        ),
        Field(
            "per_entry_stated_us", "per entry stated", "us", "Time per entry as a document's text states it."
        ),
        Field("timestamps", "timestamps", "", "Where frames were stamped, on departure and on arrival."),
        Field("group", "group", "", "The part of the specification that a feature belongs to."),
        Field("feature", "feature", "", "The feature's name within its group."),
        Field(
            "wanted",
            "specification",
            "",
            "Whether the OpenFlow version in use demands the feature; missing where it has no such thing.",
            words={0: "optional", 1: "required"},
        ),
        Field(
            "result",
            "result",
            "",
            "What came of the feature test: 0 failed, 1 passed, 2 refused by the switch, 3 not applicable.",
            words={0: "failed", 1: "passed", 2: "refused", 3: "not applicable"},
        ),
    )
}
"""By name."""


def words(name: str) -> Mapping[float, str]:
    """What a figure's values mean; empty for quantities."""
    known = FIELDS.get(name)
    return known.words if known else {}
