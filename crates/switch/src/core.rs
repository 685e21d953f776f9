//! Requests: what each OpenFlow message makes the switch do, and what it answers.

use crate::controller::Controller;
use crate::events::Events;
use crate::outlet::Outlet;
use crate::statistics::Pending;
use flowgauge_clock::{Clock, Nanos};
use flowgauge_datapath::{Datapath, Frame, Miss, Pipeline, check};
use flowgauge_openflow::{
    Body, ErrorCode, ErrorMessage, FlowMod, FlowModCommand, FragmentHandling, Header, Message, PacketOut,
    PortNo, SwitchConfig, TABLE_ALL, TableMod, Version, decode,
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
    pub started: Nanos,
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
        let outcome = match decode(frame) {
            Ok((_, Message { body, .. })) => {
                self.permit(who, &body).and_then(|()| self.answer(who, xid, body))
            }
            Err(error) => Err(error.error_code()),
        };
        outcome.unwrap_or_else(|code| {
            self.refuse(who, xid, code, frame);
            None
        })
    }

    fn answer(&mut self, who: usize, xid: u32, body: Body) -> Outcome {
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
            Body::FlowMod(request) => self.flow_mod(who, &request),
            Body::PacketOut(request) => self.packet_out(who, request),
            Body::PortMod(request) => {
                let version = self.controller(who).version;
                self.port_mod(&request, version).and(DONE)
            }
            Body::TableMod(request) => self.table_mod(&request),
            Body::MultipartRequest(request) => self.multipart(who, xid, request),
            Body::BarrierRequest => self.reply(who, xid, Body::BarrierReply),
            Body::RoleRequest(request) => self.role(who, xid, request),
            Body::GetAsyncRequest => {
                let asked_for = self.controller(who).asked_for;
                self.reply(who, xid, Body::GetAsyncReply(asked_for))
            }
            Body::SetAsync(asked_for) => {
                self.controller(who).asked_for = asked_for;
                DONE
            }
            Body::QueueGetConfigRequest(port) => self.queue_config(who, xid, port),
            Body::GroupMod(_) => Err(ErrorCode::GroupOutOfGroups),
            Body::MeterMod(_) => Err(ErrorCode::MeterOutOfMeters),
            Body::Experimenter(_) => Err(ErrorCode::BadExperimenter),
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
            | Body::Unknown { .. } => Err(ErrorCode::BadType),
        }
    }

    pub fn controller(&mut self, who: usize) -> &mut Controller {
        &mut self.outlet.controllers[who]
    }

    pub fn reply(&mut self, who: usize, xid: u32, body: Body) -> Outcome {
        self.controller(who).send(xid, body);
        DONE
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

    fn flow_mod(&mut self, who: usize, request: &FlowMod) -> Outcome {
        let version = self.controller(who).version;
        if request.command == FlowModCommand::Delete {
            return Ok(Some(Pending::Delete(self.pipeline.plan_delete(request, false, version)?)));
        }
        self.pipeline.flow_mod(request, version, Clock.now(), &mut self.outlet)?;
        let adds = matches!(
            request.command,
            FlowModCommand::Add | FlowModCommand::Modify | FlowModCommand::ModifyStrict
        );
        match request.buffer_id {
            Some(buffer_id) if adds => self.resume(buffer_id),
            Some(_) | None => DONE,
        }
    }

    /// Sends a packet that was kept through the tables, which may treat it otherwise now.
    fn resume(&mut self, buffer_id: u32) -> Outcome {
        let kept = self.outlet.buffers.take(buffer_id)?;
        let frame = Frame { bytes: &kept.bytes, in_port: kept.in_port };
        self.pipeline.process(&[frame], Clock.now(), &mut self.outlet);
        DONE
    }

    fn packet_out(&mut self, who: usize, mut request: PacketOut) -> Outcome {
        let version = self.controller(who).version;
        check_in_port(request.in_port, version)?;
        let buffer_id = request.buffer_id.take();
        check::packet_out(&request)?;
        let bytes = match buffer_id {
            None => request.data,
            Some(buffer_id) => self.outlet.buffers.take(buffer_id)?.bytes,
        };
        let frame = Frame { bytes: &bytes, in_port: request.in_port.0 };
        self.pipeline.packet_out(frame, &request.actions, Clock.now(), &mut self.outlet);
        DONE
    }

    /// 1.3 defines no configuration; the bits that 1.1 had are accepted and mean nothing.
    fn table_mod(&mut self, request: &TableMod) -> Outcome {
        let is_there =
            request.table_id == TABLE_ALL || usize::from(request.table_id) < self.pipeline.tables().len();
        match request.config {
            _ if !is_there => Err(ErrorCode::TableModBadTable),
            0..=3 => DONE,
            _ => Err(ErrorCode::TableModBadConfig),
        }
    }

    /// Frames that match nothing go to controllers that speak 1.0, as long as there are any.
    pub fn adapt_to_controllers(&mut self) {
        let has_old = self.outlet.controllers.iter().any(|c| c.version == Version::V1_0);
        let max_len = u16::MAX;
        self.pipeline.set_miss(if has_old { Miss::Punt { max_len } } else { Miss::Drop });
    }
}

/// Whether a packet can have come in there: a port, the controller, or the switch itself.
fn check_in_port(port: PortNo, version: Version) -> Result<(), ErrorCode> {
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
