//! A slot: one frame's place in a port's memory, on loan.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use flowgauge_clock::Nanos;

/// Whose memory a slot lies in. A port gives it back only to that owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Owner(u32);

impl Owner {
    /// An owner that no other memory in this process has.
    pub fn unique() -> Owner {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        Owner(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// One frame's place in a port's memory, on loan from [`Port::alloc`](crate::Port::alloc) or
/// [`Port::rx`](crate::Port::rx) until it is handed to `tx` or `free` of the same port.
///
/// A slot that is dropped instead is lost to its port for good; that leaks memory and harms nothing else.
#[derive(Debug)]
pub struct Slot {
    start: NonNull<u8>,
    token: u64,
    stamp: Nanos,
    len: u32,
    capacity: u32,
    owner: Owner,
}

// SAFETY: a slot is the only way to its bytes (contract of `from_raw`), so it may move to another thread.
unsafe impl Send for Slot {}

impl Slot {
    /// A slot of `len` bytes at `start`, in room for `capacity` bytes. For backends.
    ///
    /// `token` is the backend's own (an index, an address, a descriptor); it comes back with the slot.
    ///
    /// # Safety
    /// `capacity` bytes at `start` must be initialised and valid for reads and writes, and nothing else may access
    /// them, until the slot is taken back by [`Slot::into_token`], or for ever when it never is. `len <= capacity`.
    pub unsafe fn from_raw(start: NonNull<u8>, len: u32, capacity: u32, token: u64, owner: Owner) -> Slot {
        debug_assert!(len <= capacity);
        Slot { start, token, stamp: Nanos::MAX, len, capacity, owner }
    }

    /// The frame, without its FCS.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `from_raw`'s contract; `len <= capacity` is kept by `set_len`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len as usize) }
    }

    /// The frame, without its FCS, to be written.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`; `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len as usize) }
    }

    /// The whole room of the slot: [`Slot::capacity`] bytes, of which the first [`Slot::len`] are the frame.
    #[inline]
    pub fn room_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes_mut`.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.capacity as usize) }
    }

    /// Length of the frame in bytes, without FCS.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "a frame is never empty")]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// The longest frame that fits, in bytes.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.capacity as usize
    }

    /// Sets the length of the frame. Panics when it does not fit.
    #[inline]
    pub fn set_len(&mut self, len: usize) {
        assert!(len <= self.capacity as usize, "a frame of {len} bytes in a slot of {}", self.capacity);
        self.len = len as u32;
    }

    /// When the frame arrived, on the tester's clock; `None` when the backend does not stamp.
    #[inline]
    pub fn stamp(&self) -> Option<Nanos> {
        (self.stamp != Nanos::MAX).then_some(self.stamp)
    }

    /// Stamps the frame. For backends.
    #[inline]
    pub fn set_stamp(&mut self, stamp: Option<Nanos>) {
        self.stamp = stamp.unwrap_or(Nanos::MAX);
    }

    /// Whose memory this is.
    #[inline]
    pub fn owner(&self) -> Owner {
        self.owner
    }

    /// The token that it was made with. For backends.
    #[inline]
    pub fn token(&self) -> u64 {
        self.token
    }

    /// Takes the slot back from its borrower: the token that it was made with. For backends.
    #[inline]
    pub fn into_token(self) -> u64 {
        self.token
    }

    /// Where the frame starts, for handing it to a kernel or device.
    #[inline]
    pub fn as_ptr(&self) -> *const u8 {
        self.start.as_ptr()
    }
}
