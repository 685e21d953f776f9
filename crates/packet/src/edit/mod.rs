//! Edits in place: what OpenFlow's actions do to a frame.
//!
//! Fields are set where they lie, and the checksums that cover them are updated, not recomputed (RFC 1624): a
//! frame with a wrong checksum keeps a wrong one. Tags are pushed and popped by moving the few bytes before
//! them, into the headroom of a [`FrameBuf`]. Nothing allocates, and no bytes panic: an edit that the frame
//! doesn't allow leaves it as it was and says why ([`EditError`]).

mod checksums;
mod frame_buf;
mod set_field;
mod tags;
#[cfg(test)]
mod tests;
mod ttl;

use crate::Field;
pub use frame_buf::FrameBuf;
pub use set_field::{set_field, set_field_at};
pub use tags::{pop_mpls, pop_pbb, pop_vlan, push_mpls, push_pbb, push_vlan};
pub use ttl::{copy_ttl_in, copy_ttl_out, dec_mpls_ttl, dec_ttl, set_mpls_ttl, set_ttl};

/// Why a frame was left as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The frame hasn't the header that the field is in.
    #[error("the frame has no {0}")]
    Absent(Field),
    /// A field of the pipeline, which frames don't hold, or one that isn't a header field of its own.
    #[error("{0} can't be set in a frame")]
    NotInFrames(Field),
    /// There is no such tag to pop.
    #[error("the frame has no such tag")]
    NoTag,
    /// There is no room in front of the frame.
    #[error("the buffer has no room for another tag")]
    NoRoom,
    /// The time to live would fall to 0.
    #[error("the time to live has run out")]
    TtlExpired,
}
