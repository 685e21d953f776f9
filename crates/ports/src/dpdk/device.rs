//! Arguments of common virtual devices, as DPDK wants them. A network card is just its address: `0000:03:00.0`.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// A device by DPDK's own arguments: `net_null0,size=64`, `0000:03:00.0`. Each has a name of its own within the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device(String);

impl Device {
    fn virtual_device(driver: &str, arguments: impl fmt::Display) -> Device {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Device(format!("{driver}_fg{}{arguments}", NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    /// The vhost-user server at `socket`, with packed rings: the other end of Open vSwitch's `dpdkvhostuserclient` ports.
    pub fn virtio_user(socket: &Path, queues: u16) -> Device {
        let path = socket.display();
        Device::virtual_device(
            "net_virtio_user",
            format_args!(",path={path},server=1,queues={queues},queue_size=1024,packed_vq=1"),
        )
    }

    /// A Linux interface by AF_PACKET, in the network namespace of the process.
    pub fn af_packet(interface: &str) -> Device {
        Device::virtual_device("net_af_packet", format_args!(",iface={interface}"))
    }

    /// One end of shared-memory rings at `socket`; one of the two is the server.
    pub fn memif(socket: &Path, server: bool) -> Device {
        let (role, path) = (if server { "server" } else { "client" }, socket.display());
        Device::virtual_device("net_memif", format_args!(",role={role},socket={path},socket-abstract=no"))
    }

    /// A ring whose frames come back to the port that sent them.
    pub fn ring() -> Device {
        Device::virtual_device("net_ring", "")
    }

    /// A device that throws away what is sent, and receives nothing.
    pub fn null() -> Device {
        Device::virtual_device("net_null", ",no-rx=1")
    }

    /// A device that receives what is in one capture file and writes what is sent into another.
    pub fn pcap(receive: &Path, transmit: &Path) -> Device {
        let (rx, tx) = (receive.display(), transmit.display());
        Device::virtual_device("net_pcap", format_args!(",rx_pcap={rx},tx_pcap={tx}"))
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Device> for String {
    fn from(device: Device) -> String {
        device.0
    }
}
