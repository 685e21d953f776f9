//! Prints the actions of 1.0 in its own words, where later versions have others: `mod_dl_src`, `strip_vlan`.

use std::fmt;

use flowgauge_packet::Field;

use super::print::List;
use super::print_action::{Actions, Instructions};
use super::value;
use crate::{Action, Instruction, Version};

/// Actions as ovs-ofctl prints those of a message of that version.
pub(super) struct ActionsOf<'a>(pub Version, pub &'a [Action]);

impl fmt::Display for ActionsOf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ActionsOf(version, actions) = *self;
        if version != Version::V1_0 || actions.is_empty() {
            return write!(f, "{}", Actions(actions));
        }
        let mut list = List { f, empty: true };
        actions.iter().try_for_each(|action| list.item(Old(action)))
    }
}

/// Instructions, likewise.
pub(super) struct InstructionsOf<'a>(pub Version, pub &'a [Instruction]);

impl fmt::Display for InstructionsOf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            InstructionsOf(version, [Instruction::ApplyActions(actions)]) => {
                write!(f, "{}", ActionsOf(version, actions))
            }
            InstructionsOf(_, instructions) => write!(f, "{}", Instructions(instructions)),
        }
    }
}

/// An action of 1.0.
struct Old<'a>(&'a Action);

impl fmt::Display for Old<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self.0 {
            Action::PopVlan => f.write_str("strip_vlan"),
            Action::SetNwTtl(0) => f.write_str("load:0->NXM_NX_IP_TTL[]"),
            Action::SetNwTtl(ttl) => write!(f, "load:{ttl:#x}->NXM_NX_IP_TTL[]"),
            Action::SetField { field, value, mask } if mask == field.full_mask() => match name(field) {
                Some(name) if field == Field::IpDscp => write!(f, "{name}:{}", value << 2),
                Some(name) => write!(f, "{name}:{}", value::print_set(field, value, mask)),
                None => write!(f, "{}", self.0),
            },
            ref action => write!(f, "{action}"),
        }
    }
}

/// The action of 1.0, or of Nicira's, that sets all of the field.
fn name(field: Field) -> Option<&'static str> {
    match field {
        Field::EthSrc => Some("mod_dl_src"),
        Field::EthDst => Some("mod_dl_dst"),
        Field::Ipv4Src => Some("mod_nw_src"),
        Field::Ipv4Dst => Some("mod_nw_dst"),
        Field::IpDscp => Some("mod_nw_tos"),
        Field::TunnelId => Some("set_tunnel"),
        _ => None,
    }
}
