//! ovs-ofctl flow syntax: `priority=10,udp,nw_dst=10.0.0.1,tp_dst=80 actions=mod_nw_ttl:3,output:2`.
//!
//! [`parse_flow`] and [`parse_actions`] read what ovs-ofctl reads, in its own field names and in those of
//! [`Field`](flowgauge_packet::Field). [`FlowMod`]s, [`Match`]es and actions print as ovs-ofctl prints them, in a form that
//! parses to the same value again.

mod action;
mod dump;
mod error;
mod flow;
mod names;
mod print;
mod scan;
mod tcp_flags;
pub(crate) mod value;
mod vlan;

pub use action::parse_actions;
pub use dump::Dump;
pub use error::SyntaxError;
pub use flow::parse_flow;
pub use print::Actions;

#[cfg(test)]
mod tests;
