//! One file per header. Each holds a *view* and a *representation*, under one contract:
//!
//! * `XView::new_checked(bytes)` checks that the header is whole and that its own lengths make sense. A view
//!   keeps arrays of known size, so its accessors can't panic, whatever the bytes. Values are not judged:
//!   checksums may be wrong, codes unknown. What follows the header is `payload()`, without bytes that the
//!   header's own length excludes (Ethernet padding behind IP).
//! * `X` owns the header's fields, checksum and length included, so nothing is lost ([`Header`]).
//!   `X::parse(emit(x)) == x`; `emit` writes every byte of the header and none behind it. Fields narrower
//!   than their type (a 3-bit priority in a `u8`) are cut off when emitted.
//! * Nothing computes a checksum or length unasked: `X::filled` returns a representation with both set.

mod arp;
mod error;
mod ethernet;
mod extensions;
mod icmp;
mod ipv4;
mod ipv6;
mod mpls;
mod neighbor;
mod numbers;
mod options;
mod pbb;
mod sctp;
mod tcp;
#[cfg(test)]
mod tests;
mod udp;
mod vlan;
mod vxlan;

pub use arp::{Arp, ArpView};
pub use error::HeaderError;
pub use ethernet::{Ethernet, EthernetView};
pub use extensions::{Extension, Extensions};
pub use icmp::{Icmp, IcmpView};
pub use ipv4::{Ipv4, Ipv4View};
pub use ipv6::{Ipv6, Ipv6View};
pub use mpls::{Mpls, MplsView};
pub use neighbor::{Neighbor, NeighborView};
pub use numbers::{ether_type, icmp_type, ip_proto};
pub use options::Options;
pub use pbb::{Pbb, PbbView};
pub use sctp::{Sctp, SctpView};
pub use tcp::{Tcp, TcpView};
pub use udp::{Udp, UdpView};
pub use vlan::{Vlan, VlanView};
pub use vxlan::{Vxlan, VxlanView};

/// The owned representation of a header. See the module's contract.
pub trait Header: Sized {
    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    /// [`HeaderError`] when it is cut off, or its lengths make no sense.
    fn parse(bytes: &[u8]) -> Result<Self, HeaderError>;

    /// Its length in bytes when emitted.
    fn buffer_len(&self) -> usize;

    /// Writes the header to the first `buffer_len()` bytes of `buf`.
    ///
    /// # Panics
    /// When `buf` is shorter than that.
    fn emit(&self, buf: &mut [u8]);
}
