//! Several controllers: their roles, who may change the switch, and who hears what of the others.

use crate::controller::Controller;
use crate::core::{Core, DONE, Outcome};
use crate::events::Event;
use crate::hearing;
use flowgauge_openflow::{
    AsyncConfig, Body, ChannelStatus, ControllerRole, ControllerStatus, ControllerStatusReason, ErrorCode,
    Message, RequestBody, Role, RoleReason, RoleStatus, Version,
};

/// What a controller is told while no election was heard of.
const NO_GENERATION: u64 = u64::MAX;

impl Core {
    /// Whether a controller may ask for this: a secondary one changes nothing (1.3.5, 6.3.4).
    ///
    /// # Errors
    /// IS_SECONDARY (the specification's IS_SLAVE).
    pub fn permit(&self, who: usize, body: &Body) -> Result<(), ErrorCode> {
        if changes(body) { self.permit_change(who) } else { Ok(()) }
    }

    /// Whether a controller may change the switch.
    ///
    /// # Errors
    /// As [`Core::permit`].
    pub fn permit_change(&self, who: usize) -> Result<(), ErrorCode> {
        let is_secondary = self.outlet.controllers[who].role == ControllerRole::Secondary;
        if is_secondary { Err(ErrorCode::IsSecondary) } else { Ok(()) }
    }

    /// ROLE_REQUEST: there is one primary controller at most; the former becomes secondary.
    pub fn role(&mut self, who: usize, xid: u32, request: Role) -> Outcome {
        // 1.0's roles, which are Nicira's, know no elections.
        let is_old = self.controller(who).version == Version::V1_0;
        self.take_role(who, request.role, (!is_old).then_some(request.generation_id))?;
        if request.role != ControllerRole::NoChange && request.short_id != 0 {
            self.controller(who).short_id = request.short_id;
        }
        let Controller { role, short_id, .. } = *self.controller(who);
        let generation_id = self.generation_id.unwrap_or(NO_GENERATION);
        self.reply(who, xid, Body::RoleReply(Role { role, generation_id, short_id }))
    }

    /// Gives a controller the role that it asks for. Without elections (Nicira's requests) none is late.
    ///
    /// # Errors
    /// A role that nobody knows; a request of an election that is over.
    pub fn take_role(
        &mut self,
        who: usize,
        role: ControllerRole,
        generation_id: Option<u64>,
    ) -> Result<(), ErrorCode> {
        match role {
            ControllerRole::NoChange => {}
            ControllerRole::Equal => self.set_role(who, role),
            ControllerRole::Primary | ControllerRole::Secondary => {
                generation_id.map_or(Ok(()), |id| self.accept_generation(id))?;
                if role == ControllerRole::Primary {
                    self.dethrone(who);
                }
                self.set_role(who, role);
            }
            ControllerRole::Unknown(_) => return Err(ErrorCode::RoleBadRole),
        }
        Ok(())
    }

    /// Notes the number of an election. Numbers go around: late ones are those "behind" by less than half.
    fn accept_generation(&mut self, generation_id: u64) -> Result<(), ErrorCode> {
        match self.generation_id {
            Some(known) if (generation_id.wrapping_sub(known) as i64) < 0 => Err(ErrorCode::RoleStale),
            Some(_) | None => {
                self.generation_id = Some(generation_id);
                Ok(())
            }
        }
    }

    /// Makes the primary controller, if another than `who` is it, a secondary one, and tells it so (since 1.4).
    fn dethrone(&mut self, who: usize) {
        let generation_id = self.generation_id.unwrap_or(NO_GENERATION);
        let is_primary = |c: &Controller| c.role == ControllerRole::Primary;
        let found = (0..self.outlet.controllers.len())
            .find(|&other| other != who && is_primary(&self.outlet.controllers[other]));
        let Some(other) = found else { return };
        self.set_role(other, ControllerRole::Secondary);
        let (role, reason) = (ControllerRole::Secondary, RoleReason::PrimaryRequest);
        let controller = self.controller(other);
        if controller.version >= Version::V1_4 && controller.wants(|m| m.role_status, reason.code()) {
            let status = RoleStatus { role, reason, generation_id, properties: vec![] };
            controller.tell(Body::RoleStatus(status));
        }
    }

    fn set_role(&mut self, who: usize, role: ControllerRole) {
        let controller = &mut self.outlet.controllers[who];
        if std::mem::replace(&mut controller.role, role) != role {
            let controller = controller.name.clone();
            self.events.push(Event::Role { controller, role });
            self.tell_status(who, ControllerStatusReason::Role, ChannelStatus::Up);
        }
    }

    /// SET_ASYNC: from 1.4 on, what a request leaves out stays as it is.
    pub fn set_async(&mut self, who: usize, wanted: AsyncConfig) -> Outcome {
        let controller = self.controller(who);
        hearing::check(&wanted, controller.version)?;
        let old = &controller.asked_for;
        controller.asked_for = AsyncConfig {
            primary: old.primary.changed_by(wanted.primary),
            secondary: old.secondary.changed_by(wanted.secondary),
            properties: Vec::new(),
        };
        DONE
    }

    /// Tells the other controllers of a GROUP_MOD or METER_MOD that was done (since 1.4).
    pub fn forward_request(&mut self, who: usize, xid: u32, body: &Body) {
        let reason = u8::from(matches!(body, Body::MeterMod(_)));
        for (other, controller) in self.outlet.controllers.iter_mut().enumerate() {
            if other != who
                && controller.version >= Version::V1_4
                && controller.wants(|m| m.request_forward, reason)
            {
                controller.tell(Body::RequestForward(Box::new(Message { xid, body: body.clone() })));
            }
        }
    }

    /// How a controller fares.
    pub fn controller_status(&self, who: usize, reason: ControllerStatusReason) -> ControllerStatus {
        let controller = &self.outlet.controllers[who];
        ControllerStatus {
            short_id: controller.short_id,
            role: controller.role,
            reason,
            channel_status: ChannelStatus::Up,
            uri: Some(controller.name.clone()),
            properties: vec![],
        }
    }

    /// Tells all that want to know how a controller fares (since 1.5).
    pub fn tell_status(&mut self, who: usize, reason: ControllerStatusReason, channel_status: ChannelStatus) {
        let status = ControllerStatus { channel_status, ..self.controller_status(who, reason) };
        for controller in &mut self.outlet.controllers {
            if controller.version >= Version::V1_5 && controller.wants(|m| m.controller_status, reason.code())
            {
                controller.tell(Body::ControllerStatus(status.clone()));
            }
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
        | Body::MeterMod(_)
        | Body::BundleControl(_)
        | Body::BundleAddMessage(_) => true,
        Body::MultipartRequest(request) => {
            matches!(&request.body, RequestBody::TableFeatures(wanted) if !wanted.is_empty())
        }
        Body::Hello(_)
        | Body::Error(_)
        | Body::EchoRequest(_)
        | Body::EchoReply(_)
        | Body::Experimenter(_)
        | Body::Nicira(_)
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
        | Body::RoleStatus(_)
        | Body::TableStatus(_)
        | Body::RequestForward(_)
        | Body::ControllerStatus(_)
        | Body::Unknown { .. } => false,
    }
}
