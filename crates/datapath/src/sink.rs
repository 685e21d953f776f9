//! What goes into a datapath and what comes out of it.

use flowgauge_clock::Nanos;
use flowgauge_openflow::{FlowRemoved, PacketInReason};
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
    /// How many of its bytes the controller wants; 0xffff: all (OFPCML_NO_BUFFER).
    pub max_len: u16,
    /// Why it is sent.
    pub reason: PacketInReason,
    /// The table whose entry, or lack of one, sent it.
    pub table_id: u8,
    /// Cookie of the entry; all ones when there was none.
    pub cookie: u64,
    /// Its key: ingress port and metadata are told to the controller.
    pub key: &'a FlowKey,
}

/// Takes what a datapath emits. Called within [`Datapath::process`], so it should only copy and return.
pub trait Sink {
    /// Send a frame out of a port. `port` is a number that the datapath was told of.
    fn output(&mut self, port: u32, bytes: &[u8]);

    /// Send a frame to the controller.
    fn punt(&mut self, punt: &Punt<'_>);

    /// Tell the controller that an entry is gone.
    fn flow_removed(&mut self, removed: FlowRemoved);
}

/// Takes everything to nowhere.
impl Sink for () {
    fn output(&mut self, _port: u32, _bytes: &[u8]) {}
    fn punt(&mut self, _punt: &Punt<'_>) {}
    fn flow_removed(&mut self, _removed: FlowRemoved) {}
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
