//! How many queues an interface has.

use std::os::fd::RawFd;

const ETHTOOL_GCHANNELS: u32 = 0x3c;

/// `struct ethtool_channels`.
#[repr(C)]
#[derive(Default)]
struct Channels {
    command: u32,
    most: [u32; 4],
    rx: u32,
    tx: u32,
    other: u32,
    combined: u32,
}

/// Receive and transmit queues of an interface in the namespace of `socket`; `None` where the driver does not tell.
pub(super) fn queues(socket: RawFd, interface: &str) -> Option<(u32, u32)> {
    let mut channels = Channels { command: ETHTOOL_GCHANNELS, ..Channels::default() };
    let told = request(socket, interface, &mut channels);
    told.then(|| ((channels.rx + channels.combined).max(1), (channels.tx + channels.combined).max(1)))
}

/// Asks the driver; whether it answered.
fn request(socket: RawFd, interface: &str, channels: &mut Channels) -> bool {
    // SAFETY: all zeros is a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last byte stays zero.
    let room = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name[..room].iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = (&raw mut *channels).cast();
    // SAFETY: the request is whole, and for our commands the driver reads or fills a `struct ethtool_channels`.
    unsafe { libc::ioctl(socket, libc::SIOCETHTOOL as _, &mut request) == 0 }
}

/// Sets the numbers of receive and transmit queues; the errno, 0 when it worked.
#[cfg(test)]
pub(super) fn set_receive_queues(socket: RawFd, interface: &str, n: u32) -> i32 {
    const ETHTOOL_SCHANNELS: u32 = 0x3d;
    let mut channels = Channels { command: ETHTOOL_SCHANNELS, rx: n, tx: n, ..Channels::default() };
    if request(socket, interface, &mut channels) {
        0
    } else {
        std::io::Error::last_os_error().raw_os_error().unwrap_or(-1)
    }
}
