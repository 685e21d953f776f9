//! One queue of an interface: a socket, its four rings, and the memory of its frames.
//!
//! The frames are of two kinds that never mix. The first `rx_frames` go round from the fill ring through the kernel and the
//! receive ring to the user and back; the others from our stack to the user, the transmit ring, the kernel, the
//! completion ring and back. So neither direction can starve the other, and every ring has room for all that may enter it.

use std::io;

use super::counters::Counters;
use super::map::Map;
use super::options::AfXdpOptions;
use super::ring::{Consumer, Producer};
use super::xsk::{Kick, Xsk};
use crate::{BURST, Burst, Owner, PortError, Slot};

/// What the kernel keeps free before each received frame (XDP_PACKET_HEADROOM).
const HEADROOM: usize = 256;

/// System calls that one transmission may take. One does where the kernel sends whole bursts; each frame that the driver
/// drops costs one more.
const KICKS: usize = 8;

/// Bytes of a cache line, and how many different ones frames start at.
const LINE: usize = 64;
const LINES: usize = 16;

/// The length of an Ethernet header.
const HEADER: usize = 14;

/// Where a slot's token holds the queue's number; below it, the frame's offset in the memory.
const QUEUE_SHIFT: u32 = 48;

/// The memory of the frames.
struct Umem {
    map: Option<Map>,
    chunk: usize,
    rx_frames: u32,
    tx_frames: u32,
}

impl Umem {
    fn map(&self) -> &Map {
        self.map.as_ref().expect("taken out at the end only")
    }

    /// The offset of frame `index`.
    fn offset(&self, index: u32) -> u64 {
        index as u64 * self.chunk as u64
    }

    /// Where in its chunk the transmitted frame `index` starts. Were it the chunk's start for all, a burst would fight for a few
    /// lines of the cache, which goes by the lower bits of addresses.
    fn transmit_offset(&self, index: u32, longest: usize) -> u64 {
        let places = (self.chunk.saturating_sub(longest) / LINE + 1).min(LINES);
        self.offset(index) + (index as usize % places * LINE) as u64
    }
}

/// One queue.
pub(super) struct Queue {
    // The socket goes first at the end: then the kernel lets go of the memory.
    xsk: Xsk,
    umem: Umem,
    owner: Owner,
    /// Our number in the port, as slots' tokens hold it.
    number: u64,
    fill: Producer<u64>,
    rx: Option<Consumer<libc::xdp_desc>>,
    tx: Producer<libc::xdp_desc>,
    completion: Consumer<u64>,
    /// Offsets of frames for transmission that nobody uses. The one that came back last is still in the cache.
    free: Vec<u64>,
    rx_lent: usize,
    tx_lent: usize,
    copies: bool,
    polls: bool,
    longest: usize,
    /// Frames that went into the transmit ring.
    taken: u64,
    /// Of those, frames that the driver dropped.
    dropped: u64,
    received: u64,
}

/// Bytes of a frame's place in memory, for frames of up to `longest` bytes: half a page, or a page.
pub(super) fn chunk(longest: usize) -> usize {
    if longest + HEADROOM <= 2048 { 2048 } else { 4096 }
}

/// The longest frame that fits the largest place.
pub(super) const LONGEST: usize = 4096 - HEADROOM;

impl Queue {
    /// A socket bound to a queue, ready to receive as soon as the program knows it.
    pub fn new(
        port: &str,
        (interface, queue): (i32, u32),
        number: usize,
        owner: Owner,
        longest: usize,
        options: &AfXdpOptions,
    ) -> Result<Queue, PortError> {
        let burst = BURST as u32;
        // Without receipt the kernel still wants a fill ring.
        let rx_frames = if options.receive { options.rx_frames.max(burst).next_power_of_two() } else { 0 };
        let tx_frames = options.tx_frames.max(2 * burst).next_power_of_two();
        let chunk = chunk(longest);
        let bytes = (rx_frames as usize + tx_frames as usize) * chunk;
        let system = |call| move |source| PortError::System { port: port.into(), call, source };
        let map = Map::anonymous(bytes).map_err(system("mmap"))?;
        let xsk = Xsk::new(port)?;
        xsk.register(&map, chunk)?;
        let (mut fill, completion) = (xsk.fill(rx_frames.max(burst))?, xsk.completion(tx_frames)?);
        let rx = if options.receive { Some(xsk.rx(rx_frames)?) } else { None };
        let tx = xsk.tx(tx_frames)?;
        if let Some(busy_poll) = options.busy_poll {
            xsk.busy_poll(busy_poll)?;
        }
        let umem = Umem { map: Some(map), chunk, rx_frames, tx_frames };
        fill.room(rx_frames);
        (0..rx_frames).for_each(|index| fill.push(umem.offset(index)));
        fill.publish();
        let copies = xsk.bind(interface, queue, options.copy)?;
        xsk.widen(burst);
        let transmitted = (rx_frames..rx_frames + tx_frames).rev();
        let free = transmitted.map(|index| umem.transmit_offset(index, longest)).collect();
        Ok(Queue {
            xsk,
            umem,
            owner,
            number: (number as u64) << QUEUE_SHIFT,
            fill,
            rx,
            tx,
            completion,
            free,
            rx_lent: 0,
            tx_lent: 0,
            copies,
            polls: options.busy_poll.is_some(),
            longest,
            taken: 0,
            dropped: 0,
            received: 0,
        })
    }

    /// The queue's number in the port, and the frame's offset, from a slot's token.
    #[inline]
    pub fn split(token: u64) -> (usize, u64) {
        ((token >> QUEUE_SHIFT) as usize, token & ((1 << QUEUE_SHIFT) - 1))
    }

    #[inline]
    pub fn owner(&self) -> Owner {
        self.owner
    }

    pub fn xsk(&self) -> &Xsk {
        &self.xsk
    }

    /// Whether the kernel copies frames.
    pub fn copies(&self) -> bool {
        self.copies
    }

    /// Frames that may wait to be received.
    pub fn capacity(&self) -> u64 {
        self.umem.rx_frames as u64
    }

    /// A slot at `offset`.
    ///
    /// # Safety
    /// The frame there is neither the kernel's nor on loan.
    #[inline]
    unsafe fn slot(&self, offset: u64, len: u32) -> Slot {
        let chunk = self.umem.chunk as u64;
        let capacity = (chunk - offset % chunk) as u32;
        debug_assert!(offset < self.umem.map().len() as u64 && len <= capacity);
        // SAFETY: the chunk lies within the mapping; the rest is the caller's contract. On drop with loans outstanding the
        // mapping stays.
        unsafe {
            let start = self.umem.map().start().add(offset as usize);
            Slot::from_raw(start, len, capacity, self.number | offset, self.owner)
        }
    }

    /// Adds up to `n` slots for transmission.
    pub fn alloc(&mut self, burst: &mut Burst, n: usize) -> usize {
        let n = n.min(burst.room());
        if self.free.len() < n.max(BURST) {
            self.reclaim();
        }
        let n = n.min(self.free.len());
        for offset in self.free.drain(self.free.len() - n..).rev() {
            // Not by `slot`, which would borrow all of `self`; the same holds.
            // SAFETY: the frame was on the stack, so it is neither the kernel's nor on loan; it lies within the mapping.
            burst.push(unsafe {
                let start = self.umem.map().start().add(offset as usize);
                let capacity = self.umem.chunk - offset as usize % self.umem.chunk;
                Slot::from_raw(start, 0, capacity as u32, self.number | offset, self.owner)
            });
        }
        self.tx_lent += n;
        n
    }

    /// Takes frames back that were sent.
    fn reclaim(&mut self) {
        let sent = self.completion.available(self.umem.tx_frames);
        self.free.extend((0..sent).map(|_| self.completion.pop()));
        self.completion.release();
    }

    /// Sends from the front of `burst`; returns how many frames it took.
    pub fn send(&mut self, burst: &mut Burst) -> Result<usize, PortError> {
        let room = self.tx.room(burst.len() as u32) as usize;
        let fit = burst.iter().take(room).take_while(|slot| (HEADER..=self.longest).contains(&slot.len()));
        let n = fit.count();
        if n == 0 && room > 0 {
            return Err(self.unfit(burst[0].len()));
        }
        for slot in burst.take(n) {
            assert!(slot.owner() == self.owner, "a slot went to a port that it is not from");
            let (len, (number, offset)) = (slot.len() as u32, Self::split(slot.into_token()));
            assert!(
                number as u64 == self.number >> QUEUE_SHIFT && self.sends(offset),
                "a received slot was sent"
            );
            self.tx.push(libc::xdp_desc { addr: offset, len, options: 0 });
        }
        self.tx.publish();
        self.tx_lent -= n;
        self.taken += n as u64;
        self.kick()?;
        Ok(n)
    }

    /// Whether the frame at `offset` is one for transmission.
    #[inline]
    fn sends(&self, offset: u64) -> bool {
        offset >= self.umem.offset(self.umem.rx_frames)
    }

    #[cold]
    fn unfit(&self, found: usize) -> PortError {
        let port = self.xsk.port().to_string();
        if found > self.longest {
            return PortError::FrameTooLong { port, longest: self.longest, found };
        }
        let source =
            io::Error::new(io::ErrorKind::InvalidInput, "a frame is shorter than its Ethernet header");
        PortError::System { port, call: "tx", source }
    }

    /// Has the kernel send what is in the ring, while it gets anywhere.
    pub fn kick(&mut self) -> Result<(), PortError> {
        let mut pending = self.tx.pending();
        for _ in 0..KICKS {
            if pending == 0 || !(self.copies || self.polls || self.tx.needs_wakeup()) {
                break;
            }
            let kick = self.xsk.kick()?;
            let left = self.tx.pending();
            match kick {
                // The ring may show a dropped frame only at the next call.
                Kick::Dropped if self.copies => self.dropped += 1,
                Kick::Dropped | Kick::Done if left == pending => break,
                Kick::Dropped | Kick::Done => {}
            }
            pending = left;
        }
        Ok(())
    }

    /// Adds up to `max` received frames.
    pub fn receive(&mut self, burst: &mut Burst, max: usize) -> Result<usize, PortError> {
        let Some(rx) = &mut self.rx else { return Ok(0) };
        let n = max.min(rx.available(max as u32) as usize);
        for _ in 0..n {
            let frame = self.rx.as_mut().expect("just seen").pop();
            // SAFETY: the kernel filled the frame and gave it to us.
            burst.push(unsafe { self.slot(frame.addr, frame.len) });
        }
        if n > 0 {
            self.rx.as_mut().expect("just seen").release();
            self.received += n as u64;
            self.rx_lent += n;
        } else if self.polls || self.fill.needs_wakeup() {
            self.xsk.wake()?;
        }
        Ok(n)
    }

    /// Takes a slot back that was received, or was not sent. [`refill`](Queue::refill) shows the former to the kernel.
    #[inline]
    pub fn put(&mut self, offset: u64) {
        if self.sends(offset) {
            self.tx_lent -= 1;
            self.free.push(offset);
        } else {
            // The ring has room for all frames, so it has room for this one.
            self.fill.room(1);
            self.fill.push(offset & !(self.umem.chunk as u64 - 1));
            self.rx_lent -= 1;
        }
    }

    /// Shows what was put back to the kernel.
    #[inline]
    pub fn refill(&mut self) {
        self.fill.publish();
    }

    pub fn counters(&mut self) -> Counters {
        let statistics = self.xsk.statistics();
        let pending = self.tx.pending() as u64;
        let refused = self.dropped + statistics.tx_invalid_descs;
        Counters {
            tx_frames: self.taken.saturating_sub(pending + refused),
            tx_errors: refused,
            rx_frames: self.received,
            rx_dropped: statistics.rx_dropped,
            rx_ring_full: statistics.rx_ring_full,
            fill_ring_empty: statistics.rx_fill_ring_empty_descs,
            tx_pending: pending,
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if self.rx_lent + self.tx_lent > 0 {
            // Somebody still holds slots: leak their memory rather than unmap it under them.
            std::mem::forget(self.umem.map.take());
        }
    }
}
