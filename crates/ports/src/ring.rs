//! Two ports in one process, connected to each other: what one transmits, the other receives.
//!
//! Frames are written in place, in slots of 2 KiB of the sender's memory; the receiver reads them there and sends
//! the slots back. Only slot numbers cross between the threads.
//!
//! A link has no back pressure, so by default a frame that finds the receiver's ring full is lost, and counted as the
//! *receiver's* `rx_dropped`: offered load stays what it was, and an overloaded switch loses frames as real ones do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::pool::{Memory, Pool};
use crate::spsc::{self, Consumer, Producer};
use crate::{BURST, Burst, Capabilities, Owner, Port, PortError, PortStats, RxCapacity};

/// Bytes of a slot, and so the longest frame.
pub const SLOT_SIZE: usize = 2048;

/// The fewest received frames that a ring has room for.
const FEWEST_SLOTS: usize = 64;

/// Slots of the sender beyond what the ring holds, for frames that are being written.
const SPARE: usize = 4 * BURST;

/// What becomes of a frame that finds the receiver's ring full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// It is lost and counted as the receiver's `rx_dropped`, as on a real link.
    #[default]
    Drop,
    /// `tx` does not take it: the sender waits.
    Wait,
}

/// Two connected ports, each with room for `slots` received frames (rounded up to a power of two, at least 64).
pub fn pair(slots: usize) -> (RingPort, RingPort) {
    pair_with(slots, WhenFull::Drop)
}

/// [`pair`], with a choice of what happens when a ring is full.
pub fn pair_with(slots: usize, when_full: WhenFull) -> (RingPort, RingPort) {
    let slots = slots.max(FEWEST_SLOTS).next_power_of_two();
    let (out_a, in_b) = lane(slots, when_full);
    let (out_b, in_a) = lane(slots, when_full);
    (RingPort { out: out_a, into: in_a, slots }, RingPort { out: out_b, into: in_b, slots })
}

#[derive(Clone, Copy)]
struct Frame {
    slot: u32,
    len: u32,
}

/// The sending end of one direction.
struct Outlet {
    pool: Pool,
    frames: Producer<Frame>,
    returned: Consumer<u32>,
    dropped: Arc<AtomicU64>,
    when_full: WhenFull,
    sent: u64,
}

/// The receiving end of one direction.
struct Inlet {
    memory: Arc<Memory>,
    owner: Owner,
    frames: Consumer<Frame>,
    returns: Producer<u32>,
    dropped: Arc<AtomicU64>,
    received: u64,
    given_back: u64,
}

fn lane(slots: usize, when_full: WhenFull) -> (Outlet, Inlet) {
    let pool = Pool::new(slots + SPARE, SLOT_SIZE);
    let (frames_in, frames_out) = spsc::queue(slots);
    let (returns_in, returns_out) = spsc::queue(slots + SPARE);
    let dropped = Arc::new(AtomicU64::new(0));
    let inlet = Inlet {
        memory: Arc::clone(pool.memory()),
        owner: pool.owner(),
        frames: frames_out,
        returns: returns_in,
        dropped: Arc::clone(&dropped),
        received: 0,
        given_back: 0,
    };
    (Outlet { pool, frames: frames_in, returned: returns_out, dropped, when_full, sent: 0 }, inlet)
}

impl Outlet {
    fn alloc(&mut self, burst: &mut Burst, n: usize) -> usize {
        while let Some(slot) = self.returned.pop() {
            self.pool.put_index(slot);
        }
        self.returned.release();
        let n = n.min(burst.room()).min(self.pool.available());
        (0..n).for_each(|_| burst.push(self.pool.get().expect("as many as are available")));
        n
    }

    fn tx(&mut self, burst: &mut Burst) -> usize {
        let mut taken = 0;
        let mut lost = 0;
        for slot in burst.iter() {
            assert!(slot.owner() == self.pool.owner(), "a slot went to a port that it is not from");
            let frame = Frame { slot: slot.token() as u32, len: slot.len() as u32 };
            if self.frames.push(frame) {
                // The receiver owns it once it is published.
            } else if self.when_full == WhenFull::Drop {
                self.pool.put_index(frame.slot);
                lost += 1;
            } else {
                break;
            }
            taken += 1;
        }
        // The loans end before the receiver can see the frames.
        burst.take(taken).for_each(drop);
        self.pool.handed_on(taken);
        self.frames.publish();
        if lost > 0 {
            self.dropped.fetch_add(lost, Ordering::Relaxed);
        }
        self.sent += taken as u64;
        taken
    }
}

impl Inlet {
    fn rx(&mut self, burst: &mut Burst, max: usize) -> usize {
        let max = max.min(burst.room());
        let mut n = 0;
        while n < max {
            let Some(frame) = self.frames.pop() else { break };
            // SAFETY: the sender gave the slot up when it published it and takes it again only when we send its number
            // back; `Drop` leaks the memory while loans are outstanding.
            burst.push(unsafe { self.memory.slot(frame.slot, frame.len, self.owner) });
            n += 1;
        }
        if n > 0 {
            self.frames.release();
            self.received += n as u64;
        }
        n
    }

    #[inline]
    fn give_back(&mut self, slot: u32) {
        let fits = self.returns.push(slot);
        debug_assert!(fits, "the way back holds every slot there is");
        self.given_back += 1;
    }
}

impl Drop for Inlet {
    fn drop(&mut self) {
        if self.given_back < self.received {
            std::mem::forget(Arc::clone(&self.memory));
        }
    }
}

/// One end of a pair: see the [module](self).
pub struct RingPort {
    out: Outlet,
    into: Inlet,
    slots: usize,
}

impl RingPort {
    fn gone(&self) -> PortError {
        PortError::LinkDown { port: self.describe().into(), reason: "the other end is closed".into() }
    }
}

impl Port for RingPort {
    fn describe(&self) -> &str {
        "ring"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::plain(SLOT_SIZE, RxCapacity::Frames(self.slots as u64))
    }

    fn alloc(&mut self, burst: &mut Burst, n: usize) -> usize {
        self.out.alloc(burst, n)
    }

    fn tx(&mut self, burst: &mut Burst) -> Result<usize, PortError> {
        if burst.is_empty() {
            return Ok(0);
        }
        if !self.out.frames.connected() {
            return Err(self.gone());
        }
        Ok(self.out.tx(burst))
    }

    fn rx(&mut self, burst: &mut Burst, max: usize) -> Result<usize, PortError> {
        Ok(self.into.rx(burst, max))
    }

    fn free(&mut self, burst: &mut Burst) {
        for slot in burst.take(BURST) {
            if slot.owner() == self.into.owner {
                self.into.give_back(slot.into_token() as u32);
            } else {
                self.out.pool.put(slot);
            }
        }
        self.into.returns.publish();
    }

    fn stats(&mut self) -> PortStats {
        PortStats {
            tx_frames: self.out.sent,
            tx_errors: 0,
            rx_frames: self.into.received,
            rx_dropped: self.into.dropped.load(Ordering::Relaxed),
            link_up: self.into.frames.connected(),
        }
    }

    fn check(&mut self) -> Result<(), PortError> {
        if self.into.frames.connected() { Ok(()) } else { Err(self.gone()) }
    }
}

#[cfg(test)]
mod tests;
