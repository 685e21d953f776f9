//! One non-blocking TCP socket: reads with the kernel's receive stamps, writes, and what TCP knows.

use std::io::{self, ErrorKind, IoSlice, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::OnceLock;
use std::time::Duration;

use flowgauge_clock::{Clock, Nanos, WallOffset};

/// How long a measured offset from the wall clock is good for: that clock is slewed.
const OFFSET_AGE: Nanos = Nanos::from_millis(4);

/// What a read found.
pub enum Read {
    /// Bytes, and the kernel's stamp of the last segment among them, on the tester's clock.
    Bytes(usize, Option<Nanos>),
    /// Nothing now.
    Empty,
    /// The peer will send no more.
    End,
}

/// A connected socket.
pub struct Tcp {
    stream: TcpStream,
    offset: WallOffset,
    offset_at: Nanos,
    /// The last stamp given.
    latest: Nanos,
    written: u64,
}

impl Tcp {
    /// Takes over a connected stream: non-blocking, without Nagle's delay, with receive stamps.
    pub fn new(stream: TcpStream) -> io::Result<Tcp> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        ask_for_stamps(stream.as_raw_fd());
        let offset = Clock.offset_from_wall();
        Ok(Tcp { stream, offset, offset_at: Clock.now(), latest: Nanos::ZERO, written: 0 })
    }

    /// The peer's address.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.stream.peer_addr().ok()
    }

    /// Reads what is there.
    pub fn read(&mut self, room: &mut [u8]) -> io::Result<Read> {
        let mut control = Control([0; 128]);
        let mut part = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
        // SAFETY: msghdr is plain data for which all zeros is valid.
        let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
        header.msg_iov = &mut part;
        header.msg_iovlen = 1;
        header.msg_control = control.0.as_mut_ptr().cast();
        header.msg_controllen = control.0.len() as _;
        loop {
            // SAFETY: header points to `room` and `control`, both alive and of the stated lengths.
            let n = unsafe { libc::recvmsg(self.stream.as_raw_fd(), &mut header, libc::MSG_DONTWAIT) };
            if n == 0 {
                return Ok(Read::End);
            }
            if n > 0 {
                let stamp = kernel_stamp(&header).map(|wall| self.on_tester_clock(wall));
                return Ok(Read::Bytes(n as usize, stamp));
            }
            match io::Error::last_os_error() {
                e if e.kind() == ErrorKind::WouldBlock => return Ok(Read::Empty),
                e if e.kind() == ErrorKind::Interrupted => {}
                e => return Err(e),
            }
        }
    }

    /// Hands bytes to the kernel; 0 when it takes none now.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            // SAFETY: the pointer and length are those of `bytes`.
            let n = unsafe {
                libc::send(
                    self.stream.as_raw_fd(),
                    bytes.as_ptr().cast(),
                    bytes.len(),
                    libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT,
                )
            };
            if n >= 0 {
                self.written += n as u64;
                return Ok(n as usize);
            }
            match io::Error::last_os_error() {
                e if e.kind() == ErrorKind::WouldBlock => return Ok(0),
                e if e.kind() == ErrorKind::Interrupted => {}
                e => return Err(e),
            }
        }
    }

    /// The stream, for who reads without stamps.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Tells the peer that we will send no more.
    pub fn shutdown_write(&self) {
        // It fails only when the connection is gone already.
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// Bytes handed to the kernel since the connection began.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Of those, bytes that the peer's TCP has acknowledged (SIOCOUTQ).
    pub fn acknowledged(&self) -> u64 {
        let mut queued: libc::c_int = 0;
        // SAFETY: SIOCOUTQ (the same request as TIOCOUTQ) writes one int.
        let ok = unsafe { libc::ioctl(self.stream.as_raw_fd(), libc::TIOCOUTQ, &mut queued) } == 0;
        if ok { self.written.saturating_sub(queued.max(0) as u64) } else { 0 }
    }

    /// A kernel stamp on the tester's clock.
    fn on_tester_clock(&mut self, wall_ns: u64) -> Nanos {
        let now = Clock.now();
        if now - self.offset_at > OFFSET_AGE {
            self.offset = Clock.offset_from_wall();
            self.offset_at = now;
        }
        // A stamp can't lie in the future (when the wall clock has just been set, it might seem to), nor before
        // that of earlier bytes (by the few ns in which two measurements of the offset differ, it might).
        self.latest = self.offset.to_tester(wall_ns).max(self.latest).min(now);
        self.latest
    }
}

impl AsRawFd for Tcp {
    fn as_raw_fd(&self) -> RawFd {
        self.stream.as_raw_fd()
    }
}

/// As a sink of bytes: "would block" instead of 0. Several buffers leave in one system call.
impl Write for Tcp {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match Tcp::write(self, bytes)? {
            0 => Err(ErrorKind::WouldBlock.into()),
            n => Ok(n),
        }
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        // SAFETY: msghdr is plain data for which all zeros is valid.
        let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
        // An IoSlice has the layout of an iovec; sendmsg only reads.
        header.msg_iov = parts.as_ptr().cast_mut().cast();
        header.msg_iovlen = parts.len() as _;
        let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
        // SAFETY: the parts are alive and of the stated number.
        let n = unsafe { libc::sendmsg(self.stream.as_raw_fd(), &header, flags) };
        if n < 0 {
            return Err(io::Error::last_os_error());
        }
        self.written += n as u64;
        Ok(n as usize)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Switches the kernel's receive stamps on for as long as the process lives, and waits (at most 100 ms, once) until
/// they come: the kernel does it lazily, and the first messages of a connection are often those that matter.
pub fn keep_stamps_on() {
    static KEEPER: OnceLock<Option<Tcp>> = OnceLock::new();
    KEEPER.get_or_init(|| {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
        let mut peer = TcpStream::connect(listener.local_addr().ok()?).ok()?;
        let mut socket = Tcp::new(listener.accept().ok()?.0).ok()?;
        for _ in 0..100 {
            peer.write_all(&[0]).ok()?;
            std::thread::sleep(Duration::from_millis(1));
            if let Ok(Read::Bytes(_, Some(_))) = socket.read(&mut [0; 64]) {
                break;
            }
        }
        Some(socket)
    });
}

/// A control buffer aligned as `cmsghdr` must be.
#[repr(C, align(8))]
struct Control([u8; 128]);

/// Asks the kernel to stamp received segments. A kernel that can't leaves the stamps out, which `read` sees.
pub fn ask_for_stamps(fd: RawFd) {
    let on: libc::c_int = 1;
    // SAFETY: the option takes one int.
    unsafe {
        libc::setsockopt(
            fd,
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        );
    }
}

/// The SCM_TIMESTAMPNS among the control messages, in nanoseconds since 1970.
fn kernel_stamp(header: &libc::msghdr) -> Option<u64> {
    // SAFETY: `header` was filled by recvmsg; the CMSG macros stay within msg_controllen.
    unsafe {
        let mut at = libc::CMSG_FIRSTHDR(header);
        while !at.is_null() {
            if (*at).cmsg_level == libc::SOL_SOCKET && (*at).cmsg_type == libc::SCM_TIMESTAMPNS {
                let time: libc::timespec = std::ptr::read_unaligned(libc::CMSG_DATA(at).cast());
                return Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64);
            }
            at = libc::CMSG_NXTHDR(header, at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_stamps_arrival_and_not_reading() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut socket = Tcp::new(listener.accept().unwrap().0).unwrap();
        keep_stamps_on();
        for _ in 0..10 {
            let sent = Clock.now();
            peer.write_all(&[1; 100]).unwrap();
            std::thread::sleep(Duration::from_millis(20));
            let Ok(Read::Bytes(100, stamp)) = socket.read(&mut [0; 1000]) else { panic!("100 bytes wait") };
            let stamp = stamp.expect("kernel stamps come for TCP");
            assert!(stamp + Nanos::from_micros(5) >= sent, "{stamp:?} before {sent:?}");
            assert!(stamp - sent < Nanos::from_millis(15), "stamped at reading: {}", stamp - sent);
        }
    }

    #[test]
    fn acknowledged_bytes_are_those_that_the_peer_has() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut socket = Tcp::new(listener.accept().unwrap().0).unwrap();
        while Tcp::write(&mut socket, &[0; 65_536]).unwrap() > 0 {}
        std::thread::sleep(Duration::from_millis(20));
        // The peer reads nothing: its buffer is acknowledged, ours is not.
        assert!(socket.acknowledged() < socket.written());
        drop(peer);
    }
}
