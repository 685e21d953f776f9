//! epoll with nanosecond timeouts, and the eventfd by which other threads wake the I/O thread.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering, fence};

use flowgauge_clock::Nanos;

/// What became ready.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    /// The token that was registered.
    pub token: u64,
    /// Bytes, an end or an error wait to be read.
    pub readable: bool,
    /// The socket takes bytes.
    pub writable: bool,
}

/// An epoll instance. Registrations are edge-triggered: read and write until the socket says "not now".
pub struct Poll {
    epoll: OwnedFd,
    events: [libc::epoll_event; 32],
}

impl Poll {
    /// A new instance.
    pub fn new() -> io::Result<Poll> {
        // SAFETY: no pointers; the result is checked.
        let epoll = owned(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        Ok(Poll { epoll, events: [libc::epoll_event { events: 0, u64: 0 }; 32] })
    }

    /// Watches a descriptor until it is closed.
    pub fn add(&self, fd: RawFd, token: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, token)
    }

    /// Gives a watched descriptor another token; what is ready is told anew.
    pub fn rename(&self, fd: RawFd, token: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, token)
    }

    fn control(&self, operation: libc::c_int, fd: RawFd, token: u64) -> io::Result<()> {
        let events = (libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLET) as u32;
        let mut event = libc::epoll_event { events, u64: token };
        // SAFETY: `event` is valid for the call.
        let result = unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), operation, fd, &mut event) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Waits at most `timeout` (`None`: for ever) and tells what is ready.
    pub fn wait(&mut self, timeout: Option<Nanos>) -> impl Iterator<Item = Ready> + use<'_> {
        let n = self.pwait2(timeout).max(0) as usize;
        self.events[..n].iter().map(|event| {
            let bits = event.events as i32;
            let hung_up = libc::EPOLLHUP | libc::EPOLLERR | libc::EPOLLRDHUP;
            Ready {
                token: event.u64,
                readable: bits & (libc::EPOLLIN | hung_up) != 0,
                writable: bits & (libc::EPOLLOUT | libc::EPOLLERR | libc::EPOLLHUP) != 0,
            }
        })
    }

    fn pwait2(&mut self, timeout: Option<Nanos>) -> i32 {
        let (fd, events, room) = (self.epoll.as_raw_fd(), self.events.as_mut_ptr(), self.events.len() as i32);
        if timeout == Some(Nanos::ZERO) {
            // SAFETY: `events` has `room` elements.
            return unsafe { libc::epoll_wait(fd, events, room, 0) };
        }
        let time = timeout.map(|t| libc::timespec {
            tv_sec: (t.0 / 1_000_000_000) as i64,
            tv_nsec: (t.0 % 1_000_000_000) as i64,
        });
        let time_at = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: as above; the time outlives the call; no signal mask is given.
        let n = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                fd,
                events,
                room,
                time_at,
                std::ptr::null::<libc::sigset_t>(),
                0,
            )
        };
        if n >= 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ENOSYS) {
            return n as i32;
        }
        // Before Linux 5.11: whole milliseconds, rounded down; the caller spins for the rest.
        let millis = timeout.map_or(-1, |t| (t.0 / 1_000_000).min(60_000) as i32);
        // SAFETY: `events` has `room` elements.
        unsafe { libc::epoll_wait(fd, events, room, millis) }
    }
}

/// Wakes the I/O thread when it sleeps; costs one atomic load when it does not.
pub struct Wake {
    event: OwnedFd,
    asleep: AtomicBool,
}

impl Wake {
    /// A new wake-up, to be registered with the thread's [`Poll`].
    pub fn new() -> io::Result<Wake> {
        // SAFETY: no pointers; the result is checked.
        let event = owned(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })?;
        Ok(Wake { event, asleep: AtomicBool::new(false) })
    }

    /// Called after something was queued for the I/O thread.
    pub fn notify(&self) {
        // Pairs with the fence in `about_to_sleep`: either we see it asleep, or it sees what we queued.
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Relaxed) && self.asleep.swap(false, Ordering::Relaxed) {
            let one: u64 = 1;
            // SAFETY: writes the eight bytes of `one`.
            unsafe { libc::write(self.event.as_raw_fd(), (&raw const one).cast(), 8) };
        }
    }

    /// The I/O thread says that it will sleep, then looks once more at its queues.
    pub fn about_to_sleep(&self) {
        self.asleep.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// The I/O thread is up again.
    pub fn awake(&self) {
        self.asleep.store(false, Ordering::Relaxed);
    }

    /// Empties the eventfd.
    pub fn drain(&self) {
        let mut count: u64 = 0;
        // SAFETY: reads eight bytes into `count`.
        unsafe { libc::read(self.event.as_raw_fd(), (&raw mut count).cast(), 8) };
    }
}

impl AsRawFd for Wake {
    fn as_raw_fd(&self) -> RawFd {
        self.event.as_raw_fd()
    }
}

fn owned(fd: RawFd) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call that made it succeeded, and nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
