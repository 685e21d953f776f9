//! System calls on AF_XDP sockets, with errors that say what failed.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::map::Map;
use super::options::{BusyPoll, CopyMode};
use super::ring::{Consumer, Producer};
use crate::PortError;

/// Sets how many frames one system call sends in copy mode (Linux 6.17; 32 before).
const XDP_MAX_TX_SKB_BUDGET: i32 = 9;
const SO_PREFER_BUSY_POLL: i32 = 69;
const SO_BUSY_POLL_BUDGET: i32 = 70;

/// How long a queue that was closed just now may take to be free; 5 to 10 ms as a rule.
const PATIENCE: Duration = Duration::from_millis(500);

/// What the kernel may have under way in copy mode, in bytes of its memory.
const SEND_BUFFER: i32 = 8 << 20;

/// One AF_XDP socket.
#[derive(Debug)]
pub(super) struct Xsk {
    fd: OwnedFd,
    port: String,
}

/// How a call that sends went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kick {
    /// As far as there was room.
    Done,
    /// The last frame that left the ring was dropped by the driver, or for want of a carrier.
    Dropped,
}

impl Xsk {
    /// A socket of this namespace.
    pub fn new(port: &str) -> Result<Xsk, PortError> {
        // SAFETY: no memory is involved.
        let fd = unsafe { libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
        if fd >= 0 {
            // SAFETY: just opened, and nobody else's.
            return Ok(Xsk { fd: unsafe { OwnedFd::from_raw_fd(fd) }, port: port.into() });
        }
        let (source, port) = (io::Error::last_os_error(), port.to_string());
        Err(match source.raw_os_error() {
            Some(libc::EPERM) => {
                PortError::PermissionNeeded { operation: format!("opening {port}"), privilege: "CAP_NET_RAW" }
            }
            Some(libc::EAFNOSUPPORT) => {
                PortError::Unsupported { port, feature: "AF_XDP (CONFIG_XDP_SOCKETS) in the kernel" }
            }
            _ => PortError::System { port, call: "socket", source },
        })
    }

    /// The port that it belongs to, for errors.
    pub fn port(&self) -> &str {
        &self.port
    }

    /// The descriptor.
    pub fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    fn error(&self, call: &'static str, source: io::Error) -> PortError {
        PortError::System { port: self.port.clone(), call, source }
    }

    fn set<T: Copy>(&self, level: i32, option: i32, value: T) -> io::Result<()> {
        let (at, len) = (&raw const value, size_of::<T>() as u32);
        // SAFETY: `value` lives until the call returns, and the length is its own.
        let result = unsafe { libc::setsockopt(self.fd(), level, option, at.cast(), len) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Reads an option into `value`; an older kernel may fill only its start.
    fn get<T: Copy>(&self, option: i32, value: &mut T) -> io::Result<()> {
        let mut len = size_of::<T>() as u32;
        // SAFETY: the kernel writes at most `len` bytes into `value`, which is plain data.
        let result =
            unsafe { libc::getsockopt(self.fd(), libc::SOL_XDP, option, (&raw mut *value).cast(), &mut len) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Registers the memory of the frames. The kernel keeps its pages until the socket is gone.
    pub fn register(&self, memory: &Map, chunk: usize) -> Result<(), PortError> {
        let register = libc::xdp_umem_reg_v1 {
            addr: memory.start().as_ptr() as u64,
            len: memory.len() as u64,
            chunk_size: chunk as u32,
            headroom: 0,
        };
        match self.set(libc::SOL_XDP, libc::XDP_UMEM_REG, register) {
            Ok(()) => Ok(()),
            Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => Err(PortError::MemoryLimit {
                port: self.port.clone(),
                needed: memory.len() as u64,
                limit: memory_limit(),
            }),
            Err(error) => Err(self.error("setsockopt(XDP_UMEM_REG)", error)),
        }
    }

    fn ring(&self, option: i32, size: u32) -> Result<(), PortError> {
        self.set(libc::SOL_XDP, option, size).map_err(|e| self.error("setsockopt(XDP_*_RING)", e))
    }

    fn offsets(&self) -> Result<libc::xdp_mmap_offsets, PortError> {
        // SAFETY: all zeros is a valid xdp_mmap_offsets.
        let mut offsets: libc::xdp_mmap_offsets = unsafe { std::mem::zeroed() };
        self.get(libc::XDP_MMAP_OFFSETS, &mut offsets)
            .map_err(|e| self.error("getsockopt(XDP_MMAP_OFFSETS)", e))?;
        if offsets.cr.desc == 0 {
            let (port, feature) = (self.port.clone(), "flags in AF_XDP rings (Linux 5.4)");
            return Err(PortError::Unsupported { port, feature });
        }
        Ok(offsets)
    }

    fn map<T>(
        &self,
        at: &libc::xdp_ring_offset,
        size: u32,
        page: libc::off_t,
    ) -> Result<Arc<Map>, PortError> {
        let len = at.desc as usize + size as usize * size_of::<T>();
        Map::of_socket(self.fd(), len, page).map(Arc::new).map_err(|e| self.error("mmap", e))
    }

    /// Makes a ring that we write: (option, place in the mappings).
    fn producer<T: Copy>(
        &self,
        (option, page): (i32, libc::off_t),
        pick: impl Fn(&libc::xdp_mmap_offsets) -> libc::xdp_ring_offset,
        size: u32,
    ) -> Result<Producer<T>, PortError> {
        self.ring(option, size)?;
        let at = pick(&self.offsets()?);
        Ok(Producer::new(self.map::<T>(&at, size, page)?, &at, size))
    }

    /// Makes a ring that we read.
    fn consumer<T: Copy>(
        &self,
        (option, page): (i32, libc::off_t),
        pick: impl Fn(&libc::xdp_mmap_offsets) -> libc::xdp_ring_offset,
        size: u32,
    ) -> Result<Consumer<T>, PortError> {
        self.ring(option, size)?;
        let at = pick(&self.offsets()?);
        Ok(Consumer::new(self.map::<T>(&at, size, page)?, &at, size))
    }

    /// The ring by which frames go to the kernel to be filled.
    pub fn fill(&self, size: u32) -> Result<Producer<u64>, PortError> {
        let place = (libc::XDP_UMEM_FILL_RING, libc::XDP_UMEM_PGOFF_FILL_RING as libc::off_t);
        self.producer(place, |offsets| offsets.fr, size)
    }

    /// The ring by which they come back, filled.
    pub fn rx(&self, size: u32) -> Result<Consumer<libc::xdp_desc>, PortError> {
        self.consumer((libc::XDP_RX_RING, libc::XDP_PGOFF_RX_RING), |offsets| offsets.rx, size)
    }

    /// The ring by which frames go to be sent.
    pub fn tx(&self, size: u32) -> Result<Producer<libc::xdp_desc>, PortError> {
        self.producer((libc::XDP_TX_RING, libc::XDP_PGOFF_TX_RING), |offsets| offsets.tx, size)
    }

    /// The ring by which they come back, sent.
    pub fn completion(&self, size: u32) -> Result<Consumer<u64>, PortError> {
        let place = (libc::XDP_UMEM_COMPLETION_RING, libc::XDP_UMEM_PGOFF_COMPLETION_RING as libc::off_t);
        self.consumer(place, |offsets| offsets.cr, size)
    }

    /// What makes sending faster; a kernel or process that can't does without.
    pub fn widen(&self, burst: u32) {
        let _ = self.set(libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, SEND_BUFFER);
        let _ = self.set(libc::SOL_XDP, XDP_MAX_TX_SKB_BUDGET, burst);
    }

    /// Asks for busy polling.
    pub fn busy_poll(&self, options: BusyPoll) -> Result<(), PortError> {
        let wanted = [
            (SO_PREFER_BUSY_POLL, 1),
            (libc::SO_BUSY_POLL, options.microseconds.max(1) as i32),
            (SO_BUSY_POLL_BUDGET, options.budget.max(1) as i32),
        ];
        for (option, value) in wanted {
            self.set(libc::SOL_SOCKET, option, value).map_err(|source| match source.raw_os_error() {
                Some(libc::EPERM) => PortError::PermissionNeeded {
                    operation: format!("busy polling on {}", self.port),
                    privilege: "CAP_NET_ADMIN",
                },
                Some(libc::ENOPROTOOPT) => PortError::Unsupported {
                    port: self.port.clone(),
                    feature: "preferred busy polling (Linux 5.11, CONFIG_NET_RX_BUSY_POLL)",
                },
                _ => self.error("setsockopt(SO_BUSY_POLL)", source),
            })?;
        }
        Ok(())
    }

    /// Binds to a queue of an interface: without copying where `mode` and the driver allow it. Returns whether the kernel
    /// copies.
    pub fn bind(&self, interface: i32, queue: u32, mode: CopyMode) -> Result<bool, PortError> {
        let (zero_copy, copy) = (libc::XDP_ZEROCOPY, libc::XDP_COPY);
        let result = match mode {
            CopyMode::ZeroCopy => self.bind_as(interface, queue, zero_copy),
            CopyMode::Copy => self.bind_as(interface, queue, copy),
            CopyMode::Auto => match self.bind_as(interface, queue, zero_copy) {
                // The driver can't (EOPNOTSUPP), or can't with this many queues, this MTU, these rings.
                Err(error) if error.raw_os_error() != Some(libc::EBUSY) => {
                    self.bind_as(interface, queue, copy)
                }
                result => result,
            },
        };
        result.map_err(|error| self.bind_failed(queue, error))?;
        let mut options = libc::xdp_options { flags: 0 };
        self.get(libc::XDP_OPTIONS, &mut options).map_err(|e| self.error("getsockopt(XDP_OPTIONS)", e))?;
        Ok(options.flags & libc::XDP_OPTIONS_ZEROCOPY == 0)
    }

    fn bind_as(&self, interface: i32, queue: u32, mode: u16) -> io::Result<()> {
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP as u16,
            sxdp_flags: mode | libc::XDP_USE_NEED_WAKEUP,
            sxdp_ifindex: interface as u32,
            sxdp_queue_id: queue,
            sxdp_shared_umem_fd: 0,
        };
        let started = Instant::now();
        loop {
            let len = size_of_val(&address) as u32;
            // SAFETY: `address` lives until the call returns, and the length is its own.
            if unsafe { libc::bind(self.fd(), (&raw const address).cast(), len) } == 0 {
                return Ok(());
            }
            let error = io::Error::last_os_error();
            if error.raw_os_error() != Some(libc::EBUSY) || started.elapsed() > PATIENCE {
                return Err(error);
            }
            sleep(Duration::from_millis(2));
        }
    }

    fn bind_failed(&self, queue: u32, source: io::Error) -> PortError {
        let port = self.port.clone();
        match source.raw_os_error() {
            Some(libc::EBUSY) => {
                PortError::Busy { port, reason: format!("another AF_XDP socket has queue {queue}") }
            }
            Some(libc::EOPNOTSUPP) => {
                PortError::Unsupported { port, feature: "zero-copy AF_XDP in this interface's driver" }
            }
            _ => self.error("bind", source),
        }
    }

    /// Has the kernel send what is in the transmit ring. No room (EAGAIN, ENOBUFS) is normal: what stays is sent later.
    #[inline]
    pub fn kick(&self) -> Result<Kick, PortError> {
        // SAFETY: no data is passed.
        let result =
            unsafe { libc::sendto(self.fd(), std::ptr::null(), 0, libc::MSG_DONTWAIT, std::ptr::null(), 0) };
        if result >= 0 { Ok(Kick::Done) } else { self.not_kicked("sendto") }
    }

    #[cold]
    fn not_kicked(&self, call: &'static str) -> Result<Kick, PortError> {
        let down = |reason: &str| PortError::LinkDown { port: self.port.clone(), reason: reason.into() };
        let source = io::Error::last_os_error();
        match source.raw_os_error().unwrap_or(libc::EIO) {
            libc::EAGAIN | libc::EINTR | libc::ENOBUFS => Ok(Kick::Done),
            libc::EBUSY => Ok(Kick::Dropped),
            libc::ENETDOWN => Err(down("the interface was taken down")),
            libc::ENXIO | libc::ENODEV => Err(down("the interface was removed")),
            _ => Err(self.error(call, source)),
        }
    }

    /// Has the kernel look at the fill ring, and run the driver when busy polling.
    pub fn wake(&self) -> Result<(), PortError> {
        // SAFETY: no data is passed.
        let result = unsafe {
            let none = std::ptr::null_mut();
            libc::recvfrom(self.fd(), none, 0, libc::MSG_DONTWAIT, none.cast(), none.cast())
        };
        if result >= 0 { Ok(()) } else { self.not_kicked("recvfrom").map(drop) }
    }

    /// The kernel's counters of this socket; zeros when it is gone.
    pub fn statistics(&self) -> libc::xdp_statistics {
        // SAFETY: all zeros is a valid xdp_statistics.
        let mut statistics: libc::xdp_statistics = unsafe { std::mem::zeroed() };
        let _ = self.get(libc::XDP_STATISTICS, &mut statistics);
        statistics
    }
}

/// Bytes that this process may lock in all.
fn memory_limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call fills `limit`.
    unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, &mut limit) };
    limit.rlim_cur
}
