//! The layouts of statistics.

use super::actions::InstructionsWire;
use super::flow_match::MatchWire;
use crate::codec::wire::{After, Before, Port16, Text, U8, U16, U32, U64};
use crate::model::{FlowStats, FlowStatsRequest, GROUP_ANY, PortStats, QueueStats, TableStats};

layout!(FlowRequest: FlowStatsRequest {
    match_: MatchWire,
    table_id: Before<1, U8>,
    out_port: Port16,
} none { out_group: GROUP_ANY, cookie: 0, cookie_mask: 0 });

layout!(FlowStatsWire: FlowStats {
    table_id: Before<1, U8>,
    match_: MatchWire,
    duration_sec: U32,
    duration_nsec: U32,
    priority: U16,
    idle_timeout: U16,
    hard_timeout: U16,
    cookie: After<6, U64>,
    packet_count: U64,
    byte_count: U64,
    instructions: InstructionsWire,
} lost default);

layout!(TableStatsWire: TableStats {
    table_id: Before<3, U8>,
    name: Text<32>,
    wildcards: U32,
    max_entries: U32,
    active_count: U32,
    lookup_count: U64,
    matched_count: U64,
});

layout!(PortStatsWire: PortStats {
    port_no: Before<6, Port16>,
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
} lost default);

layout!(QueueStatsWire: QueueStats {
    port_no: Before<2, Port16>,
    queue_id: U32,
    tx_bytes: U64,
    tx_packets: U64,
    tx_errors: U64,
} lost { duration_sec: 0, duration_nsec: 0, properties: Vec::new() });
