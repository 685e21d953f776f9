//! How devices are opened, and DPDK is started.

use std::path::PathBuf;
use std::time::Duration;

/// How a device is opened. The defaults suit measuring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DpdkOptions {
    /// Which device, with its arguments: see [`Device`](super::Device).
    pub device: String,
    /// The network namespace in which it is opened (af_packet and the like): a path, or a name as `ip netns` knows it.
    pub netns: Option<PathBuf>,
    /// Pairs of a receive and a transmit queue, at least 1.
    pub queues: u16,
    /// Descriptors of each receive queue; the device may want fewer or more.
    pub rx_descriptors: u16,
    /// Descriptors of each transmit queue.
    pub tx_descriptors: u16,
    /// The longest payload of a frame; `None`: the device's own setting, usually 1500.
    pub mtu: Option<u16>,
    /// How long to wait for the link, which for a vhost-user socket is the other side's connection. Zero: don't wait, whether it is up or not.
    pub link_wait: Duration,
    /// Where the shim is; `None`: what `FLOWGAUGE_DPDK_SHIM` names, else wherever the loader finds `libflowgauge_dpdk.so`.
    pub shim: Option<PathBuf>,
    /// How DPDK is started. Only the first opener's count: it starts once per process.
    pub eal: EalOptions,
}

impl DpdkOptions {
    /// The defaults, for this device.
    pub fn new(device: impl Into<String>) -> DpdkOptions {
        DpdkOptions {
            device: device.into(),
            netns: None,
            queues: 1,
            rx_descriptors: 1024,
            tx_descriptors: 1024,
            mtu: None,
            link_wait: Duration::from_secs(10),
            shim: None,
            eal: EalOptions::default(),
        }
    }
}

/// How DPDK's environment is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EalOptions {
    /// Memory for frames, in MiB: about 10 per queue.
    pub memory_mib: u32,
    /// Whether it lies in hugepages.
    pub hugepages: Hugepages,
    /// What sets its files apart from those of other DPDK processes; `None`: one with this process's id.
    pub file_prefix: Option<String>,
    /// The cores that DPDK's own threads may run on (they sleep most of the time); empty: those of this process.
    pub cores: Vec<usize>,
}

impl Default for EalOptions {
    fn default() -> Self {
        EalOptions { memory_mib: 256, hugepages: Hugepages::Auto, file_prefix: None, cores: Vec::new() }
    }
}

/// Whether DPDK's memory lies in hugepages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hugepages {
    /// When enough of them are free; else in ordinary pages, which costs up to 15 % of the speed.
    #[default]
    Auto,
    /// It must; starting fails when too few are free.
    Yes,
    /// It must not. Network cards then need an IOMMU.
    No,
}
