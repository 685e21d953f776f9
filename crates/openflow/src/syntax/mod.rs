//! ovs-ofctl syntax: flows such as `priority=10,udp,nw_dst=10.0.0.1,tp_dst=80 actions=mod_nw_ttl:3,output:2`, groups, meters.
//!
//! [`parse_flow`], [`parse_actions`], [`parse_group`] and [`parse_meter`] read what ovs-ofctl reads, in its own field names
//! and in those of [`Field`](flowgauge_packet::Field). Flows, groups, meters, their statistics, matches and actions print
//! (`Display`) as ovs-ofctl prints them, in a form that parses to the same value again. [`Line`] prints whole messages.

mod action;
mod error;
mod extra;
mod flow;
mod group;
mod instruction;
mod learn;
mod message;
mod meter;
mod multipart;
mod names;
mod nicira;
mod nxm;
mod print;
mod print_action;
mod print_old;
mod reasons;
mod scan;
mod selection;
mod statistics;
mod tcp_flags;
pub(crate) mod value;
mod vlan;

pub use action::parse_actions;
pub use error::SyntaxError;
pub use flow::parse_flow;
pub use group::parse_group;
pub use message::Line;
pub use meter::parse_meter;
pub use print_action::{Actions, Instructions};

#[cfg(test)]
mod tests;
