//! The layouts of statistics and descriptions.

use super::instructions::Instructions;
use crate::codec::oxm::OxmMatch;
use crate::codec::wire::{After, Before, Bits, Port32, Since, Text, U8, U16, U32, U64, V1_4};
use crate::model::{AggregateStats, Desc, FlowStats, FlowStatsRequest, PortStats, QueueStats, TableStats};

layout!(DescWire: Desc {
    mfr_desc: Text<256>,
    hw_desc: Text<256>,
    sw_desc: Text<256>,
    serial_num: Text<32>,
    dp_desc: Text<256>,
});

layout!(FlowRequest: FlowStatsRequest {
    table_id: Before<3, U8>,
    out_port: Port32,
    out_group: Before<4, U32>,
    cookie: U64,
    cookie_mask: U64,
    match_: OxmMatch,
});

layout!(FlowStatsWire: FlowStats {
    table_id: Before<1, U8>,
    duration_sec: U32,
    duration_nsec: U32,
    priority: U16,
    idle_timeout: U16,
    hard_timeout: U16,
    flags: Bits<_, u16>,
    importance: Since<V1_4, 2, U16>,
    cookie: After<2, U64>,
    packet_count: U64,
    byte_count: U64,
    match_: OxmMatch,
    instructions: Instructions,
} lost default);

layout!(AggregateWire: AggregateStats {
    packet_count: U64,
    byte_count: U64,
    flow_count: Before<4, U32>,
} lost default);

layout!(TableStatsWire: TableStats {
    table_id: Before<3, U8>,
    active_count: U32,
    lookup_count: U64,
    matched_count: U64,
} lost { name: String::new(), wildcards: 0, max_entries: 0 });

layout!(PortStatsWire: PortStats {
    port_no: Before<4, Port32>,
    rx_packets: U64,
    tx_packets: U64,
    rx_bytes: U64,
    tx_bytes: U64,
    rx_dropped: U64,
    tx_dropped: U64,
    rx_errors: U64,
    tx_errors: U64,
    rx_frame_errors: U64,
    rx_over_errors: U64,
    rx_crc_errors: U64,
    collisions: U64,
    duration_sec: U32,
    duration_nsec: U32,
} lost default);

layout!(QueueStatsWire: QueueStats {
    port_no: Port32,
    queue_id: U32,
    tx_bytes: U64,
    tx_packets: U64,
    tx_errors: U64,
    duration_sec: U32,
    duration_nsec: U32,
} lost { properties: Vec::new() });
