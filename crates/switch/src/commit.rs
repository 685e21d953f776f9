//! Committing a bundle: all of its requests take effect, or none.

use crate::bundles::Stored;
use crate::core::{Core, DONE, Outcome, check_in_port};
use flowgauge_clock::Nanos;
use flowgauge_datapath::{Punt, Sink};
use flowgauge_openflow::{
    Body, BundleAdd, BundleControl, BundleControlType, ErrorCode, FlowMod, FlowModCommand, FlowRemoved,
    PacketOut, PortConfig, TableStatus, Version,
};

/// Where the message begins in a BUNDLE_ADD_MESSAGE.
const INNER: usize = 16;

/// What waits until it is certain that all requests can be done.
#[derive(Default)]
struct Withheld {
    removed: Vec<FlowRemoved>,
    tables: Vec<TableStatus>,
    /// Ports that were changed: index, and how they were.
    ports: Vec<(usize, PortConfig, bool)>,
    packets: Vec<PacketOut>,
    /// Buffered packets that new entries are for.
    buffers: Vec<u32>,
}

impl Sink for Withheld {
    // Changing entries sends no frames.
    fn output(&mut self, _port: u32, _queue: Option<u32>, _bytes: &[u8]) {}
    fn punt(&mut self, _punt: &Punt<'_>) {}

    fn flow_removed(&mut self, removed: FlowRemoved) {
        self.removed.push(removed);
    }

    fn table_status(&mut self, status: TableStatus) {
        self.tables.push(status);
    }
}

impl Core {
    /// BUNDLE_ADD_MESSAGE.
    pub fn bundle_add(&mut self, who: usize, xid: u32, request: BundleAdd, frame: &[u8]) -> Outcome {
        let inner = frame.get(INNER..).unwrap_or(&[]);
        self.controller(who).bundles.add(xid, request, inner).and(DONE)
    }

    /// BUNDLE_CONTROL; gives the reply.
    ///
    /// # Errors
    /// The bundle isn't there, can't be opened or closed, or one of its requests failed.
    pub fn bundle_control(
        &mut self,
        who: usize,
        request: &BundleControl,
    ) -> Result<BundleControl, ErrorCode> {
        let bundles = &mut self.controller(who).bundles;
        let done = match request.control_type {
            BundleControlType::OpenRequest => {
                bundles.open(request)?;
                BundleControlType::OpenReply
            }
            BundleControlType::CloseRequest => {
                bundles.close(request)?;
                BundleControlType::CloseReply
            }
            BundleControlType::DiscardRequest => {
                bundles.discard(request)?;
                BundleControlType::DiscardReply
            }
            BundleControlType::CommitRequest => {
                let bundle = bundles.take(request)?;
                self.commit(who, bundle.requests)?;
                BundleControlType::CommitReply
            }
            BundleControlType::OpenReply
            | BundleControlType::CloseReply
            | BundleControlType::CommitReply
            | BundleControlType::DiscardReply
            | BundleControlType::Unknown(_) => return Err(ErrorCode::BundleBadType),
        };
        Ok(BundleControl::new(request.bundle_id, done, request.flags))
    }

    /// Carries requests out. If one fails, those before it are undone, and the controller is told which.
    fn commit(&mut self, who: usize, requests: Vec<Stored>) -> Result<(), ErrorCode> {
        let (version, now) = (self.controller(who).version, self.outlet.now);
        let mut withheld = Withheld::default();
        self.pipeline.begin();
        for request in &requests {
            if let Err(code) = self.carry_out(&request.body, version, now, &mut withheld) {
                self.pipeline.roll_back();
                for (index, config, spares_stp) in withheld.ports.into_iter().rev() {
                    self.outlet.ports[index].config = config;
                    self.outlet.ports[index].spares_stp = spares_stp;
                }
                self.refuse(who, request.xid, code, &request.quote);
                return Err(ErrorCode::BundleMessageFailed);
            }
        }
        self.pipeline.commit();
        self.release(withheld, now);
        for request in &requests {
            if matches!(request.body, Body::GroupMod(_) | Body::MeterMod(_)) {
                self.forward_request(who, request.xid, &request.body);
            }
        }
        Ok(())
    }

    /// Does what a request asks of tables, groups, meters and ports; frames and announcements wait.
    fn carry_out(
        &mut self,
        body: &Body,
        version: Version,
        now: Nanos,
        withheld: &mut Withheld,
    ) -> Result<(), ErrorCode> {
        match body {
            Body::FlowMod(request) => {
                self.pipeline.flow_mod(request, version, now, withheld)?;
                if let Some(buffer_id) = request.buffer_id.filter(|_| resumes(request)) {
                    self.outlet.buffers.check(buffer_id)?;
                    withheld.buffers.push(buffer_id);
                }
                Ok(())
            }
            Body::GroupMod(request) => self.pipeline.group_mod(request, now, withheld),
            Body::MeterMod(request) => self.pipeline.meter_mod(request, now, withheld),
            Body::TableMod(request) => self.pipeline.table_mod(request, version),
            Body::PortMod(request) => {
                let index = self.check_port_mod(request, version)?;
                let port = &mut self.outlet.ports[index];
                withheld.ports.push((index, port.config, port.spares_stp));
                port.change(request, version);
                Ok(())
            }
            Body::PacketOut(request) => {
                check_in_port(request.in_port, version)?;
                request.buffer_id.map_or(Ok(0), |id| self.outlet.buffers.check(id))?;
                self.pipeline.check_packet_out(request, version)?;
                withheld.packets.push(request.clone());
                Ok(())
            }
            // Refused when it was to be added.
            _ => Err(ErrorCode::BundleMessageUnsupported),
        }
    }

    /// Lets out what waited.
    fn release(&mut self, withheld: Withheld, now: Nanos) {
        withheld.removed.into_iter().for_each(|removed| self.outlet.flow_removed(removed));
        withheld.tables.into_iter().for_each(|status| self.outlet.table_status(status));
        for (index, before, _) in withheld.ports {
            if self.outlet.ports[index].config != before {
                self.port_changed(index);
            }
        }
        // Two requests may name one buffer: the first has it.
        for buffer_id in withheld.buffers {
            let _ = self.resume(buffer_id);
        }
        for packet in withheld.packets {
            let _ = self.send_out(packet, now);
        }
    }
}

/// Whether the buffered packet that a FLOW_MOD names goes through the tables afterwards.
pub fn resumes(request: &FlowMod) -> bool {
    match request.command {
        FlowModCommand::Add | FlowModCommand::Modify | FlowModCommand::ModifyStrict => true,
        FlowModCommand::Delete | FlowModCommand::DeleteStrict | FlowModCommand::Unknown(_) => false,
    }
}
