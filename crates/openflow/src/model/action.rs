//! What is done to a packet.

use flowgauge_packet::Field;
use serde::{Deserialize, Serialize};

use super::{Nicira, OxmId, PortNo};

/// One action, of an action list, an action set or a group's bucket.
///
/// 1.0's `SET_DL_SRC`, `SET_NW_DST` and so on are [`Action::SetField`] here. What 1.0 does in a way that no later
/// version can is an action of its own: [`Action::SetVlanVid`], [`Action::SetTpSrc`], [`Action::Enqueue`] ...
/// Where a flow's match settles what they mean, later versions get what means the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Send out of a port.
    #[serde(with = "crate::json::output")]
    Output {
        /// Where to.
        port: PortNo,
        /// How many bytes the controller gets, if it is the port; [`Action::NO_BUFFER`] for all.
        max_len: u16,
    },
    /// Set a header field, or those of its bits that `mask` has (1.5; older versions: full mask only).
    #[serde(with = "crate::json::set_field")]
    SetField {
        /// The field.
        field: Field,
        /// Its new value.
        value: u128,
        /// The bits that are set.
        mask: u128,
    },
    /// Set the VLAN id, pushing a tag onto untagged packets (1.0). Later versions: `push_vlan` unless the
    /// flow's match says that there is a tag, then `set_field`.
    SetVlanVid(u16),
    /// Set the VLAN priority, pushing a tag (id 0) onto untagged packets (1.0). Later versions: as above.
    SetVlanPcp(u8),
    /// Set the TCP, UDP or SCTP source port (1.0), whichever the packet has. Later versions: the flow must
    /// match `ip_proto`.
    SetTpSrc(u16),
    /// Set the TCP, UDP or SCTP destination port, likewise.
    SetTpDst(u16),
    /// Send to a port's queue (1.0). Later versions: `set_queue`, `output`.
    Enqueue {
        /// The port.
        port: PortNo,
        /// The queue.
        queue_id: u32,
    },
    /// Copy the TTL from the next-to-outermost header to the outermost one.
    CopyTtlOut,
    /// Copy the TTL from the outermost header to the next one.
    CopyTtlIn,
    /// Set the TTL of the outer MPLS entry.
    SetMplsTtl(u8),
    /// Decrement the TTL of the outer MPLS entry.
    DecMplsTtl,
    /// Push a VLAN tag of that EtherType (0x8100, 0x88a8).
    PushVlan(#[serde(with = "crate::json::hex_number")] u16),
    /// Pop the outer VLAN tag (`STRIP_VLAN` in 1.0).
    PopVlan,
    /// Push an MPLS entry of that EtherType (0x8847, 0x8848).
    PushMpls(#[serde(with = "crate::json::hex_number")] u16),
    /// Pop the outer MPLS entry; the packet's EtherType becomes the given one.
    PopMpls(#[serde(with = "crate::json::hex_number")] u16),
    /// Choose the queue for later output.
    SetQueue(u32),
    /// Process in a group.
    Group(u32),
    /// Set the IPv4 TTL or IPv6 hop limit.
    SetNwTtl(u8),
    /// Decrement the IPv4 TTL or IPv6 hop limit.
    DecNwTtl,
    /// Push a PBB service tag of that EtherType (0x88e7).
    PushPbb(#[serde(with = "crate::json::hex_number")] u16),
    /// Pop the outer PBB service tag.
    PopPbb,
    /// Copy bits from one field to another (since 1.5).
    CopyField {
        /// How many bits.
        n_bits: u16,
        /// The first bit to copy, counted from the lowest.
        src_offset: u16,
        /// Where it goes, likewise.
        dst_offset: u16,
        /// The field to copy from.
        src: OxmId,
        /// The field to copy to.
        dst: OxmId,
    },
    /// Pass through a meter (since 1.5; an instruction before).
    Meter(u32),
    /// One of Nicira's actions.
    Nicira(Nicira),
    /// An experimenter's (1.0: vendor's) action.
    Experimenter {
        /// Whose.
        #[serde(with = "crate::json::hex_number")]
        experimenter: u32,
        /// What follows the experimenter's number, padding included.
        #[serde(with = "crate::json::hex")]
        data: Vec<u8>,
    },
    /// An action that is not known here.
    Unknown {
        /// Its type.
        action_type: u16,
        /// What follows type and length.
        #[serde(with = "crate::json::hex")]
        data: Vec<u8>,
    },
}

impl Action {
    /// The `max_len` that sends whole packets to the controller, unbuffered (OFPCML_NO_BUFFER).
    pub const NO_BUFFER: u16 = 0xffff;

    /// Send out of `port`; whole packets if it is the controller.
    pub const fn output(port: PortNo) -> Action {
        Action::Output { port, max_len: if port.0 == PortNo::CONTROLLER.0 { Action::NO_BUFFER } else { 0 } }
    }

    /// Set all bits of `field` to `value`.
    pub const fn set(field: Field, value: u128) -> Action {
        Action::SetField { field, value, mask: field.full_mask() }
    }
}
