//! What AF_PACKET and AF_XDP share: interfaces, packet sockets, other network namespaces.

mod interface;
#[cfg(test)]
mod lab;
mod socket;
mod stamping;

pub(crate) use interface::{Interface, LinkState};
#[cfg(test)]
pub(crate) use lab::Lab;
pub(crate) use socket::{Socket, within};
pub(crate) use stamping::{CardStamps, StampAbilities, stamps};
