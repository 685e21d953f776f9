//! Transmission: bursts by `sendmmsg`, from buffers made at the start.

use std::io;

use super::options::AfPacketOptions;
use crate::linux::{Interface, Socket};
use crate::pool::Pool;
use crate::{BURST, Burst, PortError, Slot};

/// What the socket may have under way in the driver, in bytes of kernel memory: about 1300 small frames, as many as fit a
/// card's ring. More would only wait in the kernel, after they were stamped.
const SEND_BUFFER: i32 = 1 << 20;

/// The EtherType that the socket is bound to: one for local experiments (IEEE 802).
///
/// The kernel notes it as the protocol of each frame and so need not look for headers in it, which makes sending 7 %
/// faster; the other end of a link goes by the frame itself. A filter keeps frames of that type from being received.
const EXPERIMENTAL: u16 = 0x88b5;

/// The sending half of a port.
pub(super) struct Transmitter {
    socket: Socket,
    pool: Pool,
    messages: Box<[libc::mmsghdr]>,
    pieces: Box<[libc::iovec]>,
    longest: usize,
    /// Frames that left.
    pub sent: u64,
    /// Frames that the kernel refused.
    pub errors: u64,
}

// SAFETY: the pointers in `messages` go to `pieces` (boxed, so they do not move), and those in `pieces` are only used
// within one call of `send`.
unsafe impl Send for Transmitter {}

impl Transmitter {
    pub fn new(socket: Socket, interface: &Interface, options: &AfPacketOptions) -> Result<Self, PortError> {
        if options.qdisc_bypass {
            socket.set(libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, 1i32)?;
        }
        // Needs CAP_NET_ADMIN; without, the default has to do.
        let _ = socket.set(libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, SEND_BUFFER);
        socket.refuse_all()?;
        socket.bind(interface.index, EXPERIMENTAL)?;
        let empty = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let mut pieces = vec![empty; BURST].into_boxed_slice();
        let messages = pieces.iter_mut().map(|piece| {
            // SAFETY: all zeros is a valid mmsghdr.
            let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
            message.msg_hdr.msg_iov = piece;
            message.msg_hdr.msg_iovlen = 1;
            message
        });
        let messages = messages.collect();
        let longest = interface.longest_frame();
        // An odd number of cache lines: the frames of a burst start at different ones.
        let room = longest.next_multiple_of(128) + 64;
        let pool = Pool::new(options.tx_slots.max(BURST), room);
        Ok(Transmitter { socket, pool, messages, pieces, longest, sent: 0, errors: 0 })
    }

    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    pub fn alloc(&mut self, burst: &mut Burst, n: usize) -> usize {
        let n = n.min(burst.room()).min(self.pool.available());
        (0..n).for_each(|_| burst.push(self.pool.get().expect("as many as are available")));
        n
    }

    pub fn put(&mut self, slot: Slot) {
        self.pool.put(slot);
    }

    pub fn send(&mut self, burst: &mut Burst, port: &str) -> Result<usize, PortError> {
        for (piece, slot) in self.pieces.iter_mut().zip(burst.iter()) {
            *piece = libc::iovec { iov_base: slot.as_ptr().cast_mut().cast(), iov_len: slot.len() };
        }
        let (messages, n) = (self.messages.as_mut_ptr(), burst.len() as u32);
        // SAFETY: the first `n` messages each point to one piece, which points to a frame that stays in `burst`.
        let result = unsafe { libc::sendmmsg(self.socket.fd(), messages, n, libc::MSG_DONTWAIT) };
        if result < 0 {
            return self.refused(burst, port);
        }
        let taken = result as usize;
        burst.take(taken).for_each(|slot| self.pool.put(slot));
        self.sent += taken as u64;
        Ok(taken)
    }

    /// The first frame of a burst was not sent: for now, or for good.
    #[cold]
    fn refused(&mut self, burst: &Burst, port: &str) -> Result<usize, PortError> {
        let down = |reason: &str| PortError::LinkDown { port: port.into(), reason: reason.into() };
        let source = io::Error::last_os_error();
        match source.raw_os_error().unwrap_or(libc::EIO) {
            libc::EAGAIN | libc::EINTR => Ok(0),
            libc::ENOBUFS => {
                // The queueing discipline or the driver had no room: the frame did not leave.
                self.errors += 1;
                Ok(0)
            }
            libc::ENETDOWN => Err(down("the interface was taken down")),
            libc::ENXIO | libc::ENODEV => Err(down("the interface was removed")),
            libc::EMSGSIZE => Err(PortError::FrameTooLong {
                port: port.into(),
                longest: self.longest,
                found: burst.first().map_or(0, Slot::len),
            }),
            _ => Err(PortError::System { port: port.into(), call: "sendmmsg", source }),
        }
    }
}
