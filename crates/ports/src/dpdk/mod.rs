//! Any device that DPDK drives: network cards, and virtual ones up to the vhost-user ports of a software switch.
//!
//! DPDK comes from the distribution and is looked for when the first port is opened: a thin C shim (`shim/`), built
//! against it by `make`, is loaded then. Frames are read and written in DPDK's own buffers; a burst costs one call.
//!
//! DPDK itself is started once per process, without devices, on a helper thread; devices come and go with their ports. It
//! must not be used on both sides of a fork. Its files and memory are its own, so that it runs beside other DPDK programs.

mod clock;
mod device;
mod eal;
mod handle;
mod options;
mod shim;
mod thread;
mod vhost_user;

use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::Arc;

use flowgauge_clock::Nanos;

use crate::linux::within;
use crate::{BURST, Burst, Capabilities, Owner, Port, PortError, PortStats, RxCapacity, Slot, StampSource};
use clock::DeviceClock;
pub use device::Device;
use handle::Handle;
pub use options::{DpdkOptions, EalOptions, Hugepages};
use shim::{MBUF_SIZE, Mbuf};

/// Opens a device as one port. It receives from all its queues and sends by the first.
///
/// # Errors
/// [`PortError::DpdkMissing`], [`PortError::DpdkStart`], [`PortError::Hugepages`] or [`PortError::DpdkDevice`], each with its
/// advice; [`PortError::Namespace`].
pub fn open(options: &DpdkOptions) -> Result<DpdkPort, PortError> {
    let handle = Arc::new(open_device(options)?);
    let queues = 0..handle.raw.queues;
    Ok(DpdkPort::new(handle, queues))
}

/// Opens a device as one port per pair of queues, each for a thread of its own. It closes with the last of them.
///
/// # Errors
/// As [`open`].
pub fn open_each(options: &DpdkOptions) -> Result<Vec<DpdkPort>, PortError> {
    let handle = Arc::new(open_device(options)?);
    Ok((0..handle.raw.queues).map(|queue| DpdkPort::new(Arc::clone(&handle), queue..queue + 1)).collect())
}

/// DPDK's version, when the shim can be loaded. Does not start it.
///
/// # Errors
/// [`PortError::DpdkMissing`].
pub fn version(shim: Option<PathBuf>) -> Result<&'static str, PortError> {
    Ok(shim::load(&shim_path(shim))?.version())
}

fn open_device(options: &DpdkOptions) -> Result<Handle, PortError> {
    let shim = shim::load(&shim_path(options.shim.clone()))?;
    eal::start(shim, &options.eal)?;
    let handle = within(options.netns.as_deref(), || Handle::open(shim, options))?;
    if !options.link_wait.is_zero() {
        handle.wait_for_link(options.link_wait)?;
    }
    Ok(handle)
}

fn shim_path(given: Option<PathBuf>) -> PathBuf {
    let named = || std::env::var_os("FLOWGAUGE_DPDK_SHIM").map(PathBuf::from);
    given.or_else(named).unwrap_or_else(|| "libflowgauge_dpdk.so".into())
}

/// An open device: one or more of its queues.
pub struct DpdkPort {
    handle: Arc<Handle>,
    queues: std::ops::Range<u16>,
    /// The queue that is received from next.
    turn: u16,
    owner: Owner,
    /// What crosses to DPDK in one call.
    mbufs: Box<[*mut Mbuf; BURST]>,
    sent: u64,
    received: u64,
    /// Received frames that no slot could hold.
    unusable: u64,
    clock: Option<DeviceClock>,
}

// SAFETY: `mbufs` is only used within calls; DPDK lets any thread use a queue, one at a time, and `queues` are this port's
// alone.
unsafe impl Send for DpdkPort {}

impl DpdkPort {
    fn new(handle: Arc<Handle>, queues: std::ops::Range<u16>) -> DpdkPort {
        DpdkPort {
            clock: handle.clock(),
            turn: queues.start,
            queues,
            owner: Owner::unique(),
            mbufs: Box::new([std::ptr::null_mut(); BURST]),
            sent: 0,
            received: 0,
            unusable: 0,
            handle,
        }
    }

    /// The slot of an mbuf that was received; `None` when the frame is in several pieces that can't be put together.
    #[inline]
    fn filled(&self, mbuf: *mut Mbuf) -> Option<Slot> {
        // SAFETY: DPDK handed the mbuf to us, and its layout is what `Mbuf` says.
        let m = unsafe { &*mbuf };
        // SAFETY: as above; nothing refers to the mbuf's fields across the call.
        if m.nb_segs != 1 && unsafe { (self.handle.shim.linearize)(mbuf) } != 0 {
            return None;
        }
        // SAFETY: `data_off + data_len <= buf_len`, all within the mbuf's buffer, which is ours until we free it.
        unsafe {
            let m = &*mbuf;
            let start = NonNull::new_unchecked(m.buf_addr.add(m.data_off as usize));
            let (len, room) = (m.data_len as u32, (m.buf_len - m.data_off) as u32);
            let mut slot = Slot::from_raw(start, len, room, mbuf as u64, self.owner);
            if let Some(clock) = &self.clock {
                slot.set_stamp(self.handle.ticks(mbuf).map(|ticks| clock.to_tester(ticks)));
            }
            Some(slot)
        }
    }

    fn receive(&mut self, queue: u16, burst: &mut Burst, max: usize) -> usize {
        let (handle, mbufs) = (&*self.handle, self.mbufs.as_mut_ptr());
        // SAFETY: room for BURST >= max mbufs; the queue is ours.
        let n = unsafe { (handle.shim.rx)(handle.raw.id, queue, mbufs, max as u16) } as usize;
        let before = burst.len();
        for i in 0..n {
            match self.filled(self.mbufs[i]) {
                Some(slot) => burst.push(slot),
                None => {
                    self.unusable += 1;
                    // SAFETY: the mbuf is ours and goes back once.
                    unsafe { (self.handle.shim.free)(self.handle.raw.pools[0], &mut self.mbufs[i], 1) };
                }
            }
        }
        burst.len() - before
    }

    fn too_long(&self, found: usize) -> PortError {
        PortError::FrameTooLong {
            port: self.handle.name.clone(),
            longest: self.handle.longest_frame(),
            found,
        }
    }
}

impl Port for DpdkPort {
    fn describe(&self) -> &str {
        &self.handle.name
    }

    fn capabilities(&self) -> Capabilities {
        let raw = &self.handle.raw;
        Capabilities {
            rx_stamps: if self.clock.is_some() { StampSource::Hardware } else { StampSource::User },
            tx_stamps: StampSource::User,
            link_mbps: self.handle.link_mbps(),
            longest_frame: self.handle.longest_frame(),
            rx_capacity: RxCapacity::Frames(raw.rx_descriptors as u64),
            mac: Some(raw.mac),
        }
    }

    #[inline]
    fn alloc(&mut self, burst: &mut Burst, n: usize) -> usize {
        let handle = &*self.handle;
        thread::join(handle.shim);
        let (pool, want) = (handle.raw.pools[self.queues.start as usize], n.min(burst.room()) as u16);
        // SAFETY: room for BURST >= want mbufs; the pool is the port's.
        let n = unsafe { (handle.shim.alloc)(pool, self.mbufs.as_mut_ptr(), want) } as usize;
        let (at, room, owner) =
            (MBUF_SIZE + handle.shim.headroom as usize, handle.raw.room as u32, self.owner);
        // SAFETY: the shim's pools have mbufs with a buffer right behind, of `headroom + room` bytes that were zeroed when
        // they were mapped; nobody else has an mbuf that is out of its pool.
        burst.extend(self.mbufs[..n].iter().map(|&mbuf| unsafe {
            let start = NonNull::new_unchecked(mbuf.cast::<u8>().add(at));
            Slot::from_raw(start, 0, room, mbuf as u64, owner)
        }));
        n
    }

    #[inline]
    fn tx(&mut self, burst: &mut Burst) -> Result<usize, PortError> {
        if burst.is_empty() {
            return Ok(0);
        }
        let handle = &*self.handle;
        thread::join(handle.shim);
        let (headroom, mut longest) = (handle.shim.headroom as u16, 0);
        for (to, slot) in self.mbufs.iter_mut().zip(burst.iter()) {
            assert!(slot.owner() == self.owner, "a slot went to a port that it is not from");
            longest = longest.max(slot.len());
            let mbuf = slot.token() as *mut Mbuf;
            // SAFETY: the token is the mbuf that the slot was made of, which is ours until DPDK takes it. One segment, one
            // reference, no offloads.
            unsafe { Mbuf::fill(mbuf, headroom, slot.len()) };
            *to = mbuf;
        }
        if longest > handle.longest_frame() {
            return Err(self.too_long(longest));
        }
        let (queue, n) = (self.queues.start, burst.len() as u16);
        // SAFETY: the first n mbufs are valid frames; those that are taken are DPDK's, and their slots are dropped.
        let taken = unsafe { (handle.shim.tx)(handle.raw.id, queue, self.mbufs.as_mut_ptr(), n) } as usize;
        burst.drop_first(taken);
        self.sent += taken as u64;
        Ok(taken)
    }

    #[inline]
    fn rx(&mut self, burst: &mut Burst, max: usize) -> Result<usize, PortError> {
        thread::join(self.handle.shim);
        let max = max.min(burst.room());
        let mut n = 0;
        for _ in self.queues.clone() {
            if n == max {
                break;
            }
            n += self.receive(self.turn, burst, max - n);
            // The next call starts with the next queue, so that a busy one can't starve the others.
            self.turn = if self.turn + 1 < self.queues.end { self.turn + 1 } else { self.queues.start };
        }
        self.received += n as u64;
        Ok(n)
    }

    #[inline]
    fn free(&mut self, burst: &mut Burst) {
        let n = burst.len();
        for (to, slot) in self.mbufs.iter_mut().zip(burst.iter()) {
            assert!(slot.owner() == self.owner, "a slot went back to a port that it is not from");
            *to = slot.token() as *mut Mbuf;
            demote(slot.as_ptr());
        }
        burst.drop_first(n);
        let handle = &*self.handle;
        let pool = handle.raw.pools[self.queues.start as usize];
        // SAFETY: the first n mbufs were on loan and go back once; those of another pool find their own way.
        unsafe { (handle.shim.free)(pool, self.mbufs.as_mut_ptr(), n as u16) };
    }

    fn stats(&mut self) -> PortStats {
        // What the device counts is of all its queues: the port with the first one tells it.
        let device = if self.queues.start == 0 { self.handle.stats() } else { Default::default() };
        PortStats {
            tx_frames: self.sent,
            tx_errors: device.tx_errors,
            rx_frames: self.received,
            rx_dropped: device.rx_missed + device.rx_errors + self.unusable,
            link_up: self.handle.link_up(),
        }
    }

    fn check(&mut self) -> Result<(), PortError> {
        if let (Some(clock), Some((ticks, at))) = (&mut self.clock, self.handle.read_clock()) {
            clock.observe(ticks, at);
        }
        if self.handle.link_up() { Ok(()) } else { Err(self.handle.down()) }
    }
}

/// Has a cache line leave this core for a cache that all cores share. A software switch on another core will write the next
/// frame there, and need not wait until this core has given the line up. A hint: other processors ignore it.
#[inline]
fn demote(line: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: CLDEMOTE [rax], which accesses no memory and never faults; a no-operation on processors that lack it.
    unsafe {
        std::arch::asm!(".byte 0x0f, 0x1c, 0x00", in("rax") line, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

/// A reading of a device's clock and of the tester's, at one time.
type Reading = (u64, Nanos);

#[cfg(test)]
mod tests;
