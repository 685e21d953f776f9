//! What goes into a datapath and what comes out of it.

use flowgauge_clock::Nanos;
use flowgauge_openflow::{
    FlowRemoved, FlowRemovedReason, PacketInReason, SendToController, TableStatus, Version,
};
use flowgauge_packet::FlowKey;

/// A frame that came in.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The frame without its FCS.
    pub bytes: &'a [u8],
    /// OpenFlow number of the port it came in on.
    pub in_port: u32,
}

/// A frame on its way to the controller.
#[derive(Clone, Copy, Debug)]
pub struct Punt<'a> {
    /// The frame as it is now, after the actions so far.
    pub bytes: &'a [u8],
    /// How many of its bytes the action asks for, 0xffff: all, without a buffer (OFPCML_NO_BUFFER). `None` when
    /// no action sent it: each controller then gets what it set with SET_CONFIG (miss_send_len).
    pub max_len: Option<u16>,
    /// Why it is sent, as exactly as 1.4 tells it; see [`Punt::reason_in`].
    pub reason: PacketInReason,
    /// The table whose entry, or lack of one, sent it.
    pub table_id: u8,
    /// Cookie of the entry; all ones when there was none.
    pub cookie: u64,
    /// Its key: ingress port and metadata are told to the controller.
    pub key: &'a FlowKey,
    /// What a `controller` action of Nicira's asks for: which controller, and what to tell it.
    pub asked: Option<&'a SendToController>,
}

impl Punt<'_> {
    /// Why it is sent, in the words of a version: until 1.3 an action set, a group and a PACKET_OUT were actions
    /// like others; 1.0 knows no invalid TTL.
    pub fn reason_in(&self, version: Version) -> PacketInReason {
        if self.reason.versions().include(version) { self.reason } else { PacketInReason::Action }
    }
}

/// Takes what a datapath emits. Called within [`Datapath::process`], so it should only copy and return.
pub trait Sink {
    /// Send a frame out of a port, through one of its queues if there is a `queue` (and the port has it). `port`
    /// may be one that the datapath was not told of; such frames are dropped.
    fn output(&mut self, port: u32, queue: Option<u32>, bytes: &[u8]);

    /// Send a frame to the controller.
    fn punt(&mut self, punt: &Punt<'_>);

    /// Tell the controller that an entry is gone.
    fn flow_removed(&mut self, removed: FlowRemoved);

    /// Tell the controller that a table has filled up, or has room again (1.4).
    fn table_status(&mut self, status: TableStatus);
}

/// Takes everything to nowhere.
impl Sink for () {
    fn output(&mut self, _port: u32, _queue: Option<u32>, _bytes: &[u8]) {}
    fn punt(&mut self, _punt: &Punt<'_>) {}
    fn flow_removed(&mut self, _removed: FlowRemoved) {}
    fn table_status(&mut self, _status: TableStatus) {}
}

/// Packets in, packets out: what the OpenFlow pipeline and Steve programs implement.
pub trait Datapath: Send {
    /// Processes frames in order. All are taken to arrive at `now`. Does not allocate once warm.
    fn process(&mut self, batch: &[Frame<'_>], now: Nanos, sink: &mut dyn Sink);

    /// Does what time brings about without a frame: at most `limit` timeouts. Whether more are due.
    fn expire(&mut self, now: Nanos, limit: usize, sink: &mut dyn Sink) -> bool;

    /// When [`Datapath::expire`] may next have something to do.
    fn next_deadline(&self) -> Option<Nanos>;
}

/// Why an entry is gone, in the words of a version: until 1.3 neither meters nor eviction are known, in 1.0 no
/// groups; the entry was deleted.
pub fn removed_reason_in(reason: FlowRemovedReason, version: Version) -> FlowRemovedReason {
    if reason.versions().include(version) { reason } else { FlowRemovedReason::Delete }
}
