//! Requests: what each OpenFlow message makes the switch do, and what it answers.

use crate::outlet::{Controller, Outlet};
use crate::statistics::Pending;
use flowgauge_clock::{Clock, Nanos};
use flowgauge_datapath::{Frame, Miss, Pipeline, PortRule, check};
use flowgauge_openflow::{
    Body, Capabilities, ControllerRole, ErrorCode, ErrorMessage, Features, FlowMod, FlowModCommand,
    FragmentHandling, Header, Message, PacketOut, PortConfig, PortMod, PortNo, QueueConfig, Role,
    SwitchConfig, TABLE_ALL, TableMod, Version, decode,
};

/// Bytes of a refused message that its ERROR holds (the specification asks for at least 64).
const QUOTE: usize = 64;
/// 1.0's bitmap of the actions that we do: all but ENQUEUE.
const ACTIONS_1_0: u32 = 0x7ff;

/// Everything that requests read and change.
pub struct Core {
    pub datapath_id: u64,
    pub pipeline: Pipeline,
    pub outlet: Outlet,
    pub started: Nanos,
    pub max_entries: u32,
}

/// What becomes of a request.
type Outcome = Result<Option<Pending>, ErrorCode>;

const DONE: Outcome = Ok(None);

impl Core {
    /// Handles one request of controller `who`. What takes longer is given back, to be continued.
    pub fn handle(&mut self, who: usize, frame: &[u8]) -> Option<Pending> {
        let xid = Header::parse(frame).map_or(0, |h| h.xid);
        let outcome = match decode(frame) {
            Ok((_, Message { body, .. })) => self.answer(who, xid, body),
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
            Body::FeaturesRequest => self.reply(who, xid, Body::FeaturesReply(self.features(who))),
            Body::GetConfigRequest => self.reply(who, xid, Body::GetConfigReply(self.config(who))),
            Body::SetConfig(config) => self.set_config(who, config),
            Body::FlowMod(request) => self.flow_mod(who, &request),
            Body::PacketOut(request) => self.packet_out(&request),
            Body::PortMod(request) => self.port_mod(&request),
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
            Body::Nicira(_) | Body::Experimenter(_) => Err(ErrorCode::BadExperimenter),
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

    fn refuse(&mut self, who: usize, xid: u32, code: ErrorCode, frame: &[u8]) {
        let code = in_version(code, self.controller(who).version);
        let quote = &frame[..frame.len().min(QUOTE)];
        self.controller(who).send(xid, Body::Error(ErrorMessage::new(code, quote)));
    }

    fn features(&self, who: usize) -> Features {
        let is_old = self.outlet.controllers[who].version == Version::V1_0;
        let common = Capabilities::FLOW_STATS | Capabilities::TABLE_STATS | Capabilities::PORT_STATS;
        Features {
            datapath_id: self.datapath_id,
            n_buffers: 0,
            n_tables: if is_old { 1 } else { self.pipeline.tables().len() as u8 },
            auxiliary_id: 0,
            capabilities: if is_old { common | Capabilities::ARP_MATCH_IP } else { common },
            actions: if is_old { ACTIONS_1_0 } else { 0 },
            ports: if is_old { self.outlet.ports.iter().map(|p| p.describe()).collect() } else { vec![] },
        }
    }

    fn config(&self, who: usize) -> SwitchConfig {
        let miss_send_len = self.outlet.controllers[who].miss_send_len;
        SwitchConfig { fragments: FragmentHandling::Normal, miss_send_len }
    }

    fn set_config(&mut self, who: usize, config: SwitchConfig) -> Outcome {
        self.controller(who).miss_send_len = config.miss_send_len;
        match config.fragments {
            FragmentHandling::Normal => DONE,
            FragmentHandling::Drop | FragmentHandling::Reassemble | FragmentHandling::Unknown(_) => {
                Err(ErrorCode::ConfigBadFlags)
            }
        }
    }

    fn flow_mod(&mut self, who: usize, request: &FlowMod) -> Outcome {
        let version = self.controller(who).version;
        if request.command == FlowModCommand::Delete {
            return Ok(Some(Pending::Delete(self.pipeline.plan_delete(request, false, version)?)));
        }
        self.pipeline.flow_mod(request, version, Clock.now(), &mut self.outlet)?;
        // We keep no packets: whichever the entry was to be applied to is not here.
        let adds = matches!(
            request.command,
            FlowModCommand::Add | FlowModCommand::Modify | FlowModCommand::ModifyStrict
        );
        if adds && request.buffer_id.is_some() { Err(ErrorCode::BufferUnknown) } else { DONE }
    }

    fn packet_out(&mut self, request: &PacketOut) -> Outcome {
        check::packet_out(request)?;
        let frame = Frame { bytes: &request.data, in_port: request.in_port.0 };
        self.pipeline.packet_out(frame, &request.actions, Clock.now(), &mut self.outlet);
        DONE
    }

    fn port_mod(&mut self, request: &PortMod) -> Outcome {
        let Some(port) = self.outlet.port_mut(request.port_no.0) else {
            return Err(ErrorCode::PortModBadPort);
        };
        if port.describe().hw_addr != request.hw_addr {
            return Err(ErrorCode::PortModBadHwAddr);
        }
        port.config = PortConfig(port.config.0 & !request.mask.0 | request.config.0 & request.mask.0);
        let flood = !port.config.contains(PortConfig::NO_FLOOD);
        self.pipeline.set_port(PortRule { number: request.port_no.0, flood });
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

    fn role(&mut self, who: usize, xid: u32, request: Role) -> Outcome {
        let controller = self.controller(who);
        match request.role {
            ControllerRole::NoChange => {}
            ControllerRole::Equal | ControllerRole::Primary | ControllerRole::Secondary => {
                controller.role = request.role;
            }
            ControllerRole::Unknown(_) => return Err(ErrorCode::RoleBadRole),
        }
        let granted = Role { role: controller.role, ..request };
        self.reply(who, xid, Body::RoleReply(granted))
    }

    fn queue_config(&mut self, who: usize, xid: u32, port: PortNo) -> Outcome {
        if port != PortNo::ANY && self.outlet.port_mut(port.0).is_none() {
            return Err(ErrorCode::QueueBadPort);
        }
        self.reply(who, xid, Body::QueueGetConfigReply(QueueConfig { port, queues: vec![] }))
    }

    /// Frames that match nothing go to controllers that speak 1.0, as long as there are any.
    pub fn adapt_to_controllers(&mut self) {
        let has_old = self.outlet.controllers.iter().any(|c| c.version == Version::V1_0);
        let max_len = u16::MAX;
        self.pipeline.set_miss(if has_old { Miss::Punt { max_len } } else { Miss::Drop });
    }
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
