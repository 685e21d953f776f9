//! Counters of a switch port.

/// What passed a port of the switch, in OpenFlow's terms. Bytes are without FCS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Frames that came in.
    pub rx_packets: u64,
    /// Their bytes.
    pub rx_bytes: u64,
    /// Frames that came in and found no waiting place.
    pub rx_dropped: u64,
    /// Frames that left.
    pub tx_packets: u64,
    /// Their bytes.
    pub tx_bytes: u64,
    /// Frames that found no place in an output queue.
    pub tx_dropped: u64,
}
