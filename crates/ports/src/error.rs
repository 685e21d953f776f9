//! What can go wrong with a port: each error has a stable name and says what to do about it.

use std::io;

/// Why a port could not be opened, or stopped working.
#[derive(Debug, thiserror::Error)]
pub enum PortError {
    /// No interface has that name.
    #[error("there is no interface {interface:?}{}; there are: {}", place(.netns), .existing.join(", "))]
    InterfaceMissing {
        /// The name asked for.
        interface: String,
        /// The network namespace it was looked for in.
        netns: Option<String>,
        /// The interfaces that are there.
        existing: Vec<String>,
    },
    /// The interface is administratively down, or has no carrier, before the start.
    #[error("interface {interface:?}{} {}", place(.netns), if *.carrier_lost { "has no carrier" } else { "is down" })]
    InterfaceDown {
        /// The interface.
        interface: String,
        /// Its network namespace.
        netns: Option<String>,
        /// It is up, and its peer is not.
        carrier_lost: bool,
    },
    /// The process lacks a privilege.
    #[error("{operation} needs {privilege}")]
    PermissionNeeded {
        /// What was attempted.
        operation: String,
        /// The capability that it takes.
        privilege: &'static str,
    },
    /// The network namespace can't be entered.
    #[error("can't enter network namespace {path:?}: {source}")]
    Namespace {
        /// Path of the namespace.
        path: String,
        /// The system's error.
        source: io::Error,
    },
    /// The port worked and then went down: interface down or removed, carrier lost, peer gone.
    #[error("port {port} went down: {reason}")]
    LinkDown {
        /// The port, as it describes itself.
        port: String,
        /// What happened.
        reason: String,
    },
    /// The kernel, or the interface's driver, can't do what the port needs.
    #[error("{port} needs {feature}, which is not there")]
    Unsupported {
        /// The port.
        port: String,
        /// What is missing.
        feature: &'static str,
    },
    /// A device has fewer queues than were asked for.
    #[error("{port} does not have {wanted} queues{}", .found.map(|n| format!(", but {n}")).unwrap_or_default())]
    TooFewQueues {
        /// The port.
        port: String,
        /// How many were asked for.
        wanted: u32,
        /// How many there are, where that is known.
        found: Option<u32>,
        /// How it gets more.
        advice: String,
    },
    /// Somebody else uses what the port needs for itself.
    #[error("{port} is in use: {reason}")]
    Busy {
        /// The port.
        port: String,
        /// What is taken.
        reason: String,
    },
    /// The process may not lock that much memory.
    #[error("{port} needs {needed} bytes of locked memory; the limit is {limit}")]
    MemoryLimit {
        /// The port.
        port: String,
        /// Bytes that it would lock.
        needed: u64,
        /// Bytes that the process may lock in all (`RLIMIT_MEMLOCK`).
        limit: u64,
    },
    /// A frame is longer than the port takes.
    #[error("port {port} takes frames of {longest} bytes without FCS, not {found}")]
    FrameTooLong {
        /// The port.
        port: String,
        /// The longest frame it takes, in bytes without FCS.
        longest: usize,
        /// The frame's length.
        found: usize,
    },
    /// DPDK, or the shim between it and us, is not there.
    #[error("DPDK can't be used: {what}")]
    DpdkMissing {
        /// What was not found.
        what: String,
    },
    /// DPDK did not start.
    #[error("DPDK did not start: {reason}")]
    DpdkStart {
        /// What it said.
        reason: String,
    },
    /// DPDK would not have a device.
    #[error("DPDK can't open {device:?}: {reason}")]
    DpdkDevice {
        /// The device's arguments.
        device: String,
        /// What it said.
        reason: String,
    },
    /// Too few hugepages are free.
    #[error("DPDK needs {needed_mib} MiB of hugepages; {free_mib} MiB are free")]
    Hugepages {
        /// MiB that were asked for.
        needed_mib: u64,
        /// MiB that are free.
        free_mib: u64,
    },
    /// A system call failed in a way that none of the others describes.
    #[error("{call} on {port} failed: {source}")]
    System {
        /// The port.
        port: String,
        /// The system call.
        call: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

/// As `call` of [`PortError::System`]: making a capture file that is a port.
pub(crate) const CREATE_FILE: &str = "creating the file";
/// The same of writing to it.
pub(crate) const WRITE_FILE: &str = "writing";

fn place(netns: &Option<String>) -> String {
    netns.as_ref().map(|n| format!(" in network namespace {n}")).unwrap_or_default()
}

impl PortError {
    /// The error's stable name.
    pub fn name(&self) -> &'static str {
        match self {
            PortError::InterfaceMissing { .. } => "interface-missing",
            PortError::InterfaceDown { .. } => "interface-down",
            PortError::PermissionNeeded { .. } => "permission-needed",
            PortError::Namespace { .. } => "namespace",
            PortError::LinkDown { .. } => "link-down",
            PortError::Unsupported { .. } => "port-unsupported",
            PortError::TooFewQueues { .. } => "too-few-queues",
            PortError::Busy { .. } => "interface-busy",
            PortError::MemoryLimit { .. } => "memory-limit",
            PortError::FrameTooLong { .. } => "frame-too-long",
            PortError::DpdkMissing { .. } => "dpdk-missing",
            PortError::DpdkStart { .. } => "dpdk-start",
            PortError::DpdkDevice { .. } => "dpdk-device",
            PortError::Hugepages { .. } => "hugepages",
            PortError::System { .. } => "port-system",
        }
    }

    /// What a user can do about it.
    pub fn advice(&self) -> String {
        match self {
            PortError::InterfaceMissing { .. } => {
                "check the name, and whether the interface is in another network namespace (`ip netns list`)"
                    .into()
            }
            PortError::InterfaceDown { interface, netns, carrier_lost: false } => {
                let there = netns.as_ref().map(|name| format!("-n {name} ")).unwrap_or_default();
                format!("bring it up: `ip {there}link set {interface} up`")
            }
            PortError::InterfaceDown { carrier_lost: true, .. } => {
                "check the cable, or bring up the other end of the link".into()
            }
            PortError::PermissionNeeded { privilege, .. } => {
                format!("run as root, or give the program {privilege} (`setcap`)")
            }
            PortError::Namespace { .. } => {
                "check the namespace (`ip netns list`); entering one needs root".into()
            }
            PortError::LinkDown { .. } => {
                "see whether the interface is up, and whether the device behind it still runs; then start again".into()
            }
            PortError::Unsupported { .. } => {
                "use the af_packet backend, which every kernel has, or a newer kernel (AF_XDP wants 5.9 or later)".into()
            }
            PortError::TooFewQueues { advice, .. } => advice.clone(),
            PortError::Busy { .. } => {
                "end the other program; `ip link show` names XDP programs, `ip link set IFACE xdp off` removes one".into()
            }
            PortError::MemoryLimit { needed, .. } => {
                format!(
                    "give the program CAP_IPC_LOCK, raise the limit (`ulimit -l {}`), or ask for fewer frames",
                    needed.div_ceil(1024)
                )
            }
            PortError::DpdkMissing { .. } => {
                "install it and build the shim: `apt-get install dpdk libdpdk-dev pkg-config && make dpdk`".into()
            }
            PortError::DpdkStart { .. } => {
                "FLOWGAUGE_DEBUG=1 shows all that DPDK says; with hugepages=\"no\" it needs least of the host".into()
            }
            PortError::DpdkDevice { .. } => {
                "check its arguments (https://doc.dpdk.org/guides/nics/) and that its driver is installed \
                 (`apt-get install dpdk`); a card must be bound to vfio-pci (`dpdk-devbind.py --status`)"
                    .into()
            }
            PortError::Hugepages { needed_mib, .. } => {
                format!("set some aside: `sysctl vm.nr_hugepages={}`, or open with hugepages=\"no\"", needed_mib.div_ceil(2))
            }
            PortError::FrameTooLong { .. } => "raise the interface's MTU, or send smaller frames".into(),
            PortError::System { call: CREATE_FILE | WRITE_FILE, .. } => {
                "see that its folder exists, may be written to and has room".into()
            }
            PortError::System { .. } => {
                "see the system's own message; `flowgauge doctor` checks this host".into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_memory_says_what_to_set_it_to() {
        let error = PortError::MemoryLimit { port: "af_xdp va".into(), needed: 71_303_168, limit: 8 << 20 };
        assert_eq!(error.name(), "memory-limit");
        assert_eq!(
            error.to_string(),
            "af_xdp va needs 71303168 bytes of locked memory; the limit is 8388608"
        );
        assert!(error.advice().contains("CAP_IPC_LOCK") && error.advice().contains("`ulimit -l 69632`"));
    }

    #[test]
    fn advice_names_the_namespace_to_bring_an_interface_up_in() {
        let down = |netns: Option<&str>| PortError::InterfaceDown {
            interface: "eth7".into(),
            netns: netns.map(str::to_owned),
            carrier_lost: false,
        };
        assert_eq!(down(None).advice(), "bring it up: `ip link set eth7 up`");
        assert_eq!(down(Some("lab")).advice(), "bring it up: `ip -n lab link set eth7 up`");
    }

    #[test]
    fn says_where_and_what_is_there_instead() {
        let error = PortError::InterfaceMissing {
            interface: "eth7".into(),
            netns: Some("fg-1".into()),
            existing: vec!["lo".into(), "eth0".into()],
        };
        assert_eq!(error.name(), "interface-missing");
        assert_eq!(
            error.to_string(),
            "there is no interface \"eth7\" in network namespace fg-1; there are: lo, eth0"
        );
    }
}
