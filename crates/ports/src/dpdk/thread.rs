//! Threads that move frames are made known to DPDK: each then has a cache of its own in every pool, without which
//! taking and giving back each single frame would be an atomic operation on memory that all threads share.

use std::cell::Cell;

use super::shim::Shim;

/// The calling thread's membership; it ends with the thread.
struct Member(Cell<Option<&'static Shim>>);

impl Drop for Member {
    fn drop(&mut self) {
        if let Some(shim) = self.0.get() {
            // SAFETY: this thread joined, and moves no frames any more.
            unsafe { (shim.thread_leave)() }
        }
    }
}

thread_local! {
    static MEMBER: Member = const { Member(Cell::new(None)) };
}

/// Makes the calling thread known to DPDK, unless it is. Costs a nanosecond when it is.
#[inline]
pub(super) fn join(shim: &'static Shim) {
    MEMBER.with(|member| {
        if member.0.get().is_none() {
            enter(shim, member);
        }
    });
}

#[cold]
fn enter(shim: &'static Shim, member: &Member) {
    // SAFETY: DPDK has been started. Should it have no more room for threads, frames move all the same, more slowly.
    if unsafe { (shim.thread_join)() } == 0 {
        member.0.set(Some(shim));
    }
}
