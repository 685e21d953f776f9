//! A port to nowhere: what it is given is gone at once, and its slots are free again. What remains is our own cost.

use std::ptr::NonNull;

use flowgauge_ports::{Burst, Capabilities, Owner, Port, PortError, PortStats, RxCapacity, Slot};

const SLOTS: usize = 512;
const SLOT_SIZE: usize = 2048;
/// An odd number of cache lines from one slot to the next, or all frames would lie in the same few places of the cache.
const STRIDE: usize = SLOT_SIZE + 64;

pub struct NullPort {
    memory: Box<[u8]>,
    /// Numbers of free slots; the last one freed is the first to be used again, as in a DPDK pool's cache.
    free: Vec<u32>,
    owner: Owner,
    sent: u64,
}

impl NullPort {
    pub fn new() -> NullPort {
        let memory = vec![0; SLOTS * STRIDE].into_boxed_slice();
        NullPort { memory, free: (0..SLOTS as u32).collect(), owner: Owner::unique(), sent: 0 }
    }
}

impl Port for NullPort {
    fn describe(&self) -> &str {
        "null"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::plain(SLOT_SIZE, RxCapacity::Frames(0))
    }

    fn alloc(&mut self, burst: &mut Burst, n: usize) -> usize {
        let n = n.min(burst.room()).min(self.free.len());
        for _ in 0..n {
            let index = self.free.pop().expect("as many as there are");
            let start = &mut self.memory[index as usize * STRIDE];
            // SAFETY: each number is lent once; the memory outlives the transmission that borrows it.
            burst.push(unsafe {
                Slot::from_raw(NonNull::from(start), 0, SLOT_SIZE as u32, index as u64, self.owner)
            });
        }
        n
    }

    fn tx(&mut self, burst: &mut Burst) -> Result<usize, PortError> {
        let n = burst.len();
        self.sent += n as u64;
        self.free(burst);
        Ok(n)
    }

    fn rx(&mut self, _: &mut Burst, _: usize) -> Result<usize, PortError> {
        Ok(0)
    }

    fn free(&mut self, burst: &mut Burst) {
        self.free.extend(burst.take(burst.len()).map(|slot| slot.into_token() as u32));
    }

    fn stats(&mut self) -> PortStats {
        PortStats { tx_frames: self.sent, link_up: true, ..PortStats::default() }
    }
}
