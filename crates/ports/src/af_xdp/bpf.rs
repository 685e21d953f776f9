//! bpf(2): the map from queue to socket, the program, and its link to the interface.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::options::{Attach, Steer};
use super::program::{Instruction, program};
use crate::PortError;

const MAP_CREATE: i32 = 0;
const MAP_UPDATE_ELEM: i32 = 2;
const PROG_LOAD: i32 = 5;
const LINK_CREATE: i32 = 28;

const MAP_TYPE_XSKMAP: u32 = 17;
const PROG_TYPE_XDP: u32 = 6;
const ATTACH_XDP: u32 = 37;

/// Flags of a link to an interface.
const GENERIC: u32 = 1 << 1;
const NATIVE: u32 = 1 << 2;

/// How long a link that was closed just now may take to be gone.
const PATIENCE: Duration = Duration::from_millis(300);

/// The start of `union bpf_attr` for MAP_CREATE.
#[repr(C)]
struct MapCreate {
    map_type: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
    flags: u32,
}

/// For MAP_UPDATE_ELEM.
#[repr(C, align(8))]
struct MapUpdate {
    map: u32,
    _pad: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// For PROG_LOAD.
#[repr(C, align(8))]
struct ProgLoad {
    program_type: u32,
    count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    version: u32,
    flags: u32,
}

/// For LINK_CREATE.
#[repr(C)]
struct LinkCreate {
    program: u32,
    interface: u32,
    attach_type: u32,
    flags: u32,
}

/// The program on an interface. It goes with this value, and with the process however that ends.
#[derive(Debug)]
pub(super) struct Redirect {
    map: OwnedFd,
    _link: OwnedFd,
    native: bool,
}

impl Redirect {
    /// Puts the program on an interface of this namespace; frames pass it until sockets are [`add`](Redirect::add)ed.
    pub fn attach(
        port: &str,
        interface: i32,
        queues: u32,
        steer: Steer,
        attach: Attach,
    ) -> Result<Redirect, PortError> {
        let create = MapCreate {
            map_type: MAP_TYPE_XSKMAP,
            key_size: 4,
            value_size: 4,
            max_entries: queues,
            flags: 0,
        };
        let map = owned(bpf(MAP_CREATE, &create)).map_err(|e| failed(port, "bpf(BPF_MAP_CREATE)", e))?;
        let loaded = load(&program(steer, map.as_raw_fd()));
        let program = loaded.map_err(|e| failed(port, "bpf(BPF_PROG_LOAD)", e))?;
        let (link, native) = match attach {
            Attach::Native => (link(&program, interface, NATIVE), true),
            Attach::Generic => (link(&program, interface, GENERIC), false),
            Attach::Auto => match link(&program, interface, NATIVE) {
                Err(error) if !is_busy(&error) && error.raw_os_error() != Some(libc::EPERM) => {
                    (link(&program, interface, GENERIC), false)
                }
                result => (result, true),
            },
        };
        let link = link.map_err(|e| failed(port, "bpf(BPF_LINK_CREATE)", e))?;
        Ok(Redirect { map, _link: link, native })
    }

    /// Whether the driver runs it.
    pub fn native(&self) -> bool {
        self.native
    }

    /// Sends the frames of `queue` to a bound socket, until that is closed.
    pub fn add(&self, port: &str, queue: u32, socket: RawFd) -> Result<(), PortError> {
        let value = socket as u32;
        let update = MapUpdate {
            map: self.map.as_raw_fd() as u32,
            _pad: 0,
            key: (&raw const queue) as u64,
            value: (&raw const value) as u64,
            flags: 0,
        };
        bpf(MAP_UPDATE_ELEM, &update).map(drop).map_err(|e| failed(port, "bpf(BPF_MAP_UPDATE_ELEM)", e))
    }
}

/// A system call of bpf(2). `attributes` is the part of `union bpf_attr` that the command reads.
fn bpf<T>(command: i32, attributes: &T) -> io::Result<i32> {
    // SAFETY: the kernel reads `size_of::<T>()` bytes, and through the pointers in them what our callers keep alive.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, attributes, size_of::<T>()) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result as i32) }
}

fn owned(fd: io::Result<i32>) -> io::Result<OwnedFd> {
    // SAFETY: the kernel just opened it for us (close-on-exec, as all of bpf(2)'s).
    fd.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}

fn load(code: &[Instruction]) -> io::Result<OwnedFd> {
    let license = c"Apache-2.0";
    owned(bpf(
        PROG_LOAD,
        &ProgLoad {
            program_type: PROG_TYPE_XDP,
            count: code.len() as u32,
            instructions: code.as_ptr() as u64,
            license: license.as_ptr() as u64,
            log_level: 0,
            log_size: 0,
            log: 0,
            version: 0,
            flags: 0,
        },
    ))
}

fn link(program: &OwnedFd, interface: i32, flags: u32) -> io::Result<OwnedFd> {
    let create = LinkCreate {
        program: program.as_raw_fd() as u32,
        interface: interface as u32,
        attach_type: ATTACH_XDP,
        flags,
    };
    let started = Instant::now();
    loop {
        match bpf(LINK_CREATE, &create) {
            Err(error) if is_busy(&error) && started.elapsed() < PATIENCE => sleep(Duration::from_millis(5)),
            result => return owned(result),
        }
    }
}

/// Another program is there: in the same mode, or in the other.
fn is_busy(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EEXIST))
}

#[cold]
fn failed(port: &str, call: &'static str, source: io::Error) -> PortError {
    let port = port.to_string();
    match source.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => PortError::PermissionNeeded {
            operation: format!("receiving on {port}"),
            privilege: "CAP_NET_ADMIN and CAP_BPF",
        },
        Some(libc::ENOSYS) => PortError::Unsupported { port, feature: "bpf(2)" },
        Some(libc::EBUSY | libc::EEXIST) if call.contains("LINK") => {
            PortError::Busy { port, reason: "the interface already has an XDP program".into() }
        }
        Some(libc::EOPNOTSUPP) if call.contains("LINK") => {
            PortError::Unsupported { port, feature: "XDP programs in this interface's driver" }
        }
        _ => PortError::System { port, call, source },
    }
}
