//! The shim as Rust sees it: mirrors `shim/flowgauge_dpdk.h`, whose comments say what each function does.

use std::ffi::{CStr, CString, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::PortError;

/// `FG_DPDK_ABI`.
const ABI: u32 = 1;
/// `FG_QUEUES_MAX`.
pub(super) const QUEUES_MAX: usize = 16;

/// The fields of `struct rte_mbuf` that frames need, all in its first cache line. The shim asserts where they stand.
#[repr(C)]
pub(super) struct Mbuf {
    pub buf_addr: *mut u8,
    _iova: u64,
    pub data_off: u16,
    pub refcnt: u16,
    pub nb_segs: u16,
    pub port: u16,
    pub ol_flags: u64,
    _packet_type: u32,
    pub pkt_len: u32,
    pub data_len: u16,
    _vlan_tci: u16,
    _hash: [u32; 2],
    _vlan_tci_outer: u16,
    pub buf_len: u16,
    _pool: *mut Mempool,
}

impl Mbuf {
    /// Makes it a whole frame of `len` bytes behind `headroom` bytes, without offloads.
    ///
    /// Two stores write fields that stand side by side: `data_off`, `refcnt`, `nb_segs`, `port` and `ol_flags`, and `pkt_len`,
    /// `data_len` and the tag, which means nothing without a flag.
    ///
    /// # Safety
    /// `mbuf` is out of its pool and nobody else's.
    #[inline]
    pub unsafe fn fill(mbuf: *mut Mbuf, headroom: u16, len: usize) {
        let rearm = headroom as u128 | 1 << 16 | 1 << 32 | (u16::MAX as u128) << 48;
        // SAFETY: the caller's; both fields lie in the first 64 bytes of the mbuf.
        unsafe {
            (&raw mut (*mbuf).data_off).cast::<u128>().write_unaligned(rearm);
            (&raw mut (*mbuf).pkt_len).cast::<u64>().write_unaligned(len as u64 | (len as u64) << 32);
        }
    }
}

/// `sizeof(struct rte_mbuf)`: the buffer of one of ours begins right behind it.
pub(super) const MBUF_SIZE: usize = 128;

const _: () = {
    use std::mem::offset_of;
    assert!(offset_of!(Mbuf, data_off) == 16 && offset_of!(Mbuf, ol_flags) == 24);
    assert!(offset_of!(Mbuf, pkt_len) == 36 && offset_of!(Mbuf, data_len) == 40);
    assert!(offset_of!(Mbuf, buf_len) == 54 && size_of::<Mbuf>() == 64);
};

/// `struct rte_mempool`.
#[repr(C)]
pub(super) struct Mempool {
    _opaque: [u8; 0],
}

#[repr(C)]
pub(super) struct Config {
    pub devargs: *const c_char,
    pub queues: u16,
    pub rx_descriptors: u16,
    pub tx_descriptors: u16,
    pub mtu: u16,
    pub spare: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawPort {
    pub id: u16,
    pub queues: u16,
    pub rx_descriptors: u16,
    pub tx_descriptors: u16,
    pub mtu: u16,
    pub room: u16,
    pub mac: [u8; 6],
    pub driver: [c_char; 32],
    pub timestamp_offset: i32,
    pub timestamp_flag: u64,
    pub pools: [*mut Mempool; QUEUES_MAX],
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Link {
    pub mbps: u32,
    pub up: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Stats {
    pub rx_missed: u64,
    pub rx_errors: u64,
    pub rx_nombuf: u64,
    pub tx_errors: u64,
}

#[repr(C)]
pub(super) struct Shim {
    abi: u32,
    pub headroom: u32,
    version: unsafe extern "C" fn() -> *const c_char,
    pub start: unsafe extern "C" fn(c_int, *mut *mut c_char) -> c_int,
    log_tail: unsafe extern "C" fn(*mut c_char, usize),
    pub log_echo: unsafe extern "C" fn(c_int),
    pub thread_join: unsafe extern "C" fn() -> c_int,
    pub thread_leave: unsafe extern "C" fn(),
    pub open: unsafe extern "C" fn(*const Config, *mut RawPort, *mut *const c_char) -> c_int,
    pub close: unsafe extern "C" fn(*mut RawPort) -> c_int,
    pub link: unsafe extern "C" fn(u16, *mut Link) -> c_int,
    pub stats: unsafe extern "C" fn(u16, *mut Stats) -> c_int,
    pub read_clock: unsafe extern "C" fn(u16, *mut u64) -> c_int,
    pub alloc: unsafe extern "C" fn(*mut Mempool, *mut *mut Mbuf, u16) -> u16,
    pub free: unsafe extern "C" fn(*mut Mempool, *mut *mut Mbuf, u16),
    pub rx: unsafe extern "C" fn(u16, u16, *mut *mut Mbuf, u16) -> u16,
    pub tx: unsafe extern "C" fn(u16, u16, *mut *mut Mbuf, u16) -> u16,
    pub linearize: unsafe extern "C" fn(*mut Mbuf) -> c_int,
}

impl Shim {
    /// DPDK's own name of its version.
    pub fn version(&self) -> &'static str {
        // SAFETY: a string that lives as long as the library, which is never unloaded.
        unsafe { CStr::from_ptr((self.version)()) }.to_str().unwrap_or("DPDK")
    }

    /// The last line that DPDK logged and that is no mere information, to go with an error.
    pub fn last_words(&self) -> String {
        let mut text = [0u8; 2048];
        // SAFETY: writes a string of at most that size.
        unsafe { (self.log_tail)(text.as_mut_ptr().cast(), text.len()) };
        let text = CStr::from_bytes_until_nul(&text).unwrap_or_default().to_string_lossy();
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.next_back().unwrap_or("DPDK gives no reason").to_owned()
    }
}

/// The shim, loaded once for the process.
pub(super) fn load(path: &Path) -> Result<&'static Shim, PortError> {
    static LOADED: OnceLock<&'static Shim> = OnceLock::new();
    static LOADING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(shim) = LOADED.get() {
        return Ok(shim);
    }
    let shim = open(path)?;
    Ok(LOADED.get_or_init(|| shim))
}

fn open(path: &Path) -> Result<&'static Shim, PortError> {
    let missing = |what: String| PortError::DpdkMissing { what };
    let not_built = || missing(format!("{} was not built", path.display()));
    if path.components().count() > 1 && !path.exists() {
        return Err(not_built());
    }
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| not_built())?;
    // SAFETY: `name` is a string; the library's initialisers are DPDK's own registrations. It is never closed: DPDK can't be.
    let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if library.is_null() {
        return Err(missing(last_dl_error()));
    }
    // SAFETY: the library is open, the name is a string.
    let symbol = unsafe { libc::dlsym(library, c"flowgauge_dpdk".as_ptr()) };
    if symbol.is_null() {
        return Err(missing(format!("{} is no shim of ours", path.display())));
    }
    // SAFETY: the symbol is this function in every version of the shim, and its table starts with the version.
    let shim = unsafe {
        let table: unsafe extern "C" fn() -> *const Shim = std::mem::transmute(symbol);
        let table = table();
        ((&raw const (*table).abi).read() == ABI).then(|| &*table)
    };
    shim.ok_or_else(|| missing(format!("{} is of another version of Flowgauge", path.display())))
}

fn last_dl_error() -> String {
    // SAFETY: a string of this thread's last failure, valid until its next call.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() {
            return "the shim can't be loaded".into();
        }
        OsStr::from_bytes(CStr::from_ptr(text).to_bytes()).to_string_lossy().into_owned()
    }
}
