//! What AF_PACKET and AF_XDP share: interfaces, packet sockets, other network namespaces.

mod interface;
mod socket;

pub(crate) use interface::{Interface, LinkState};
pub(crate) use socket::{Socket, within};
