//! Where everything goes that the datapath emits: ports, and the connections to controllers.

use crate::buffers::Buffers;
use crate::controller::{Controller, is_whole};
use crate::port::SwitchPort;
use flowgauge_clock::Nanos;
use flowgauge_datapath::{Punt, Sink};
use flowgauge_openflow::{
    Body, FlowRemoved, Match, PacketIn, PacketInReason, PortStatus, PortStatusReason, TableStatus, Version,
};
use flowgauge_packet::Field;

/// The most bytes of a frame that fit a PACKET_IN.
const MOST_DATA: usize = 65_000;

/// A frame on its way out of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emitted {
    /// OpenFlow number of the port.
    pub port: u32,
    /// The queue that it is to go through.
    pub queue: Option<u32>,
    /// Without FCS.
    pub bytes: Vec<u8>,
}

/// Ports and controllers: the datapath's sink.
pub struct Outlet {
    pub ports: Vec<SwitchPort>,
    /// Index in `ports` by OpenFlow number; `u16::MAX` for none.
    by_number: Vec<u16>,
    pub controllers: Vec<Controller>,
    pub buffers: Buffers,
    /// The time of this turn, or of the request that is being handled.
    pub now: Nanos,
    /// Where frames go instead of out of their ports: whoever drives the switch takes them.
    pub tray: Option<Vec<Emitted>>,
    /// PACKET_INs that a controller was too slow to take.
    pub packet_ins_dropped: u64,
}

impl Outlet {
    pub fn new(ports: Vec<SwitchPort>, buffers: Buffers, now: Nanos) -> Outlet {
        let highest = ports.iter().map(|p| p.number as usize).max().unwrap_or(0);
        let mut by_number = vec![u16::MAX; highest + 1];
        for (index, port) in ports.iter().enumerate() {
            by_number[port.number as usize] = index as u16;
        }
        Outlet { ports, by_number, controllers: Vec::new(), buffers, now, tray: None, packet_ins_dropped: 0 }
    }

    /// The index of the port of that OpenFlow number.
    #[inline]
    pub fn index_of(&self, number: u32) -> Option<usize> {
        let index = usize::from(*self.by_number.get(number as usize)?);
        (index < self.ports.len()).then_some(index)
    }

    /// The port of that OpenFlow number.
    #[inline]
    pub fn port_mut(&mut self, number: u32) -> Option<&mut SwitchPort> {
        let index = *self.by_number.get(number as usize)?;
        self.ports.get_mut(usize::from(index))
    }

    /// Sends all that is staged.
    pub fn flush(&mut self) {
        let now = self.now;
        self.ports.iter_mut().for_each(|port| port.flush(now));
        self.controllers.iter_mut().for_each(Controller::flush);
    }

    /// Tells the controllers that a port has changed.
    pub fn announce(&mut self, index: usize, reason: PortStatusReason) {
        for controller in &mut self.controllers {
            if controller.wants(|m| m.port_status, reason.code()) {
                let port = self.ports[index].describe(controller.version);
                controller.tell(Body::PortStatus(PortStatus { reason, port }));
            }
        }
    }
}

impl Sink for Outlet {
    #[inline]
    fn output(&mut self, port: u32, queue: Option<u32>, bytes: &[u8]) {
        let Some(index) = self.index_of(port) else { return };
        match &mut self.tray {
            None => self.ports[index].send(queue, bytes),
            Some(tray) if self.ports[index].sends() => {
                tray.push(Emitted { port, queue, bytes: bytes.to_vec() });
            }
            Some(_) => {}
        }
    }

    fn punt(&mut self, punt: &Punt<'_>) {
        let in_port = punt.key.get(Field::InPort).unwrap_or(0) as u32;
        // The packet is kept once, for whichever controller asks first.
        let mut kept: Option<Option<u32>> = None;
        for controller in &mut self.controllers {
            let Some((wanted, reason)) = controller.wants_packet(punt) else { continue };
            if controller.is_behind() {
                self.packet_ins_dropped += 1;
                continue;
            }
            let mut keep = || self.buffers.keep(punt.bytes, in_port, self.now);
            let buffer_id = if is_whole(wanted) { None } else { *kept.get_or_insert_with(&mut keep) };
            let bytes = if buffer_id.is_some() { usize::from(wanted) } else { MOST_DATA };
            controller.tell(Body::PacketIn(packet_in(punt, reason, buffer_id, bytes)));
        }
    }

    fn flow_removed(&mut self, removed: FlowRemoved) {
        self.controllers.iter_mut().for_each(|controller| controller.tell_removed(&removed));
    }

    fn table_status(&mut self, status: TableStatus) {
        for controller in &mut self.controllers {
            if controller.version >= Version::V1_4
                && controller.wants(|m| m.table_status, status.reason.code())
            {
                controller.tell(Body::TableStatus(status.clone()));
            }
        }
    }
}

/// The PACKET_IN of a punt with at most so many bytes of the frame.
fn packet_in(punt: &Punt<'_>, reason: PacketInReason, buffer_id: Option<u32>, bytes: usize) -> PacketIn {
    let mut told = Match::any();
    for field in [Field::InPort, Field::Metadata, Field::TunnelId] {
        let value = punt.key.get(field).unwrap_or(0);
        if field == Field::InPort || value != 0 {
            told = told.with(field, value);
        }
    }
    PacketIn {
        buffer_id,
        total_len: u16::try_from(punt.bytes.len()).unwrap_or(u16::MAX),
        reason,
        table_id: punt.table_id,
        cookie: punt.cookie,
        match_: told,
        data: punt.bytes[..punt.bytes.len().min(bytes).min(MOST_DATA)].to_vec(),
    }
}
