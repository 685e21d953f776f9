//! A device that is open, shared by the ports of its queues; it closes with the last of them.

use std::ffi::{CStr, CString};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use flowgauge_clock::{Clock, Nanos};

use super::clock::DeviceClock;
use super::options::DpdkOptions;
use super::shim::{Config, Link, Mbuf, QUEUES_MAX, RawPort, Shim, Stats};
use super::vhost_user::{Patience, remove_stale, server_socket};
use super::{BURST, Reading};
use crate::PortError;

/// Drivers of devices whose link has no speed, whatever they say.
const VIRTUAL: [&str; 8] = [
    "net_null",
    "net_ring",
    "net_pcap",
    "net_af_packet",
    "net_af_xdp",
    "net_memif",
    "net_virtio_user",
    "net_vhost",
];
/// Buffers per queue beyond those in its rings: bursts that are being written, received or kept to try again.
const SPARE: u32 = 8 * BURST as u32;
const ETHERNET_HEADER: usize = 14;
const VLAN_TAG: usize = 4;

pub(super) struct Handle {
    pub shim: &'static Shim,
    pub raw: RawPort,
    pub name: String,
    driver: String,
}

// SAFETY: the raw pointers are to DPDK's pools, which any thread may use; `raw` does not change while the device is open.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    pub fn open(shim: &'static Shim, options: &DpdkOptions) -> Result<Handle, PortError> {
        let device = options.device.as_str();
        let refused = |reason: String| PortError::DpdkDevice { device: device.to_owned(), reason };
        let devargs = CString::new(device).map_err(|_| refused("its name has a zero byte".into()))?;
        let config = Config {
            devargs: devargs.as_ptr(),
            queues: options.queues,
            rx_descriptors: options.rx_descriptors,
            tx_descriptors: options.tx_descriptors,
            mtu: options.mtu.unwrap_or(0),
            spare: SPARE,
        };
        // SAFETY: all zeros is a valid value of this plain structure.
        let mut raw: RawPort = unsafe { std::mem::zeroed() };
        let mut step = c"".as_ptr();
        let _alone = alone();
        let socket = server_socket(device);
        let waiting = socket.clone().map(|socket| {
            remove_stale(&socket);
            Patience::new(socket, options.link_wait)
        });
        // SAFETY: DPDK runs; all pointers outlive the call, and `step` is set to a string constant; nobody else
        // opens or closes.
        let (code, step) = unsafe {
            let code = (shim.open)(&config, &mut raw, &mut step);
            (code, CStr::from_ptr(step).to_string_lossy())
        };
        let nobody_came = waiting.is_some_and(Patience::ended);
        if let (Some(socket), true) = (socket, code != 0) {
            // DPDK leaves it there.
            let _ = std::fs::remove_file(socket);
        }
        if code != 0 && nobody_came {
            return Err(refused(nobody(options.link_wait)));
        }
        if code == -libc::ERANGE {
            return Err(too_few(device, options.queues));
        }
        if code != 0 {
            return Err(refused(reason(shim, code, &step)));
        }
        // SAFETY: the shim ends the name with a zero byte.
        let driver = unsafe { CStr::from_ptr(raw.driver.as_ptr()) }.to_string_lossy().into_owned();
        let several = if raw.queues > 1 { format!(" ({} queues)", raw.queues) } else { String::new() };
        let name = format!("dpdk {}{several}", device.split(',').next().unwrap_or(device));
        Ok(Handle { shim, raw, name, driver })
    }

    fn link(&self) -> Link {
        let mut link = Link::default();
        // SAFETY: the port is open.
        if unsafe { (self.shim.link)(self.raw.id, &mut link) } != 0 {
            link.up = 0;
        }
        link
    }

    pub fn link_up(&self) -> bool {
        self.link().up != 0
    }

    pub fn link_mbps(&self) -> Option<u64> {
        let mbps = self.link().mbps;
        let real = !VIRTUAL.contains(&self.driver.as_str()) && mbps != 0 && mbps != u32::MAX;
        real.then_some(mbps as u64)
    }

    /// The longest frame, without FCS: the MTU counts no Ethernet header, and no VLAN tag.
    #[inline]
    pub fn longest_frame(&self) -> usize {
        self.raw.mtu as usize + ETHERNET_HEADER + VLAN_TAG
    }

    fn is_vhost_user(&self) -> bool {
        self.driver == "net_virtio_user"
    }

    /// What to say when the link went down.
    pub fn down(&self) -> PortError {
        let reason = match self.is_vhost_user() {
            true => "the other side closed the vhost-user socket",
            false => "the link is down",
        };
        PortError::LinkDown { port: self.name.clone(), reason: reason.into() }
    }

    pub fn wait_for_link(&self, patience: Duration) -> Result<(), PortError> {
        let started = Instant::now();
        while !self.link_up() {
            if started.elapsed() >= patience {
                let reason = match self.is_vhost_user() {
                    true => nobody(patience),
                    false => format!("its link was down for {} s", patience.as_secs_f32()),
                };
                return Err(PortError::DpdkDevice { device: self.name.clone(), reason });
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    pub fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        // SAFETY: the port is open. A device without counters leaves zeros.
        unsafe { (self.shim.stats)(self.raw.id, &mut stats) };
        stats
    }

    /// The device's clock and ours at the same time. `None` when it has none that can be read.
    pub fn read_clock(&self) -> Option<Reading> {
        if self.raw.timestamp_offset < 0 {
            return None;
        }
        let mut ticks = 0;
        let before = Clock.now();
        // SAFETY: the port is open.
        let code = unsafe { (self.shim.read_clock)(self.raw.id, &mut ticks) };
        let after = Clock.now();
        (code == 0).then_some((ticks, Nanos(before.0 / 2 + after.0 / 2)))
    }

    /// How stamps of the device become the tester's; `None` when it stamps nothing or its clock can't be read.
    pub fn clock(&self) -> Option<DeviceClock> {
        let first = self.read_clock()?;
        std::thread::sleep(Duration::from_millis(10));
        DeviceClock::new(first, self.read_clock()?)
    }

    /// When the device says that a frame arrived, if it does.
    ///
    /// # Safety
    /// The mbuf must be one that was received, of a device that has a clock.
    #[inline]
    pub unsafe fn ticks(&self, mbuf: *const Mbuf) -> Option<u64> {
        // SAFETY: DPDK registered eight bytes at that offset within each mbuf.
        unsafe {
            let valid = (*mbuf).ol_flags & self.raw.timestamp_flag != 0;
            valid.then(|| {
                mbuf.cast::<u8>().add(self.raw.timestamp_offset as usize).cast::<u64>().read_unaligned()
            })
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let _alone = alone();
        // SAFETY: the last port of the device is gone. With frames still on loan the shim leaves their memory alone.
        unsafe { (self.shim.close)(&mut self.raw) };
    }
}

/// Devices come and go one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static OPENING: Mutex<()> = Mutex::new(());
    OPENING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn nobody(patience: Duration) -> String {
    format!("nobody connected to its socket within {} s", patience.as_secs_f32())
}

/// What to say when a device does not have so many queues.
fn too_few(device: &str, queues: u16) -> PortError {
    let advice = format!(
        "ask for fewer (at most {QUEUES_MAX}), or give the device more by its arguments: \
         \"net_virtio_user0,...,queues={queues}\", \"net_af_packet0,...,qpairs={queues}\""
    );
    let name = device.split(',').next().unwrap_or(device);
    PortError::TooFewQueues { port: format!("dpdk {name}"), wanted: queues.into(), found: None, advice }
}

/// Why a device was refused: the system's words, and DPDK's.
fn reason(shim: &Shim, code: i32, step: &str) -> String {
    let system = std::io::Error::from_raw_os_error(-code);
    format!("{step}: {system}; DPDK says: {}", shim.last_words())
}
