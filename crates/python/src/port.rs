//! Tester ports as Python holds them: opaque, moved into the engine while frames move and back afterwards.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use flowgauge_clock::Nanos;
use flowgauge_ports::{Impaired, Impairment, PortError, PortStats, af_packet, af_xdp, dpdk, ring};
use flowgauge_traffic::Ports;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{self, usage};

/// A handle of a queue of a port, or of all of them.
type Handle = Box<dyn flowgauge_ports::Port>;

/// A port of any backend. Empty while a transmission or a switch has it.
#[pyclass(module = "flowgauge._core")]
pub struct Port {
    /// A handle for each of its queues.
    inner: Mutex<Vec<Handle>>,
    queues: usize,
}

impl Port {
    /// Wraps a port.
    pub fn new(port: Handle) -> Port {
        Port::of_queues(vec![port])
    }

    /// Wraps the handles of a port's queues.
    pub fn of_queues(handles: Vec<Handle>) -> Port {
        Port { queues: handles.len(), inner: Mutex::new(handles) }
    }

    /// Takes the handles out. An error when somebody else has them.
    fn take(&self) -> PyResult<Vec<Handle>> {
        match std::mem::take(&mut *self.lock()) {
            handles if handles.is_empty() => {
                Err(usage("the port is in use by a transmission or a switch, or was closed"))
            }
            handles => Ok(handles),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Handle>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Port {
    /// What it is: `ring`, `af_packet veth1`. Empty while it is in use.
    fn describe(&self) -> String {
        self.lock().first().map_or_else(String::new, |port| port.describe().to_owned())
    }

    /// Speed of the link in Mbit/s, None for one that has none.
    fn link_mbps(&self) -> Option<u64> {
        self.lock().first().and_then(|port| port.capabilities().link_mbps)
    }

    /// Where its frames are stamped: `user transmit (kernel samples), kernel receive`. Empty while it is in use.
    fn timestamps(&self) -> String {
        self.lock().first().map_or_else(String::new, |port| port.capabilities().timestamps())
    }

    /// Its counters since it was opened, those of the backend's own among them. Empty while it is in use.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let mut inner = self.lock();
        let Some(stats) = inner.iter_mut().map(|port| port.stats()).reduce(PortStats::and) else {
            return Ok(dict);
        };
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for (name, value) in inner.iter_mut().flat_map(|port| port.details()) {
            *counts.entry(name).or_default() += value;
        }
        counts.extend([
            ("tx_frames", stats.tx_frames),
            ("tx_errors", stats.tx_errors),
            ("rx_frames", stats.rx_frames),
            ("rx_dropped", stats.rx_dropped),
        ]);
        counts.into_iter().try_for_each(|(name, value)| dict.set_item(name, value))?;
        Ok(dict)
    }

    /// The longest frame that it takes, in bytes without FCS. None while it is in use.
    fn longest_frame(&self) -> Option<usize> {
        self.lock().first().map(|port| port.capabilities().longest_frame)
    }

    /// How many queues it has handles for; 1 where one handle serves all that there are.
    #[getter]
    fn queues(&self) -> usize {
        self.queues
    }

    /// Closes it; harmless when it is closed or in use.
    fn close(&self) {
        self.lock().clear();
    }
}

/// The handles of a port's queues, as one port.
fn of_queues<P: flowgauge_ports::Port + 'static>(opened: Result<Vec<P>, PortError>) -> PyResult<Port> {
    let handles = opened.map_err(|e| errors::port(&e))?;
    Ok(Port::of_queues(handles.into_iter().map(|port| Box::new(port) as Handle).collect()))
}

/// A Linux interface, in a network namespace if named; `ring_mib` is the size of its receive ring. With several `queues`, the
/// kernel spreads flows over as many rings.
#[pyfunction]
#[pyo3(signature = (interface, netns=None, *, queues=1, ring_mib=None, receive=true))]
pub fn open_af_packet(
    py: Python<'_>,
    interface: &str,
    netns: Option<PathBuf>,
    queues: usize,
    ring_mib: Option<usize>,
    receive: bool,
) -> PyResult<Port> {
    let mut options = af_packet::AfPacketOptions { receive, ..Default::default() };
    if let Some(mib) = ring_mib {
        // Smaller blocks, so that as many are in turn.
        options.block_size = 128 << 10;
        options.blocks = mib.max(1) * 8;
    }
    of_queues(py.detach(|| af_packet::open_each(interface, netns.as_deref(), options, queues)))
}

/// A Linux interface by AF_XDP: the first `queues`, each by a handle of its own; without a number all by one. `copy`: "auto", "zero-copy" or "copy".
/// `steer_udp_port`: frames other than UDP to that port stay with the kernel.
#[pyfunction]
#[pyo3(signature = (interface, netns=None, *, queues=None, copy="auto", busy_poll_us=None, receive=true, steer_udp_port=None))]
#[expect(clippy::too_many_arguments, reason = "keywords in Python")]
pub fn open_af_xdp(
    py: Python<'_>,
    interface: &str,
    netns: Option<PathBuf>,
    queues: Option<u32>,
    copy: &str,
    busy_poll_us: Option<u32>,
    receive: bool,
    steer_udp_port: Option<u16>,
) -> PyResult<Port> {
    let copy = match copy {
        "auto" => af_xdp::CopyMode::Auto,
        "zero-copy" => af_xdp::CopyMode::ZeroCopy,
        "copy" => af_xdp::CopyMode::Copy,
        other => return Err(usage(format!("copy is {other:?}; allowed: auto, zero-copy, copy"))),
    };
    let busy_poll = busy_poll_us.map(|microseconds| af_xdp::BusyPoll { microseconds, ..Default::default() });
    let steer = steer_udp_port.map_or(af_xdp::Steer::All, af_xdp::Steer::UdpPort);
    let options =
        af_xdp::AfXdpOptions { queues, copy, busy_poll, receive, steer, ..af_xdp::AfXdpOptions::default() };
    let each = queues.is_some();
    of_queues(py.detach(|| match each {
        true => af_xdp::open_each(interface, netns.as_deref(), options),
        false => af_xdp::open(interface, netns.as_deref(), options).map(|port| vec![port]),
    }))
}

/// A device that DPDK drives, by its arguments. DPDK is started by the first one, with that one's memory, hugepages ("auto",
/// "yes", "no"), file prefix and cores.
#[pyfunction]
#[pyo3(signature = (
    device, netns=None, *, queues=1, mtu=None, link_wait_s=10.0, memory_mib=256, hugepages="auto", file_prefix=None,
    cores=vec![], shim_path=None
))]
#[expect(clippy::too_many_arguments, reason = "keywords in Python")]
pub fn open_dpdk(
    py: Python<'_>,
    device: &str,
    netns: Option<PathBuf>,
    queues: u16,
    mtu: Option<u16>,
    link_wait_s: f64,
    memory_mib: u32,
    hugepages: &str,
    file_prefix: Option<String>,
    cores: Vec<usize>,
    shim_path: Option<PathBuf>,
) -> PyResult<Port> {
    let hugepages = match hugepages {
        "auto" => dpdk::Hugepages::Auto,
        "yes" => dpdk::Hugepages::Yes,
        "no" => dpdk::Hugepages::No,
        other => return Err(usage(format!("hugepages is auto, yes or no, not {other:?}"))),
    };
    let options = dpdk::DpdkOptions {
        netns,
        queues,
        mtu,
        link_wait: crate::channel::seconds(link_wait_s),
        shim: Some(shim_path.map_or_else(|| beside_us(py), Ok)?),
        eal: dpdk::EalOptions { memory_mib, hugepages, file_prefix, cores },
        ..dpdk::DpdkOptions::new(device)
    };
    of_queues(py.detach(|| dpdk::open_each(&options)))
}

/// DPDK's version: raises what is missing, so that a doctor can tell. Starts nothing.
#[pyfunction]
#[pyo3(signature = (shim_path=None))]
pub fn dpdk_version(py: Python<'_>, shim_path: Option<PathBuf>) -> PyResult<&'static str> {
    let path = shim_path.map_or_else(|| beside_us(py), Ok)?;
    dpdk::version(Some(path)).map_err(|e| errors::port(&e))
}

/// The shim stands beside this module, where `make` puts it.
fn beside_us(py: Python<'_>) -> PyResult<PathBuf> {
    let module: PathBuf = py.import("flowgauge._core")?.getattr("__file__")?.extract()?;
    Ok(module.with_file_name("libflowgauge_dpdk.so"))
}

/// The port with a delay line and a known loss on receipt. The port given is empty afterwards.
#[pyfunction]
pub fn impaired(port: &Port, delay_ns: u64, loss_one_in: Option<u64>) -> PyResult<Port> {
    let impaired = |handle| {
        let impairment = Impairment::new(Nanos(delay_ns), loss_one_in.unwrap_or(0));
        Box::new(Impaired::new(handle, impairment)) as Handle
    };
    Ok(Port::of_queues(port.take()?.into_iter().map(impaired).collect()))
}

/// A capture file that becomes what is sent: pcap by its name's ending, else pcapng.
#[pyfunction]
pub fn open_pcap(path: PathBuf) -> PyResult<Port> {
    let opened = flowgauge_ports::pcap::FilePort::create(&path);
    opened.map(|port| Port::new(Box::new(port))).map_err(|e| errors::port(&e))
}

/// Two in-process ports, connected to each other, each with room for `slots` frames.
#[pyfunction]
pub fn ring_pair(slots: usize) -> (Port, Port) {
    let (a, b) = ring::pair(slots);
    (Port::new(Box::new(a)), Port::new(Box::new(b)))
}

/// Takes the handles of all ports, or none: an error when somebody else has one.
pub fn take_all(py: Python<'_>, ports: &[Py<Port>]) -> PyResult<Ports> {
    let mut taken = Vec::new();
    for port in ports {
        match port.borrow(py).take() {
            Ok(handles) => taken.extend(handles),
            Err(error) => {
                put_all(py, ports, taken);
                return Err(error);
            }
        }
    }
    let queues: Vec<_> = ports.iter().map(|port| port.borrow(py).queues).collect();
    Ok(Ports::with_queues(taken, &queues))
}

/// Takes all ports, or none, for who can use one queue of each.
pub fn take_single(py: Python<'_>, ports: &[Py<Port>]) -> PyResult<Vec<Handle>> {
    if let Some(several) = ports.iter().map(|port| port.borrow(py).queues).find(|&queues| queues > 1) {
        return Err(usage(format!("a port with {several} queues was given where ports have one")));
    }
    Ok(take_all(py, ports)?.into_handles())
}

/// Puts handles back into their ports, in their order.
pub fn put_all(py: Python<'_>, ports: &[Py<Port>], handles: Vec<Handle>) {
    let mut handles = handles.into_iter();
    for port in ports {
        let port = port.borrow(py);
        port.lock().extend(handles.by_ref().take(port.queues));
    }
}
