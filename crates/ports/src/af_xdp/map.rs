//! Memory that is mapped: rings that a socket shares with the kernel, and the frames themselves.

use std::io;
use std::os::fd::RawFd;
use std::ptr::NonNull;

/// A mapping, given back at the end.
#[derive(Debug)]
pub(super) struct Map {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: a mapping is memory like any other; who reads or writes it must see to that himself.
unsafe impl Send for Map {}
// SAFETY: as above.
unsafe impl Sync for Map {}

impl Map {
    /// `len` zeroed bytes, at a page's start.
    pub fn anonymous(len: usize) -> io::Result<Map> {
        let map = Self::new(len, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)?;
        // Fewer translation misses; where there are no huge pages, small ones do.
        // SAFETY: the range is the mapping's own, and the advice changes no contents.
        unsafe { libc::madvise(map.start.as_ptr().cast(), len, libc::MADV_HUGEPAGE) };
        Ok(map)
    }

    /// `len` bytes of what a socket shares at `offset`.
    pub fn of_socket(fd: RawFd, len: usize, offset: libc::off_t) -> io::Result<Map> {
        Self::new(len, libc::MAP_SHARED | libc::MAP_POPULATE, fd, offset)
    }

    fn new(len: usize, flags: i32, fd: RawFd, offset: libc::off_t) -> io::Result<Map> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, flags, fd, offset) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Map { start: NonNull::new(start.cast()).expect("a mapping is never at zero"), len })
    }

    /// Its first byte.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Its length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with this length; whoever lends its bytes out keeps it alive.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
    }
}
