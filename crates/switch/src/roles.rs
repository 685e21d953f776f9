//! Several controllers: their roles, who may change the switch, and who hears what.

use crate::core::{Core, DONE, Outcome};
use crate::events::Event;
use flowgauge_openflow::{Body, ControllerRole, ErrorCode, Message, RequestBody, Role};

/// What a controller is told while no election was heard of.
const NO_GENERATION: u64 = u64::MAX;

impl Core {
    /// Whether a controller may ask for this: a secondary one changes nothing (1.3.5, 6.3.4).
    ///
    /// # Errors
    /// IS_SECONDARY (the specification's IS_SLAVE).
    pub fn permit(&self, who: usize, body: &Body) -> Result<(), ErrorCode> {
        let is_secondary = self.outlet.controllers[who].role == ControllerRole::Secondary;
        if is_secondary && changes(body) { Err(ErrorCode::IsSecondary) } else { Ok(()) }
    }

    /// ROLE_REQUEST: there is one primary controller at most; the former becomes secondary.
    pub fn role(&mut self, who: usize, xid: u32, request: Role) -> Outcome {
        match request.role {
            ControllerRole::NoChange => {}
            ControllerRole::Equal => self.set_role(who, ControllerRole::Equal),
            ControllerRole::Primary | ControllerRole::Secondary => {
                self.accept_generation(request.generation_id)?;
                if request.role == ControllerRole::Primary {
                    self.dethrone(who);
                }
                self.set_role(who, request.role);
            }
            ControllerRole::Unknown(_) => return Err(ErrorCode::RoleBadRole),
        }
        let role = self.controller(who).role;
        let generation_id = self.generation_id.unwrap_or(NO_GENERATION);
        self.reply(who, xid, Body::RoleReply(Role { role, generation_id, ..request }))
    }

    /// Notes the number of an election. Numbers go around, so that late ones are those "behind" by less than half.
    fn accept_generation(&mut self, generation_id: u64) -> Result<(), ErrorCode> {
        match self.generation_id {
            Some(known) if (generation_id.wrapping_sub(known) as i64) < 0 => Err(ErrorCode::RoleStale),
            Some(_) | None => {
                self.generation_id = Some(generation_id);
                Ok(())
            }
        }
    }

    /// Makes the primary controller, if another than `who` is it, a secondary one.
    pub fn dethrone(&mut self, who: usize) {
        for other in 0..self.outlet.controllers.len() {
            if other != who && self.outlet.controllers[other].role == ControllerRole::Primary {
                self.set_role(other, ControllerRole::Secondary);
            }
        }
    }

    /// Gives a controller a role.
    pub fn set_role(&mut self, who: usize, role: ControllerRole) {
        let controller = &mut self.outlet.controllers[who];
        if std::mem::replace(&mut controller.role, role) != role {
            let controller = controller.name.clone();
            self.events.push(Event::Role { controller, role });
        }
    }
}

/// Whether a request changes the switch.
fn changes(body: &Body) -> bool {
    match body {
        Body::PacketOut(_)
        | Body::FlowMod(_)
        | Body::GroupMod(_)
        | Body::PortMod(_)
        | Body::TableMod(_)
        | Body::MeterMod(_) => true,
        Body::MultipartRequest(request) => {
            matches!(&request.body, RequestBody::TableFeatures(wanted) if !wanted.is_empty())
        }
        Body::Hello(_)
        | Body::Error(_)
        | Body::EchoRequest(_)
        | Body::EchoReply(_)
        | Body::Experimenter(_)
        | Body::FeaturesRequest
        | Body::FeaturesReply(_)
        | Body::GetConfigRequest
        | Body::GetConfigReply(_)
        | Body::SetConfig(_)
        | Body::PacketIn(_)
        | Body::FlowRemoved(_)
        | Body::PortStatus(_)
        | Body::MultipartReply(_)
        | Body::BarrierRequest
        | Body::BarrierReply
        | Body::QueueGetConfigRequest(_)
        | Body::QueueGetConfigReply(_)
        | Body::RoleRequest(_)
        | Body::RoleReply(_)
        | Body::GetAsyncRequest
        | Body::GetAsyncReply(_)
        | Body::SetAsync(_)
        | Body::Unknown { .. } => false,
    }
}
