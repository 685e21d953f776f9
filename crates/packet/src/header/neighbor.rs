//! Neighbour discovery: what follows the ICMPv6 header of a solicitation or advertisement (RFC 4861, 4.3,
//! 4.4, 4.6.1).

use std::net::Ipv6Addr;

use super::error::split;
use super::{Header, HeaderError};
use crate::MacAddr;
use crate::bytes::sub;

const SOURCE: u8 = 1;
const TARGET: u8 = 2;

/// A view of a neighbour message's target and options, which lie behind the ICMPv6 header.
#[derive(Clone, Copy, Debug)]
pub struct NeighborView<'a> {
    target: &'a [u8; 16],
    options: &'a [u8],
}

impl<'a> NeighborView<'a> {
    /// The target at the start of `bytes`, options behind it. Errors: cut off.
    pub fn new_checked(bytes: &'a [u8]) -> Result<NeighborView<'a>, HeaderError> {
        let (target, options) = split("neighbor", bytes)?;
        Ok(NeighborView { target, options })
    }

    /// Target address.
    pub fn target(&self) -> Ipv6Addr {
        (*self.target).into()
    }

    /// Source link-layer address: the first such option.
    pub fn source(&self) -> Option<MacAddr> {
        self.address(SOURCE)
    }

    /// Target link-layer address: the first such option.
    pub fn target_address(&self) -> Option<MacAddr> {
        self.address(TARGET)
    }

    /// The options that are whole, each with its type, up to the first that is not.
    pub fn options(&self) -> impl Iterator<Item = (u8, &'a [u8])> + use<'a> {
        let mut rest = self.options;
        std::iter::from_fn(move || {
            let &[kind, len, ..] = rest else { return None };
            if len == 0 {
                return None;
            }
            let (option, next) = rest.split_at_checked(usize::from(len) * 8)?;
            rest = next;
            Some((kind, option))
        })
    }

    fn address(&self, wanted: u8) -> Option<MacAddr> {
        self.options().filter(|&(kind, _)| kind == wanted).find_map(|(_, option)| {
            let option: &[u8; 8] = option.try_into().ok()?;
            Some(MacAddr(sub(option, 2)))
        })
    }
}

/// A neighbour message's target and link-layer addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Neighbor {
    /// Target address.
    pub target: Ipv6Addr,
    /// Source link-layer address option.
    pub source: Option<MacAddr>,
    /// Target link-layer address option.
    pub target_address: Option<MacAddr>,
}

impl Header for Neighbor {
    /// Other options are not kept.
    fn parse(bytes: &[u8]) -> Result<Neighbor, HeaderError> {
        let view = NeighborView::new_checked(bytes)?;
        Ok(Neighbor { target: view.target(), source: view.source(), target_address: view.target_address() })
    }

    fn buffer_len(&self) -> usize {
        16 + 8 * (usize::from(self.source.is_some()) + usize::from(self.target_address.is_some()))
    }

    fn emit(&self, buf: &mut [u8]) {
        buf[..16].copy_from_slice(&self.target.octets());
        let mut at = 16;
        for (kind, address) in [(SOURCE, self.source), (TARGET, self.target_address)] {
            if let Some(address) = address {
                buf[at..at + 2].copy_from_slice(&[kind, 1]);
                buf[at + 2..at + 8].copy_from_slice(&address.0);
                at += 8;
            }
        }
    }
}
