//! Requests: what each OpenFlow message makes the switch do, and what it answers.

use crate::commit::resumes;
use crate::controller::Controller;
use crate::events::Events;
use crate::monitors::Cause;
use crate::outlet::Outlet;
use crate::statistics::Pending;
use flowgauge_clock::Nanos;
use flowgauge_datapath::{Datapath, Frame, Miss, Pipeline};
use flowgauge_openflow::{
    Body, ErrorCode, ErrorMessage, FlowMod, FlowModCommand, FlowRemovedReason, FragmentHandling, Header,
    Message, PacketOut, PortNo, SwitchConfig, Version, decode,
};
use std::sync::Arc;

/// Bytes of a refused message that its ERROR holds (the specification asks for at least 64).
const QUOTE: usize = 64;

/// Everything that requests read and change.
pub struct Core {
    pub datapath_id: u64,
    pub description: String,
    pub pipeline: Pipeline,
    pub outlet: Outlet,
    pub max_entries: u32,
    pub fragments: FragmentHandling,
    /// The last election of a primary controller.
    pub generation_id: Option<u64>,
    pub events: Arc<Events>,
}

/// What becomes of a request.
pub type Outcome = Result<Option<Pending>, ErrorCode>;

pub const DONE: Outcome = Ok(None);

impl Core {
    /// Handles one request of controller `who`. What takes longer is given back, to be continued.
    pub fn handle(&mut self, who: usize, frame: &[u8]) -> Option<Pending> {
        let xid = Header::parse(frame).map_or(0, |h| h.xid);
        let mut reason = FlowRemovedReason::Delete;
        let outcome = match decode(frame) {
            Ok((_, Message { body, .. })) => {
                reason = why_entries_go(&body);
                self.permit(who, &body).and_then(|()| self.answer(who, xid, body, frame))
            }
            Err(error) => Err(error.error_code()),
        };
        let pending = outcome.unwrap_or_else(|code| {
            self.refuse(who, xid, code, frame);
            None
        });
        if self.pipeline.is_watched() {
            self.tell_changes(Cause { request: Some((who, xid)), reason: Some(reason) });
        }
        pending
    }

    /// Lets entries time out, at most `limit`. Whether more are due.
    pub fn expire(&mut self, now: Nanos, limit: usize) -> bool {
        let more = self.pipeline.expire(now, limit, &mut self.outlet);
        if self.pipeline.is_watched() {
            self.tell_changes(Cause { request: None, reason: None });
        }
        more
    }

    fn answer(&mut self, who: usize, xid: u32, body: Body, frame: &[u8]) -> Outcome {
        let version = self.controller(who).version;
        match body {
            Body::EchoRequest(data) => self.reply(who, xid, Body::EchoReply(data)),
            Body::FeaturesRequest => {
                let features = self.features(who);
                self.reply(who, xid, Body::FeaturesReply(features))
            }
            Body::GetConfigRequest => {
                let config = self.config(who);
                self.reply(who, xid, Body::GetConfigReply(config))
            }
            Body::SetConfig(config) => self.set_config(who, config),
            Body::FlowMod(request) => self.flow_mod(xid, &request, version),
            Body::PacketOut(request) => self.packet_out(request, version),
            Body::PortMod(request) => self.port_mod(&request, version).and(DONE),
            Body::TableMod(request) => self.pipeline.table_mod(&request, version).and(DONE),
            Body::GroupMod(_) | Body::MeterMod(_) => self.group_or_meter_mod(who, xid, &body),
            Body::MultipartRequest(request) => self.multipart(who, xid, request),
            Body::BarrierRequest => self.reply(who, xid, Body::BarrierReply),
            Body::RoleRequest(request) => self.role(who, xid, request),
            Body::GetAsyncRequest => {
                let asked_for = self.controller(who).asked_for.clone();
                self.reply(who, xid, Body::GetAsyncReply(asked_for))
            }
            Body::SetAsync(wanted) => self.set_async(who, wanted),
            Body::BundleControl(request) => {
                let done = self.bundle_control(who, &request)?;
                self.reply(who, xid, Body::BundleControl(done))
            }
            Body::BundleAddMessage(request) => self.bundle_add(who, xid, request, frame),
            Body::QueueGetConfigRequest(port) => self.queue_config(who, xid, port),
            Body::Experimenter(request) => self.experimenter(who, xid, &request, frame),
            Body::Nicira(request) => self.nicira(&request),
            // HELLOs are over, and an ERROR or reply of the controller's is nothing that we asked for.
            Body::Hello(_) | Body::Error(_) | Body::EchoReply(_) => DONE,
            Body::FeaturesReply(_)
            | Body::GetConfigReply(_)
            | Body::PacketIn(_)
            | Body::FlowRemoved(_)
            | Body::PortStatus(_)
            | Body::MultipartReply(_)
            | Body::BarrierReply
            | Body::QueueGetConfigReply(_)
            | Body::RoleReply(_)
            | Body::GetAsyncReply(_)
            | Body::RoleStatus(_)
            | Body::TableStatus(_)
            | Body::RequestForward(_)
            | Body::ControllerStatus(_)
            | Body::Unknown { .. } => Err(ErrorCode::BadType),
        }
    }

    pub fn controller(&mut self, who: usize) -> &mut Controller {
        &mut self.outlet.controllers[who]
    }

    /// Sends a reply.
    ///
    /// # Errors
    /// The version has no words for it, or no room.
    pub fn reply(&mut self, who: usize, xid: u32, body: Body) -> Outcome {
        if self.controller(who).send(xid, body) { DONE } else { Err(ErrorCode::BadLength) }
    }

    /// Answers a message with an error.
    pub fn refuse(&mut self, who: usize, xid: u32, code: ErrorCode, frame: &[u8]) {
        let code = in_version(code, self.controller(who).version);
        let quote = &frame[..frame.len().min(QUOTE)];
        self.controller(who).send(xid, Body::Error(ErrorMessage::new(code, quote)));
    }

    fn config(&self, who: usize) -> SwitchConfig {
        let miss_send_len = self.outlet.controllers[who].miss_send_len;
        SwitchConfig { fragments: self.fragments, miss_send_len }
    }

    fn set_config(&mut self, who: usize, config: SwitchConfig) -> Outcome {
        match config.fragments {
            FragmentHandling::Normal | FragmentHandling::Drop => {}
            FragmentHandling::Reassemble | FragmentHandling::Unknown(_) => {
                return Err(ErrorCode::ConfigBadFlags);
            }
        }
        self.fragments = config.fragments;
        self.controller(who).miss_send_len = config.miss_send_len;
        DONE
    }

    fn flow_mod(&mut self, xid: u32, request: &FlowMod, version: Version) -> Outcome {
        if request.command == FlowModCommand::Delete {
            let removal = self.pipeline.plan_delete(request, false, version)?;
            return Ok(Some(Pending::Delete { xid, removal }));
        }
        self.pipeline.flow_mod(request, version, self.outlet.now, &mut self.outlet)?;
        match request.buffer_id.filter(|_| resumes(request)) {
            Some(buffer_id) => self.resume(buffer_id).and(DONE),
            None => DONE,
        }
    }

    /// Sends a packet that was kept through the tables, which may treat it otherwise now.
    ///
    /// # Errors
    /// It isn't there (any more).
    pub fn resume(&mut self, buffer_id: u32) -> Result<(), ErrorCode> {
        let kept = self.outlet.buffers.take(buffer_id)?;
        let frame = Frame { bytes: &kept.bytes, in_port: kept.in_port };
        self.pipeline.process(&[frame], self.outlet.now, &mut self.outlet);
        Ok(())
    }

    fn packet_out(&mut self, request: PacketOut, version: Version) -> Outcome {
        check_in_port(request.in_port, version)?;
        self.pipeline.check_packet_out(&request, version)?;
        self.send_out(request, self.outlet.now).and(DONE)
    }

    /// Sends the packet of a PACKET_OUT that was checked.
    ///
    /// # Errors
    /// Its buffer isn't there (any more).
    pub fn send_out(&mut self, request: PacketOut, now: Nanos) -> Result<(), ErrorCode> {
        let bytes = match request.buffer_id {
            None => request.data,
            Some(buffer_id) => self.outlet.buffers.take(buffer_id)?.bytes,
        };
        let frame = Frame { bytes: &bytes, in_port: request.in_port.0 };
        self.pipeline.packet_out(frame, &request.actions, now, &mut self.outlet);
        Ok(())
    }

    fn group_or_meter_mod(&mut self, who: usize, xid: u32, body: &Body) -> Outcome {
        let now = self.outlet.now;
        match body {
            Body::GroupMod(request) => self.pipeline.group_mod(request, now, &mut self.outlet)?,
            Body::MeterMod(request) => self.pipeline.meter_mod(request, now, &mut self.outlet)?,
            _ => return DONE,
        }
        self.forward_request(who, xid, body);
        DONE
    }

    /// Frames that match nothing go to controllers that speak 1.0, as long as there are any.
    pub fn adapt_to_controllers(&mut self) {
        let has_old = self.outlet.controllers.iter().any(|c| c.version == Version::V1_0);
        self.pipeline.set_miss(if has_old { Miss::Punt } else { Miss::Drop });
    }
}

/// Why entries go that a request makes go.
fn why_entries_go(request: &Body) -> FlowRemovedReason {
    match request {
        Body::GroupMod(_) => FlowRemovedReason::GroupDelete,
        Body::MeterMod(_) => FlowRemovedReason::MeterDelete,
        Body::FlowMod(FlowMod { command: FlowModCommand::Add, .. }) => FlowRemovedReason::Eviction,
        _ => FlowRemovedReason::Delete,
    }
}

/// Whether a packet can have come in there: a port, the controller, or the switch itself.
pub fn check_in_port(port: PortNo, version: Version) -> Result<(), ErrorCode> {
    let none = port == PortNo::ANY && version == Version::V1_0;
    let is_fine = port == PortNo::CONTROLLER || port == PortNo::LOCAL || none;
    if is_fine || port.0 != 0 && !port.is_reserved() { Ok(()) } else { Err(ErrorCode::BadPort) }
}

/// The error, or the one that comes closest to it where the version hasn't got it.
fn in_version(code: ErrorCode, version: Version) -> ErrorCode {
    if code.wire(version).is_some() {
        return code;
    }
    let name = code.name();
    if name.starts_with("OFPBAC") {
        ErrorCode::ActionBadArgument
    } else if name.starts_with("OFPFMFC") || name.starts_with("OFPBMC") {
        ErrorCode::FlowModUnsupported
    } else {
        ErrorCode::RequestPermission
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_can_be_said_in_each_version() {
        for version in Version::IMPLEMENTED {
            for &code in ErrorCode::KNOWN {
                let said = in_version(code, version);
                let is_sayable = said.wire(version).is_some();
                assert!(is_sayable || version != Version::V1_0, "{code} in {version}");
            }
        }
    }
}
