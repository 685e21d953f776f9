//! System calls on packet sockets, with errors that say what failed.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use crate::PortError;

/// A packet socket.
#[derive(Debug)]
pub(crate) struct Socket {
    fd: OwnedFd,
    port: String,
}

impl Socket {
    /// A socket that receives nothing before it is bound, so that no frame of another interface ever enters its ring.
    pub fn packet(port: &str) -> Result<Socket, PortError> {
        // SAFETY: no memory is involved.
        let fd = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
        if fd < 0 {
            return Err(match io::Error::last_os_error() {
                error if error.raw_os_error() == Some(libc::EPERM) => PortError::PermissionNeeded {
                    operation: format!("opening {port}"),
                    privilege: "CAP_NET_RAW",
                },
                source => PortError::System { port: port.into(), call: "socket", source },
            });
        }
        // SAFETY: just opened, and nobody else's.
        Ok(Socket { fd: unsafe { OwnedFd::from_raw_fd(fd) }, port: port.into() })
    }

    /// The descriptor.
    pub fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// What a failed call says.
    pub fn error(&self, call: &'static str) -> PortError {
        PortError::System { port: self.port.clone(), call, source: io::Error::last_os_error() }
    }

    /// Sets an option whose value is plain data.
    pub fn set<T: Copy>(&self, level: i32, option: i32, value: T) -> Result<(), PortError> {
        let (at, len) = (&raw const value, size_of::<T>() as u32);
        // SAFETY: `value` lives until the call returns, and the length is its own.
        let result = unsafe { libc::setsockopt(self.fd(), level, option, at.cast(), len) };
        if result == 0 { Ok(()) } else { Err(self.error("setsockopt")) }
    }

    /// Lets no frame into the socket's receive queue.
    pub fn refuse_all(&self) -> Result<(), PortError> {
        // Return 0: keep no bytes of the frame.
        let mut program =
            libc::sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k: 0 };
        let filter = libc::sock_fprog { len: 1, filter: &raw mut program };
        self.set(libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, filter)
    }

    /// The control messages of the next entry in the error queue; `None` when that is empty.
    pub fn read_error_queue(&self) -> Option<Vec<u8>> {
        let mut control = vec![0u64; 32];
        // SAFETY: all zeros is a valid msghdr.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control[..]) as _;
        let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
        // SAFETY: the kernel writes at most the given length into `control`, and no data.
        let result = unsafe { libc::recvmsg(self.fd(), &mut message, flags) };
        let bytes = control.iter().flat_map(|word| word.to_ne_bytes()).take(message.msg_controllen as usize);
        (result >= 0).then(|| bytes.collect())
    }

    /// Reads an option whose value is an array of 32-bit numbers.
    pub fn get<const N: usize>(&self, level: i32, option: i32) -> Option<[u32; N]> {
        let mut value = [0u32; N];
        let mut len = size_of_val(&value) as u32;
        // SAFETY: the kernel writes at most `len` bytes into `value`.
        let result =
            unsafe { libc::getsockopt(self.fd(), level, option, value.as_mut_ptr().cast(), &mut len) };
        (result == 0).then_some(value)
    }

    /// Binds to an interface; `protocol` in host order, 0 to receive nothing.
    pub fn bind(&self, index: i32, protocol: u16) -> Result<(), PortError> {
        // SAFETY: all zeros is a valid sockaddr_ll.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = protocol.to_be();
        address.sll_ifindex = index;
        let len = size_of_val(&address) as u32;
        // SAFETY: `address` lives until the call returns, and the length is its own.
        let result = unsafe { libc::bind(self.fd(), (&raw const address).cast(), len) };
        if result == 0 { Ok(()) } else { Err(self.error("bind")) }
    }
}

/// Runs `open` inside a network namespace (`None`: here), on a helper thread: sockets stay in the namespace that they
/// were made in, and no other thread ever leaves its own.
pub(crate) fn within<T: Send>(
    netns: Option<&Path>,
    open: impl FnOnce() -> Result<T, PortError> + Send,
) -> Result<T, PortError> {
    let Some(name) = netns else { return open() };
    let path = if name.components().count() == 1 { Path::new("/run/netns").join(name) } else { name.into() };
    let inside = move || {
        enter(&path)?;
        open()
    };
    std::thread::scope(|scope| match scope.spawn(inside).join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

fn enter(path: &PathBuf) -> Result<(), PortError> {
    let failed = |source| PortError::Namespace { path: path.display().to_string(), source };
    let file = File::open(path).map_err(failed)?;
    // SAFETY: the descriptor is open; setns changes the calling thread alone.
    if unsafe { libc::setns(file.as_raw_fd(), libc::CLONE_NEWNET) } == 0 {
        return Ok(());
    }
    match io::Error::last_os_error() {
        error if error.raw_os_error() == Some(libc::EPERM) => Err(PortError::PermissionNeeded {
            operation: format!("entering network namespace {}", path.display()),
            privilege: "CAP_SYS_ADMIN",
        }),
        error => Err(failed(error)),
    }
}
