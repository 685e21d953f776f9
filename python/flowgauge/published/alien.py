"""The ALIEN tables (deliverable D5.3, appendix IV): which printed column is which figure, and what its defects touch.

Knows the printed tables only; `convert` writes what this describes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

SOURCE = {
    "source": "ALIEN",
    "title": "Deliverable D5.3, Experimental-driven research, Appendix IV (OpenFlow Performance experiment results)",
    "version": "7.9",
    "date": "2014-11-12",
    "authors": "J. Kleban, M. Michalski, R. Rajewski, M. Żal (PUT); D. Parniewicz, Ł. Ogrodowczyk, B. Belter, "
    "A. Binczewski (PSNC)",
    "project": "ALIEN, EU FP7 grant agreement 317880",
    "openflow": "1.0",
    "tester": "ALIEN-OFLOPS",
}


@dataclass(frozen=True)
class Column:
    """A printed column: the figure it becomes, its unit, and the exact factor from the printed unit."""

    figure: str
    unit: str
    factor: Decimal = Decimal(1)


DELAYS = {
    "mean_us": Column("delay_mean_us", "us"),
    "median_us": Column("delay_median_us", "us"),
    "std_us": Column("delay_std_us", "us"),
}
RATIO = {"throughput_ratio": Column("throughput_ratio", "")}
SENT = {"packets_sent": Column("sent", "frames")}
ACTIVATION = {
    "mean_us": Column("activation_us", "us"),
    "median_us": Column("activation_median_us", "us"),
    "std_us": Column("activation_std_us", "us"),
}
PRINTED_RECEIVED = {"packets": Column("received", "frames")}
PRINTED_SENT = {"packets": Column("sent", "frames")}


@dataclass(frozen=True)
class Table:
    """A printed table: its file, its caption number, its columns, and what must be known of all its rows."""

    file: str
    number: str
    columns: Mapping[str, Column]
    remark: str = ""


TABLES = (
    Table(
        "table_1_01_netfpga_packet_in.csv", "Table 1-1", DELAYS | RATIO | PRINTED_RECEIVED,
        "The column headed as generated packets holds the number received; the number sent is not printed.",
    ),
    Table(
        "table_1_02_netfpga_packet_out.csv", "Table 1-2", DELAYS | RATIO | PRINTED_SENT,
        "All 21 ratios equal (n-1)/n for n printed packets: they show no real loss.",
    ),
    Table("table_1_03_netfpga_data_path_delay.csv", "Table 1-3", DELAYS | RATIO | SENT),
    Table("table_1_05_netfpga_flow_add.csv", "Table 1-5", ACTIVATION),
    Table(
        "table_1_06_netfpga_flow_add_max.csv", "Table 1-6",
        {"delay_us": Column("activation_us", "us"), "per_flow_us": Column("per_entry_us", "us")},
    ),
    Table(
        "table_1_07_ezappliance_packet_in.csv", "Table 1-7",
        DELAYS | RATIO | SENT | {"packets_received": Column("received", "frames")},
    ),
    Table(
        "table_1_08_ezappliance_packet_out.csv", "Table 1-8", DELAYS | RATIO | PRINTED_RECEIVED,
        "The column headed as generated packets holds the number received; the number sent is not printed.",
    ),
    Table("table_1_09_ezappliance_data_path_delay.csv", "Table 1-9", DELAYS | RATIO | SENT),
    Table("table_1_10_control_channel_delay.csv", "Table 1-10", DELAYS | RATIO | PRINTED_SENT),
    Table(
        "table_1_11_ezappliance_flow_add.csv", "Table 1-11",
        ACTIVATION
        | {
            "per_flow_ms": Column("per_entry_us", "us", Decimal(1000)),
            "probe_rate_mbps_label": Column("probe_rate_mbps_label", "Mbit/s"),
            "data_rate_mbps_label": Column("data_rate_mbps_label", "Mbit/s"),
            "frame_size_bytes": Column("probe_frame_size", "B"),
        },
        "Probe settings differ between rows.",
    ),
    Table(
        "table_1_12_ezappliance_flow_add_max.csv", "Table 1-12",
        {
            "delay_s": Column("activation_us", "us", Decimal(1_000_000)),
            "per_flow_s": Column("per_entry_us", "us", Decimal(1_000_000)),
        },
    ),
)  # fmt: skip

POINTS = {"offered_mbps_label": "rate_mbps", "frame_size_bytes": "frame_size", "flows": "entries"}
"""Printed parameter columns -> keys of a point, unless a table takes them as figures."""

SETTINGS = ("probe_rate_mbps_label", "data_rate_mbps_label", "probe_frame_size")
"""Columns that say how a row was measured: kept with its trial, no figures."""

DEVICES = {"NetFPGA": "netfpga", "EZappliance": "ezappliance", "OpenVSwitch": "openvswitch"}
DESCRIPTIONS = {
    "netfpga": {
        "name": "NetFPGA 1G",
        "text": "NetFPGA 1G card behind xDPd, the ALIEN hardware abstraction layer",
    },
    "ezappliance": {"name": "EZappliance", "text": "EZappliance (EZchip NP-3 network processor) behind xDPd"},
    "openvswitch": {
        "name": "Open vSwitch",
        "text": "Open vSwitch in a virtual machine on the tester's host, version not stated",
    },
}

TOUCHES: Mapping[str, tuple[str, ...]] = {
    "probe_quantised": ("activation", "per_entry"),
    "ratio_artefact": ("throughput_ratio", "loss_ratio"),
    "ratio_mismatch": ("throughput_ratio", "loss_ratio", "sent", "received"),
    "short_window": ("throughput_ratio", "loss_ratio"),
    "overload_ramp": ("delay",),
    "count_plateau": ("sent", "received"),
    "count_mismatch": ("sent", "received"),
    "exceeds_duration": ("delay", "activation"),
    "rounding": ("per_entry",),
    "condition_merged": ("activation", "per_entry", "probe", "data"),
}
"""Which figures (by the start of their name) a note speaks of; a code that is not here speaks of the whole row."""

ADVICE = {
    "load_label_1000x": "Compare at equal frame sizes; do not read the label as the load.",
    "unpaced": "Leave this row out of comparisons at a given load.",
    "probe_quantised": "The true time lies up to one probe spacing below the value.",
    "ratio_artefact": "Take the loss as unknown.",
    "overload_ramp": "Compare the loss instead; this mean grows with the test's length.",
    "short_window": "Take the loss as a lower bound.",
    "value_suspect": "Leave the value out, or read its neighbours.",
}

DEFECTS = (
    "Loads are labels: the packet counts show that the document's spacing, meant in microseconds, was applied in "
    "milliseconds. Real loads are about 1/1000 of rate_mbps. At 1000 Mbit/s and 100 B packets were sent unpaced.",
    "Durations: the counts span about 14 to 30 s; the text says 60 s, or 30 s for the data path.",
    "The throughput ratio is received by sent, though the text says the inverse; loss here is 1 - ratio.",
    "No repeats, intervals or raw samples are published, so no significance can be stated.",
)
DEVICE_DEFECTS = {
    "netfpga": (
        "Packet-out: all 21 ratios equal (n-1)/n, and the counts of the 100 Mbit/s rows fit 250 Mbit/s.",
        "Flow-add times are multiples of the probe packets' spacing; small standard deviations are not accuracy. "
        "Tables 1-5 and 1-6 disagree for 100 flows.",
        "Table 1-4 (control channel delay) is an image and its values are lost; the text gives 1.28 ms.",
    ),
    "ezappliance": (
        "Flow-add times are multiples of the probe packets' spacing; Tables 1-11 and 1-12 disagree for 100 flows.",
        "Data path: the counts printed for 1300 B and 1100 B fit 1100 B and 900 B.",
        "Packet-in: ratio and counts disagree at 1000 Mbit/s and 1500 B; a delay of 115 s is printed for a 60 s test.",
        "Suspected misprints: packet-out medians 504 and 4490 and mean 7547, flow-add-max 0.05 s per flow for 40 flows.",
    ),
    "openvswitch": (
        "Apart from one row (control channel delay) Open vSwitch's results exist only as charts and are not available.",
        "Suspected misprint: standard deviation 6323.",
    ),
}  # fmt: skip

SKIPPED = {
    "netfpga": {"flow_mod": "the test is defined, but no results are published"},
    "ezappliance": {"flow_mod": "the test is defined, but no results are published"},
    "openvswitch": {
        name: "published only as charts; no values can be read from them"
        for name in ("packet_in", "packet_out", "data_path_delay", "flow_add", "flow_add_max")
    },
}


@dataclass(frozen=True)
class TextFigure:
    """Numbers of running text that make a figure: `quantity` in text_values.csv -> benchmark, figure, point."""

    device: str
    benchmark: str
    figure: str
    unit: str
    point: Mapping[str, int]
    factor: Decimal = Decimal(1)


TEXT_FIGURES = {
    "netfpga_control_channel_delay": TextFigure(
        "netfpga", "control_channel_delay", "delay_stated_us", "us", {}, Decimal(1000)
    ),
    "ezappliance_control_channel_delay": TextFigure(
        "ezappliance", "control_channel_delay", "delay_stated_us", "us", {}
    ),
    "netfpga_data_path_delay_100B": TextFigure(
        "netfpga", "data_path_delay", "delay_stated_us", "us", {"frame_size": 100}
    ),
    "netfpga_data_path_delay_1500B": TextFigure(
        "netfpga", "data_path_delay", "delay_stated_us", "us", {"frame_size": 1500}
    ),
    "ezappliance_data_path_delay_100B": TextFigure(
        "ezappliance", "data_path_delay", "delay_stated_us", "us", {"frame_size": 100}
    ),
    "ezappliance_data_path_delay_1500B": TextFigure(
        "ezappliance", "data_path_delay", "delay_stated_us", "us", {"frame_size": 1500}
    ),
    "netfpga_packet_in_delay_variation": TextFigure(
        "netfpga", "packet_in", "delay_variation_stated_us", "us", {}
    ),
    "ezappliance_packet_out_mean_at_250_label": TextFigure(
        "ezappliance", "packet_out", "delay_stated_us", "us", {"rate_mbps": 250}, Decimal(1_000_000)
    ),
    "ezappliance_flow_add_per_flow_above_70_flows": TextFigure(
        "ezappliance", "flow_add", "per_entry_stated_us", "us", {}, Decimal(1000)
    ),
}
RESETS = {
    "netfpga_packet_out_reset_at_label": "netfpga",
    "ezappliance_packet_out_reset_at_label": "ezappliance",
}
"""text_values.csv: labels at which the switch reset the TCP connection, so that there are no results."""
