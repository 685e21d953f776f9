//! Edits in place.
mod frame_buf;
use crate::Field;
pub use frame_buf::FrameBuf;

/// Why a frame was left as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The frame hasn't the field's header.
    #[error("the frame has no {0}")]
    Absent(Field),
    /// The field is no part of frames.
    #[error("{0} is not part of a frame")]
    NotInFrames(Field),
    /// The frame hasn't such a tag (or room for its removal).
    #[error("the frame has no such tag")]
    NoTag,
    /// There is no room in the buffer.
    #[error("the buffer has no room for another tag")]
    NoRoom,
    /// The time to live would fall to 0.
    #[error("the time to live has run out")]
    TtlExpired,
}

/// Sets a field in place; checksums follow.
pub fn set_field(_frame: &mut [u8], _field: Field, _value: u128) -> Result<(), EditError> {
    todo!()
}
/// Pushes an outer VLAN tag of EtherType `tpid`.
pub fn push_vlan(_frame: &mut FrameBuf<'_>, _tpid: u16) -> Result<(), EditError> {
    todo!()
}
/// Pops the outer VLAN tag.
pub fn pop_vlan(_frame: &mut FrameBuf<'_>) -> Result<(), EditError> {
    todo!()
}
/// Pushes an outer MPLS entry.
pub fn push_mpls(_frame: &mut FrameBuf<'_>, _eth_type: u16) -> Result<(), EditError> {
    todo!()
}
/// Pops the outer MPLS entry; the EtherType becomes `eth_type`.
pub fn pop_mpls(_frame: &mut FrameBuf<'_>, _eth_type: u16) -> Result<(), EditError> {
    todo!()
}
/// Pushes PBB.
pub fn push_pbb(_frame: &mut FrameBuf<'_>) -> Result<(), EditError> {
    todo!()
}
/// Pops PBB.
pub fn pop_pbb(_frame: &mut FrameBuf<'_>) -> Result<(), EditError> {
    todo!()
}
/// Decrements IPv4's TTL or IPv6's hop limit.
pub fn dec_ttl(_frame: &mut [u8]) -> Result<(), EditError> {
    todo!()
}
/// Sets IPv4's TTL or IPv6's hop limit.
pub fn set_ttl(_frame: &mut [u8], _ttl: u8) -> Result<(), EditError> {
    todo!()
}
/// Decrements the outer MPLS entry's TTL.
pub fn dec_mpls_ttl(_frame: &mut [u8]) -> Result<(), EditError> {
    todo!()
}
/// Sets the outer MPLS entry's TTL.
pub fn set_mpls_ttl(_frame: &mut [u8], _ttl: u8) -> Result<(), EditError> {
    todo!()
}
/// Copies TTL outwards.
pub fn copy_ttl_out(_frame: &mut [u8]) -> Result<(), EditError> {
    todo!()
}
/// Copies TTL inwards.
pub fn copy_ttl_in(_frame: &mut [u8]) -> Result<(), EditError> {
    todo!()
}
