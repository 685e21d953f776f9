"""Which published table is which benchmark on which device model, and which figure of a row is judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

LEFT_OUT = frozenset(
    (
        "unpaced",
        "overload_ramp",
        "value_suspect",
        "size_shifted",
        "label_mismatch",
        "table_conflict",
        "ratio_mismatch",
    )
)
"""Notes of rows that show something else than the device: they are listed apart, neither fitted nor judged."""

LIMIT = 0.10
"""The median deviation of a table's judged rows stays below."""

PROBES: Mapping[int, tuple[float, int]] = {
    0: (0.050, 200),
    1: (0.015, 400),
    10: (0.152, 600),
    20: (0.050, 200),
    **{n: (0.101, 400) for n in (30, 40, 50, 60, 70)},
    80: (0.152, 600),
    90: (0.203, 800),
    100: (4.577, 1200),
}
"""Number of entries -> gap (s) and size (bytes) of the probes of Tables 1-5 and 1-11; 0: those of Tables 1-6 and 1-12.

Table 1-11 prints them; those of 20 entries and of Tables 1-6 and 1-12 are not stated, and are those of Table 1-6's steps of 50 ms.
"""

SUITE = "alien-as-published"


@dataclass(frozen=True)
class Judged:
    """A figure that is set beside the printed one. `kept` is the share that came through, 1 - loss ratio."""

    printed: str
    ours: str
    title: str
    unit: str


MEAN = Judged("delay_mean_us", "delay_mean_us", "mean delay", "us")
MEDIAN = Judged("delay_median_us", "delay_median_us", "median delay", "us")
KEPT = Judged("throughput_ratio", "loss_ratio", "received / sent", "")
TIME = Judged("activation_us", "activation_us", "time", "us")
MEDIAN_TIME = Judged("activation_median_us", "activation_us", "median time", "us")


@dataclass(frozen=True)
class Table:
    """One published table. The first of `figures` is judged, the others are shown.

    `settings` change the suite for this table; `text` says what the model makes of it.
    """

    number: str
    model: str
    device: str
    benchmark: str
    title: str
    figures: tuple[Judged, ...]
    text: str
    settings: tuple[str, ...] = ()
    first_row: int = 1


TABLES = (
    Table(
        "1-1", "netfpga", "netfpga", "packet_in", "NetFPGA, packet in", (MEAN, MEDIAN, KEPT),
        "The delay hardly depends on the size. Losses are those of a pool of 512 packet buffers, each taken for 13.8 s: 512 messages "
        "come through, then none until the first buffers are free again. Hence the printed counts 1024 and 1536, and the "
        "document's limit of 25 ms between frames (13.8 s / 512 = 27 ms).",
    ),
    Table(
        "1-2", "netfpga", "netfpga", "packet_out", "NetFPGA, packet out", (MEAN, MEDIAN, KEPT),
        "One message every 26 ms at most, whatever its size (539 in 14 s under overload); none waits for the last frame, so that every "
        "printed ratio is (n-1)/n (`await_last=false`).",
        ("packet_out.duration_s=14", "packet_out.await_last=false"),
    ),
    Table(
        "1-3", "netfpga", "netfpga", "data_path_delay", "NetFPGA, data path", (MEAN, MEDIAN, KEPT),
        "A line in the frame size. The print holds two values for equal sizes (100 B: 29 and 82 us, 1000 B: 76 and 90 us); rows with "
        "a spread of 1 us lie on the line, the others up to 60 us above it, which no property of the frames explains.",
    ),
    Table(
        "1-5", "netfpga", "netfpga", "flow_add", "NetFPGA, flow add", (MEDIAN_TIME, TIME),
        "Every printed time is one gap of the probes: the entries were there before the next probe. The same probes give the same "
        "times on any device that is quick enough.",
    ),
    Table(
        "1-6", "netfpga", "netfpga", "flow_add_max", "NetFPGA, flow add to the limit", (TIME,),
        "One probe gap of 50 ms up to 200 entries; probe settings are not stated, and those of the later rows differ.",
    ),
    Table(
        "1-7", "ezappliance", "ezappliance", "packet_in", "EZappliance, packet in", (MEAN, MEDIAN, KEPT),
        "The way to the controller takes 11 us per byte, but is occupied for 34 ms and 24 us per byte: about 27 messages per "
        "second at 100 B. Under overload 128 KiB of waiting frames make a delay of about 2 s, whatever the load.",
    ),
    Table(
        "1-8", "ezappliance", "ezappliance", "packet_out", "EZappliance, packet out", (MEAN, MEDIAN, KEPT),
        "0.8 ms and 7 us per byte. That at most one message comes through every 41 ms shows only in rows whose delay grows as long as the "
        "trial lasts (overload_ramp): they are left out, and the model has no parameter for it.",
    ),
    Table(
        "1-9", "ezappliance", "ezappliance", "data_path_delay", "EZappliance, data path", (MEAN, MEDIAN, KEPT),
        "A line in the frame size.",
    ),
    Table(
        "1-10", "ezappliance", "ezappliance", "control_channel_delay", "Control channel", (MEAN, MEDIAN, KEPT),
        "One row for each device; the first, Open vSwitch, has a suspected misprint. The model's value is that of the text (394 us), not "
        "fitted to the table.",
        first_row=2,
    ),
    Table(
        "1-11", "ezappliance", "ezappliance", "flow_add", "EZappliance, flow add", (MEDIAN_TIME, TIME),
        "An entry takes longer the more entries there are. Probes that miss go to the controller and share the processor with the "
        "FLOW_MODs: that is why 80 entries took less time than 70 (probes every 152 ms instead of every 101 ms), and why Tables 1-11 "
        "and 1-12 disagree. Times are whole probe gaps.",
    ),
    Table(
        "1-12", "ezappliance", "ezappliance", "flow_add_max", "EZappliance, flow add to the limit", (TIME,),
        "The same device as in Table 1-11, with the probes of Table 1-6's steps (not stated for this table). Times are printed in "
        "whole seconds.",
    ),
)  # fmt: skip
"""ALIEN's tables whose numbers survive."""
