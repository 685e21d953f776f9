//! What the kernel says of an interface.

use std::ffi::CStr;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::socket::Socket;
use crate::PortError;

/// Ethernet header and one VLAN tag: what a frame may be longer than the MTU.
const HEADERS: usize = 14 + 4;

/// Drivers whose links have no speed, whatever they report.
const VIRTUAL: [&str; 6] = ["veth", "tun", "bridge", "dummy", "virtio_net", "openvswitch"];

/// An interface, as it was when it was opened.
#[derive(Clone, Debug)]
pub(crate) struct Interface {
    pub name: String,
    pub index: i32,
    pub mtu: usize,
    pub mac: [u8; 6],
    pub link_mbps: Option<u64>,
}

/// Whether frames can pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkState {
    Up,
    NoCarrier,
    Down,
}

impl Interface {
    /// The interface of that name in the namespace of `socket`.
    pub fn find(socket: &Socket, name: &str, netns: Option<&Path>) -> Result<Interface, PortError> {
        let missing = || PortError::InterfaceMissing {
            interface: name.into(),
            netns: netns.map(|path| path.display().to_string()),
            existing: names(),
        };
        let mut request = named(name).ok_or_else(missing)?;
        ioctl(socket, libc::SIOCGIFINDEX, &mut request).map_err(|_| missing())?;
        // SAFETY: each successful request fills the member that is read after it.
        unsafe {
            let index = request.ifr_ifru.ifru_ifindex;
            ioctl(socket, libc::SIOCGIFMTU, &mut request).map_err(|_| missing())?;
            let mtu = request.ifr_ifru.ifru_mtu as usize;
            ioctl(socket, libc::SIOCGIFHWADDR, &mut request).map_err(|_| missing())?;
            let address = request.ifr_ifru.ifru_hwaddr.sa_data;
            let mac = std::array::from_fn(|i| address[i] as u8);
            let link_mbps = speed(socket, name);
            Ok(Interface { name: name.into(), index, mtu, mac, link_mbps })
        }
    }

    /// The longest frame in bytes, without FCS.
    pub fn longest_frame(&self) -> usize {
        self.mtu + HEADERS
    }

    /// Whether frames can pass now. An error means that the interface is gone.
    pub fn state(&self, socket: &Socket) -> Result<LinkState, i32> {
        let gone = Err(libc::ENODEV);
        let Some(mut request) = named(&self.name) else { return gone };
        ioctl(socket, libc::SIOCGIFFLAGS, &mut request)?;
        // SAFETY: the request filled the flags.
        let flags = unsafe { request.ifr_ifru.ifru_flags } as i32;
        ioctl(socket, libc::SIOCGIFINDEX, &mut request)?;
        // SAFETY: the request filled the index. Another interface may have taken the name.
        if unsafe { request.ifr_ifru.ifru_ifindex } != self.index {
            return gone;
        }
        Ok(match (flags & libc::IFF_UP != 0, flags & libc::IFF_RUNNING != 0) {
            (false, _) => LinkState::Down,
            (true, false) => LinkState::NoCarrier,
            (true, true) => LinkState::Up,
        })
    }

    /// An error when frames can't pass now, for `port`.
    pub fn check(&self, socket: &Socket, port: &str) -> Result<(), PortError> {
        let reason = match self.state(socket) {
            Ok(LinkState::Up) => return Ok(()),
            Ok(LinkState::NoCarrier) => "it lost its carrier: the other end is down or gone",
            Ok(LinkState::Down) => "the interface was taken down",
            Err(_) => "the interface was removed",
        };
        Err(PortError::LinkDown { port: port.to_owned(), reason: reason.into() })
    }

    /// Returns when the link is up, or says why it is not. Only a carrier is waited for.
    pub fn wait_until_up(
        &self,
        socket: &Socket,
        patience: Duration,
        netns: Option<&Path>,
    ) -> Result<(), PortError> {
        let started = Instant::now();
        loop {
            let state = self.state(socket);
            let carrier_lost = state == Ok(LinkState::NoCarrier);
            if state == Ok(LinkState::Up) {
                return Ok(());
            }
            if !carrier_lost || started.elapsed() >= patience {
                let netns = netns.map(|path| path.display().to_string());
                return Err(PortError::InterfaceDown { interface: self.name.clone(), netns, carrier_lost });
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// A request about the interface of that name; `None` when no interface can have it.
fn named(name: &str) -> Option<libc::ifreq> {
    // SAFETY: all zeros is a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.is_empty() || name.len() >= request.ifr_name.len() || name.contains('\0') {
        return None;
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    Some(request)
}

fn ioctl(socket: &Socket, what: libc::c_ulong, request: &mut libc::ifreq) -> Result<(), i32> {
    // SAFETY: `request` is a whole ifreq, and every request that we make reads and writes no more.
    let result = unsafe { libc::ioctl(socket.fd(), what as _, request) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)) }
}

/// The names of all interfaces here.
fn names() -> Vec<String> {
    // SAFETY: the list is read up to its terminating entry and then freed once.
    unsafe {
        let list = libc::if_nameindex();
        if list.is_null() {
            return Vec::new();
        }
        let mut names = Vec::new();
        let mut entry = list;
        while (*entry).if_index != 0 {
            names.push(CStr::from_ptr((*entry).if_name).to_string_lossy().into_owned());
            entry = entry.add(1);
        }
        libc::if_freenameindex(list);
        names
    }
}

const ETHTOOL_GSET: u32 = 1;
const ETHTOOL_GDRVINFO: u32 = 3;

/// The link's speed in Mbit/s, `None` for links that have none.
fn speed(socket: &Socket, name: &str) -> Option<u64> {
    let driver = ethtool::<196>(socket, name, ETHTOOL_GDRVINFO)?;
    let driver = CStr::from_bytes_until_nul(&driver[4..36]).ok()?.to_str().ok()?;
    if VIRTUAL.contains(&driver) {
        return None;
    }
    let settings = ethtool::<44>(socket, name, ETHTOOL_GSET)?;
    // struct ethtool_cmd: the low half of the speed at 12, the high half at 28.
    let half = |at: usize| u16::from_ne_bytes([settings[at], settings[at + 1]]) as u64;
    let mbps = half(28) << 16 | half(12);
    (mbps != 0 && mbps != 0xffff_ffff && mbps != 0xffff).then_some(mbps)
}

/// An answer of the driver: the command's structure of `N` bytes.
pub(super) fn ethtool<const N: usize>(socket: &Socket, name: &str, command: u32) -> Option<[u8; N]> {
    #[repr(C, align(8))]
    struct Answer<const N: usize>([u8; N]);
    let mut answer = Answer([0; N]);
    answer.0[..4].copy_from_slice(&command.to_ne_bytes());
    let mut request = named(name)?;
    request.ifr_ifru.ifru_data = answer.0.as_mut_ptr().cast();
    ioctl(socket, libc::SIOCETHTOOL as _, &mut request).ok()?;
    Some(answer.0)
}

const SIOCGHWTSTAMP: libc::c_ulong = 0x89b1;

/// What the card stamps, `struct hwtstamp_config`: flags, transmit type, receive filter. Sets it first when given; `None` when
/// the driver refuses or knows no such thing.
pub(super) fn hardware_stamps(socket: &Socket, name: &str, set: Option<[i32; 3]>) -> Option<[i32; 3]> {
    let mut config = set.unwrap_or_default();
    let mut request = named(name)?;
    request.ifr_ifru.ifru_data = config.as_mut_ptr().cast();
    let what = if set.is_some() { libc::SIOCSHWTSTAMP } else { SIOCGHWTSTAMP };
    ioctl(socket, what, &mut request).ok()?;
    Some(config)
}
