//! Headers.
mod extensions;
mod numbers;
pub use numbers::{ether_type, icmp_type, ip_proto};
/// IPv6.
pub mod ipv6 {
    pub use super::extensions::{Extension, Extensions};
}
