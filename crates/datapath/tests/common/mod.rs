//! What the tests share: a sink that remembers, and hand-made frames.
#![allow(dead_code)]

use flowgauge_datapath::{Punt, Sink};
use flowgauge_openflow::{FlowRemoved, PacketInReason, TableStatus};
use flowgauge_packet::{Field, FlowKey};

/// A punt, owned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Punted {
    pub bytes: Vec<u8>,
    pub max_len: Option<u16>,
    pub reason: PacketInReason,
    pub table_id: u8,
    pub cookie: u64,
    pub key: FlowKey,
}

/// Remembers all that a datapath emits.
#[derive(Default)]
pub struct Memory {
    pub outputs: Vec<(u32, Vec<u8>)>,
    /// The queues of the outputs.
    pub queues: Vec<Option<u32>>,
    pub punts: Vec<Punted>,
    pub removed: Vec<FlowRemoved>,
    pub table_events: Vec<TableStatus>,
}

impl Memory {
    /// The ports of the frames emitted since the last call.
    pub fn take_ports(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.outputs).into_iter().map(|(port, _)| port).collect()
    }
}

impl Sink for Memory {
    fn output(&mut self, port: u32, queue: Option<u32>, bytes: &[u8]) {
        self.queues.push(queue);
        self.outputs.push((port, bytes.to_vec()));
    }

    fn punt(&mut self, p: &Punt<'_>) {
        let Punt { bytes, max_len, reason, table_id, cookie, key, .. } = *p;
        self.punts.push(Punted { bytes: bytes.to_vec(), max_len, reason, table_id, cookie, key: *key });
    }

    fn flow_removed(&mut self, removed: FlowRemoved) {
        self.removed.push(removed);
    }

    fn table_status(&mut self, status: TableStatus) {
        self.table_events.push(status);
    }
}

/// A 64-byte frame (with FCS) of Ethernet, IPv4 and UDP, with a TTL of 64.
pub fn udp_frame(dst: u32, port: u16) -> Vec<u8> {
    let mut bytes = vec![0u8; 60];
    bytes[..12].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
    bytes[12..24].copy_from_slice(&[8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17]);
    bytes[26..30].copy_from_slice(&[10, 0, 0, 1]);
    bytes[30..34].copy_from_slice(&dst.to_be_bytes());
    let sum: u32 = bytes[14..34].chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    bytes[24..26].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    bytes[34..36].copy_from_slice(&[0x10, 0]);
    bytes[36..38].copy_from_slice(&port.to_be_bytes());
    bytes[38..40].copy_from_slice(&[0, 26]);
    bytes
}

/// The value of a field of a frame.
pub fn field(bytes: &[u8], field: Field) -> Option<u128> {
    FlowKey::parse(bytes, 0).get(field)
}
