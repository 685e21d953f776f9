//! Executing actions: what they do to a frame, and where it goes.

use crate::action_set::ActionSet;
use crate::group::Body;
use crate::journey::{Dead, Journey};
use crate::learning::Way;
use crate::machine::Machine;
use crate::meter::{Verdict, remarked};
use crate::sink::{Punt, Sink};
use crate::table::FlowTable;
use flowgauge_clock::Nanos;
use flowgauge_openflow::{
    Action, GroupType, METER_CONTROLLER, OxmId, PacketInReason, PortNo, SendToController,
};
use flowgauge_packet::{Field, FlowKey, edit};
use std::sync::Arc;

/// Which entry acts on the frame now: what the controller is told with it.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// The entry's table.
    pub table_id: u8,
    /// The entry's cookie.
    pub cookie: u64,
    /// Why a frame is sent to the controller from here.
    pub reason: PacketInReason,
}

impl Origin {
    /// The same entry, its action set.
    pub fn in_set(self) -> Origin {
        self.within(PacketInReason::ActionSet)
    }

    /// What a table-miss entry does is a miss wherever it does it.
    fn within(self, reason: PacketInReason) -> Origin {
        let is_miss = self.reason == PacketInReason::NoMatch;
        Origin { reason: if is_miss { self.reason } else { reason }, ..self }
    }
}

/// Somebody who acts: on which behalf, at what time, and with what.
pub struct Actor<'a> {
    pub machine: &'a mut Machine,
    /// The tables, where actions need them: to look frames up anew, or with egress tables.
    pub tables: Option<&'a mut [FlowTable]>,
    pub set: &'a mut ActionSet,
    pub sink: &'a mut dyn Sink,
    pub now: Nanos,
    pub from: Origin,
    /// Whether what is sent passes egress tables.
    pub has_egress: bool,
    /// How many further lookups led here.
    pub depth: u8,
}

impl Actor<'_> {
    /// Executes actions in their order.
    ///
    /// # Errors
    /// Why the frame must not go on.
    #[inline]
    pub fn act_all(&mut self, journey: &mut Journey<'_>, actions: &[Action]) -> Result<(), Dead> {
        actions.iter().try_for_each(|action| self.act(journey, action))
    }

    /// Executes one action.
    ///
    /// # Errors
    /// Why the frame must not go on. Where its TTL ran out, the controller has been told.
    #[inline]
    pub fn act(&mut self, journey: &mut Journey<'_>, action: &Action) -> Result<(), Dead> {
        if let Action::Output { port, max_len } = *action {
            if port.is_reserved() {
                self.output(journey, port, max_len);
            } else if port.0 != journey.in_port() {
                // A frame goes back where it came from only through IN_PORT (OpenFlow 1.3.5, 5.1).
                self.emit(journey, port.0);
            }
            return Ok(());
        }
        let result = self.act_otherwise(journey, action);
        if result == Err(Dead::TtlExpired) {
            self.punt(journey, None, Origin { reason: PacketInReason::InvalidTtl, ..self.from });
        }
        result
    }

    fn act_otherwise(&mut self, journey: &mut Journey<'_>, action: &Action) -> Result<(), Dead> {
        match *action {
            Action::Output { .. } => Ok(()),
            Action::SetField { field, value, mask } => journey.set_field(field, value, mask),
            Action::SetVlanVid(vid) => journey.set_tag(Field::VlanVid, u128::from(vid)),
            Action::SetVlanPcp(pcp) => journey.set_tag(Field::VlanPcp, u128::from(pcp)),
            Action::SetTpSrc(port) => journey.set_port([Field::TcpSrc, Field::UdpSrc, Field::SctpSrc], port),
            Action::SetTpDst(port) => journey.set_port([Field::TcpDst, Field::UdpDst, Field::SctpDst], port),
            Action::PushVlan(tpid) => journey.edit(|f| edit::push_vlan(f, tpid)),
            Action::PopVlan => journey.edit(edit::pop_vlan),
            Action::PushMpls(eth_type) => journey.edit(|f| edit::push_mpls(f, eth_type)),
            Action::PopMpls(eth_type) => journey.edit(|f| edit::pop_mpls(f, eth_type)),
            Action::PushPbb(_) => journey.edit(edit::push_pbb),
            Action::PopPbb => journey.edit(edit::pop_pbb),
            Action::SetNwTtl(ttl) => journey.edit(|f| edit::set_ttl(f.bytes_mut(), ttl)),
            Action::DecNwTtl => journey.edit(|f| edit::dec_ttl(f.bytes_mut())),
            Action::SetMplsTtl(ttl) => journey.edit(|f| edit::set_mpls_ttl(f.bytes_mut(), ttl)),
            Action::DecMplsTtl => journey.edit(|f| edit::dec_mpls_ttl(f.bytes_mut())),
            Action::CopyTtlOut => journey.edit(|f| edit::copy_ttl_out(f.bytes_mut())),
            Action::CopyTtlIn => journey.edit(|f| edit::copy_ttl_in(f.bytes_mut())),
            Action::CopyField { n_bits, src_offset, dst_offset, src, dst } => match (src, dst) {
                (OxmId::Field { field: src, .. }, OxmId::Field { field: dst, .. }) => {
                    let (from, to) = ((src, src_offset.into()), (dst, dst_offset.into()));
                    journey.copy_field(from, to, n_bits.into())
                }
                // Refused when the entry was added.
                (OxmId::Unknown { .. } | OxmId::Field { .. }, _) => Ok(()),
            },
            Action::SetQueue(queue) => {
                journey.set_queue(Some(queue));
                Ok(())
            }
            Action::Enqueue { port, queue_id } => {
                let before = journey.queue();
                journey.set_queue(Some(queue_id));
                self.output(journey, port, 0);
                journey.set_queue(before);
                Ok(())
            }
            Action::Group(id) => {
                self.group(journey, id);
                Ok(())
            }
            Action::Meter(id) => self.meter(journey, id),
            Action::Nicira(ref action) => self.extension(journey, action),
            // Refused when the entry was added.
            Action::Experimenter { .. } | Action::Unknown { .. } => Ok(()),
        }
    }

    /// Sends the frame through a meter.
    ///
    /// # Errors
    /// [`Dead::Metered`] when it is dropped.
    pub fn meter(&mut self, journey: &mut Journey<'_>, id: u32) -> Result<(), Dead> {
        self.machine.varies();
        match self.machine.meters.measure(id, journey.bytes().len(), self.now) {
            Verdict::Pass => Ok(()),
            Verdict::Drop => Err(Dead::Metered),
            Verdict::Remark(levels) => {
                let Some(dscp) = journey.key().get(Field::IpDscp) else { return Ok(()) };
                let new = remarked(dscp as u8, levels);
                journey.set_field(Field::IpDscp, new.into(), Field::IpDscp.full_mask())
            }
        }
    }

    /// Sends the frame to wherever an output action says.
    pub fn output(&mut self, journey: &mut Journey<'_>, port: PortNo, max_len: u16) {
        match port {
            PortNo::IN_PORT => self.emit_known(journey, journey.in_port()),
            PortNo::ALL => self.flood(journey, false),
            PortNo::FLOOD => self.flood(journey, true),
            PortNo::CONTROLLER => self.punt(journey, Some(max_len), self.from),
            PortNo::NORMAL => self.normal(journey),
            // TABLE is dealt with where PACKET_OUT is.
            PortNo::TABLE | PortNo::ANY => {}
            PortNo(number) if number != journey.in_port() => self.emit_known(journey, number),
            PortNo(_) => {}
        }
    }

    /// Sends the frame out of every port but its own, or of those that flood.
    fn flood(&mut self, journey: &mut Journey<'_>, only_flooding: bool) {
        for at in 0..self.machine.ports.rules().len() {
            let rule = self.machine.ports.rules()[at];
            if rule.number != journey.in_port() && (rule.flood || !only_flooding) {
                self.emit(journey, rule.number);
            }
        }
    }

    /// Sends the frame out of one port. A number that stands for something else is a port only if there is one, such
    /// as LOCAL.
    fn emit_known(&mut self, journey: &mut Journey<'_>, port: u32) {
        if !PortNo(port).is_reserved() || self.machine.ports.get(port).is_some() {
            self.emit(journey, port);
        }
    }

    /// Sends the frame out of one port.
    #[inline]
    pub fn emit(&mut self, journey: &mut Journey<'_>, port: u32) {
        if self.machine.ports.any(port, |rule| rule.no_fwd) {
            return;
        }
        if let (Some(first), true) = (self.machine.first_egress, self.has_egress) {
            return self.leave_by_tables(journey, port, first);
        }
        self.sink.output(port, journey.queue(), journey.leaving());
    }

    /// Forwards as a switch that learns (NORMAL).
    pub fn normal(&mut self, journey: &mut Journey<'_>) {
        self.machine.varies();
        let in_port = journey.in_port();
        // A frame of the controller's own teaches nothing.
        let learns = self.machine.ports.get(in_port).is_some();
        match self.machine.learning.way(journey.key(), in_port, learns, self.now) {
            Way::Nowhere => {}
            Way::Flood => self.flood(journey, true),
            Way::Port(port) if port == in_port => {}
            Way::Port(port) => self.emit(journey, port),
        }
    }

    /// Sends the frame to the controller, if the meter of such frames lets it pass.
    pub fn punt(&mut self, journey: &mut Journey<'_>, max_len: Option<u16>, from: Origin) {
        self.punt_as(journey, max_len, from, None);
    }

    /// The same, the way an action of Nicira's asks for.
    pub fn punt_as(
        &mut self,
        journey: &mut Journey<'_>,
        max_len: Option<u16>,
        from: Origin,
        asked: Option<&SendToController>,
    ) {
        let Origin { table_id, cookie, reason } = from;
        let is_muted = reason == PacketInReason::NoMatch
            && self.machine.ports.any(journey.in_port(), |rule| rule.no_packet_in);
        if is_muted {
            return;
        }
        let len = journey.bytes().len();
        if self.machine.trace.is_some() && self.machine.meters.has(METER_CONTROLLER) {
            self.machine.varies();
        }
        if self.machine.meters.measure(METER_CONTROLLER, len, self.now) == Verdict::Drop {
            return;
        }
        let (bytes, key) = journey.told();
        self.sink.punt(&Punt { bytes, max_len, reason, table_id, cookie, key, asked });
    }

    /// Sends the frame to a group. It is not changed here: each bucket has its own copy.
    fn group(&mut self, journey: &mut Journey<'_>, id: u32) {
        let Some(body) = self.machine.groups.enter(id, journey.bytes().len()) else { return };
        if let Some(trace) = &mut self.machine.trace {
            trace.group(id, journey.bytes().len());
        }
        let is_live = |place: usize| {
            body.buckets
                .get(place)
                .is_some_and(|b| self.machine.groups.is_bucket_live(b, &self.machine.ports))
        };
        match body.group_type {
            GroupType::All => {
                (0..body.buckets.len()).for_each(|place| self.bucket(journey, id, &body, place))
            }
            GroupType::Indirect => self.bucket(journey, id, &body, 0),
            GroupType::Select => {
                if let Some(place) = body.choose(journey.key(), is_live) {
                    self.bucket(journey, id, &body, place);
                }
            }
            GroupType::FastFailover => {
                if let Some(place) = (0..body.buckets.len()).find(|&place| is_live(place)) {
                    self.bucket(journey, id, &body, place);
                }
            }
            // Refused when the group was added.
            GroupType::Unknown(_) => {}
        }
    }

    fn bucket(&mut self, journey: &mut Journey<'_>, group: u32, body: &Arc<Body>, place: usize) {
        let Some(bucket) = body.buckets.get(place) else { return };
        self.machine.groups.count_bucket(group, place, journey.bytes().len());
        if let Some(trace) = &mut self.machine.trace {
            trace.bucket(group, place, journey.bytes().len());
        }
        let mut bench = self.machine.take_bench();
        let outer = self.from;
        self.from = outer.within(PacketInReason::Group);
        let mut key = FlowKey::default();
        let mut copy = journey.fork(&mut key, &mut bench);
        // Where the copy dies, the frame lives on.
        let _ = self.act_all(&mut copy, &bucket.actions);
        self.from = outer;
        self.machine.return_bench(bench);
    }
}
