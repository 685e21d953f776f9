//! Several receive rings of one interface: the kernel spreads flows over them.

use crate::PortError;
use crate::linux::Socket;

/// As with `PACKET_IGNORE_OUTGOING`, for the whole group.
const IGNORE_OUTGOING: i32 = 0x4000;
/// The kernel chooses a number that no other group has.
const UNIQUE_ID: i32 = 0x2000;

/// A group of sockets, each of which gets the frames of some flows: which, the frame's addresses and ports decide.
#[derive(Debug, Default)]
pub(super) struct Fanout {
    /// Known once it has a member.
    id: Option<i32>,
}

impl Fanout {
    /// Adds a socket that is bound to the interface.
    pub fn join(&mut self, socket: &Socket) -> Result<(), PortError> {
        let kind = libc::PACKET_FANOUT_HASH as i32 | IGNORE_OUTGOING;
        let new = kind | UNIQUE_ID;
        let flags = if self.id.is_some() { kind } else { new };
        socket.set(libc::SOL_PACKET, libc::PACKET_FANOUT, self.id.unwrap_or(0) | flags << 16)?;
        if self.id.is_none() {
            let told = socket.get::<1>(libc::SOL_PACKET, libc::PACKET_FANOUT);
            let [value] = told.ok_or_else(|| socket.error("getsockopt"))?;
            self.id = Some((value & 0xffff) as i32);
        }
        Ok(())
    }
}
