//! Where everything goes that the datapath emits: ports, and the connections to controllers.

use crate::port::SwitchPort;
use flowgauge_channel::Connection;
use flowgauge_datapath::{Punt, Sink, removed_reason_in};
use flowgauge_openflow::{
    AsyncConfig, AsyncMasks, Body, ControllerRole, FlowRemoved, Match, Message, PacketIn, PacketInReason,
    PortConfig, PortStatus, PortStatusReason, TableStatus, Version, encode,
};
use flowgauge_packet::Field;

/// Bytes that may wait for a controller before PACKET_INs to it are dropped: a controller that doesn't read
/// must not make us hold what it will never get.
const BACKLOG: u64 = 4 << 20;
/// The most bytes of a frame that fit a PACKET_IN.
const MOST_DATA: usize = 65_000;

/// The sending side of a connection to a controller.
pub struct Controller {
    pub connection: Connection,
    pub version: Version,
    /// Messages that leave at the end of the turn.
    out: Vec<u8>,
    pub miss_send_len: u16,
    pub role: ControllerRole,
    pub asked_for: AsyncConfig,
    next_xid: u32,
}

impl Controller {
    pub fn new(connection: Connection, version: Version) -> Controller {
        // The default of 1.3.5, 6.3.6: all but invalid TTLs; a secondary controller gets port changes only.
        let primary = AsyncMasks { packet_in: 0b011, port_status: 0b111, flow_removed: 0b1111 };
        let secondary = AsyncMasks { packet_in: 0, port_status: 0b111, flow_removed: 0 };
        Controller {
            connection,
            version,
            out: Vec::with_capacity(64 << 10),
            miss_send_len: 128,
            role: ControllerRole::Equal,
            asked_for: AsyncConfig { primary, secondary },
            next_xid: 0,
        }
    }

    /// Queues a message. What the version can't say is left out: nothing that we send is that.
    pub fn send(&mut self, xid: u32, body: Body) {
        let result = encode(&Message { xid, body }, self.version, &mut self.out);
        debug_assert!(result.is_ok(), "{result:?}");
    }

    /// Whether it has read little of what it was sent.
    pub fn is_behind(&self) -> bool {
        self.connection.queued_bytes() + self.out.len() as u64 > BACKLOG
    }

    /// Hands the messages of this turn to the connection.
    pub fn flush(&mut self) {
        if !self.out.is_empty() {
            // A connection that has ended is noticed and dropped by the loop.
            let _ = self.connection.send_raw(&self.out);
            self.out.clear();
        }
    }

    fn tell(&mut self, body: Body) {
        self.next_xid = self.next_xid.wrapping_add(1);
        self.send(self.next_xid, body);
    }

    fn wants(&self, reasons: impl Fn(&AsyncMasks) -> u32, reason: u8) -> bool {
        let masks = match self.role {
            ControllerRole::Secondary => &self.asked_for.secondary,
            ControllerRole::NoChange
            | ControllerRole::Equal
            | ControllerRole::Primary
            | ControllerRole::Unknown(_) => &self.asked_for.primary,
        };
        reasons(masks) >> reason & 1 == 1
    }
}

/// Ports and controllers: the datapath's sink.
pub struct Outlet {
    pub ports: Vec<SwitchPort>,
    /// Index in `ports` by OpenFlow number; `u16::MAX` for none.
    by_number: Vec<u16>,
    pub controllers: Vec<Controller>,
    /// PACKET_INs that a controller was too slow to take.
    pub packet_ins_dropped: u64,
}

impl Outlet {
    pub fn new(ports: Vec<SwitchPort>) -> Outlet {
        let highest = ports.iter().map(|p| p.number as usize).max().unwrap_or(0);
        let mut by_number = vec![u16::MAX; highest + 1];
        for (index, port) in ports.iter().enumerate() {
            by_number[port.number as usize] = index as u16;
        }
        Outlet { ports, by_number, controllers: Vec::new(), packet_ins_dropped: 0 }
    }

    /// The port of that OpenFlow number.
    #[inline]
    pub fn port_mut(&mut self, number: u32) -> Option<&mut SwitchPort> {
        let index = *self.by_number.get(number as usize)?;
        self.ports.get_mut(usize::from(index))
    }

    /// Sends all that is staged.
    pub fn flush(&mut self) {
        self.ports.iter_mut().for_each(SwitchPort::flush);
        self.controllers.iter_mut().for_each(Controller::flush);
    }

    /// Tells the controllers that a port has changed.
    pub fn announce(&mut self, index: usize, reason: PortStatusReason) {
        let port = self.ports[index].describe();
        for controller in &mut self.controllers {
            if controller.wants(|m| m.port_status, reason.code()) {
                controller.tell(Body::PortStatus(PortStatus { reason, port: port.clone() }));
            }
        }
    }
}

impl Sink for Outlet {
    #[inline]
    fn output(&mut self, port: u32, _queue: Option<u32>, bytes: &[u8]) {
        if let Some(port) = self.port_mut(port) {
            port.stage(bytes);
        }
    }

    fn punt(&mut self, punt: &Punt<'_>) {
        let in_port = punt.key.get(Field::InPort).unwrap_or(0) as u32;
        if self.port_mut(in_port).is_some_and(|p| p.config.contains(PortConfig::NO_PACKET_IN)) {
            return;
        }
        // Without an entry there was a miss that only 1.0 sends to its controller.
        let is_plain_miss = punt.reason == PacketInReason::NoMatch && punt.cookie == u64::MAX;
        for controller in &mut self.controllers {
            let is_old = controller.version == Version::V1_0;
            if is_plain_miss && !is_old
                || !controller.wants(|m| m.packet_in, punt.reason_in(controller.version).code())
            {
                continue;
            }
            if controller.is_behind() {
                self.packet_ins_dropped += 1;
                continue;
            }
            let wanted = punt.max_len.unwrap_or(controller.miss_send_len);
            let reason = punt.reason_in(controller.version);
            controller.tell(Body::PacketIn(PacketIn { reason, ..packet_in(punt, wanted) }));
        }
    }

    fn flow_removed(&mut self, removed: FlowRemoved) {
        for controller in &mut self.controllers {
            if controller.wants(|m| m.flow_removed, removed.reason.code()) {
                let reason = removed_reason_in(removed.reason, controller.version);
                controller.tell(Body::FlowRemoved(FlowRemoved { reason, ..removed.clone() }));
            }
        }
    }

    fn table_status(&mut self, _status: TableStatus) {}
}

/// The PACKET_IN of a punt with at most `max_len` bytes of the frame.
fn packet_in(punt: &Punt<'_>, max_len: u16) -> PacketIn {
    let mut told = Match::any();
    for field in [Field::InPort, Field::Metadata, Field::TunnelId] {
        let value = punt.key.get(field).unwrap_or(0);
        if field == Field::InPort || value != 0 {
            told = told.with(field, value);
        }
    }
    PacketIn {
        buffer_id: None,
        total_len: u16::try_from(punt.bytes.len()).unwrap_or(u16::MAX),
        reason: punt.reason,
        table_id: punt.table_id,
        cookie: punt.cookie,
        match_: told,
        data: punt.bytes[..punt.bytes.len().min(usize::from(max_len)).min(MOST_DATA)].to_vec(),
    }
}
