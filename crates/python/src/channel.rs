//! The controller's end of an OpenFlow channel.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use flowgauge_channel::{Address, ChannelError, Config, Tls, TlsFiles, Versions};
use flowgauge_openflow::Version;
use pyo3::prelude::*;

use crate::connection::Connection;
use crate::errors;
use crate::line::Line;

/// How long a wait goes on before Python may look at its signals.
const SLICE: Duration = Duration::from_millis(100);

/// An endpoint that listens for a switch or connects to one.
#[pyclass(module = "flowgauge._core")]
pub struct Channel {
    inner: Mutex<Option<flowgauge_channel::Channel>>,
    address: SocketAddr,
}

#[pymethods]
impl Channel {
    #[new]
    #[pyo3(signature = (mode, host, port, *, netns, versions, spin_us, tls=None))]
    fn new(
        mode: &str,
        host: &str,
        port: u16,
        netns: Option<PathBuf>,
        versions: Vec<String>,
        spin_us: u64,
        tls: Option<(PathBuf, PathBuf, PathBuf)>,
    ) -> PyResult<Channel> {
        let address = resolve(host, port)?;
        let wire: Vec<u8> = versions.iter().map(|v| version(v).map(wire_version)).collect::<PyResult<_>>()?;
        let config = Config {
            versions: Versions::new(&wire).ok_or_else(|| errors::usage("no OpenFlow version was given"))?,
            netns,
            spin: Duration::from_micros(spin_us),
            tls: tls.map(load).transpose()?,
            ..Config::controller()
        };
        let address = match mode {
            "listen" => Address::Listen(address),
            "connect" => Address::Connect(address),
            other => {
                return Err(errors::usage(format!("mode is {other:?}; allowed: \"listen\", \"connect\"")));
            }
        };
        let address = address.secured(config.tls.is_some());
        let channel = flowgauge_channel::Channel::open(address, config).map_err(|e| errors::channel(&e))?;
        Ok(Channel { address: channel.local_addr(), inner: Mutex::new(Some(channel)) })
    }

    /// Where it listens or connects to.
    #[getter]
    fn address(&self) -> (String, u16) {
        (self.address.ip().to_string(), self.address.port())
    }

    /// The next switch whose handshake is complete, or the one with that datapath id (16 hexadecimal digits).
    #[pyo3(signature = (timeout_s, datapath_id=None))]
    fn wait_connected(
        &self,
        py: Python<'_>,
        timeout_s: f64,
        datapath_id: Option<&str>,
    ) -> PyResult<Connection> {
        let wanted = datapath_id.map(datapath).transpose()?;
        let waited = seconds(timeout_s);
        let deadline = Instant::now() + waited;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let result = py.detach(|| {
                let channel = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
                channel.as_ref().map(|channel| match wanted {
                    None => channel.wait_connected(left.min(SLICE)),
                    Some(id) => channel.wait_datapath(id, left.min(SLICE)),
                })
            });
            match result {
                None => return Err(errors::channel(&ChannelError::ClosedHere)),
                Some(Ok(connection)) => return Connection::new(Line::Live(connection)),
                Some(Err(ChannelError::NeverConnected { .. })) if left > SLICE => py.check_signals()?,
                Some(Err(ChannelError::NeverConnected { address, reason, .. })) => {
                    let error = ChannelError::NeverConnected { address, waited, reason };
                    return Err(errors::channel(&error));
                }
                Some(Err(error)) => return Err(errors::channel(&error)),
            }
        }
    }

    /// Ends all its connections.
    fn close(&self, py: Python<'_>) {
        let channel = self.inner.lock().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| drop(channel));
    }
}

/// Reads `(private_key, certificate, ca)`.
pub fn load((private_key, certificate, ca): (PathBuf, PathBuf, PathBuf)) -> PyResult<Tls> {
    Tls::load(&TlsFiles { private_key, certificate, ca }).map_err(|e| errors::channel(&e))
}

/// A datapath id as `describe` prints it.
fn datapath(text: &str) -> PyResult<u64> {
    u64::from_str_radix(text, 16)
        .map_err(|_| errors::usage(format!("datapath id {text:?}; allowed: hexadecimal digits")))
}

/// What to do about a host without an address.
const NAME: &str = "give its address in numbers, or mend the name";

fn resolve(host: &str, port: u16) -> PyResult<SocketAddr> {
    let mut found = (host, port)
        .to_socket_addrs()
        .map_err(|e| errors::raise("setup", &format!("{host} has no address: {e}"), Some(NAME)))?;
    found.next().ok_or_else(|| errors::raise("setup", &format!("{host} has no address"), Some(NAME)))
}

/// The version that people write "1.3".
pub fn version(text: &str) -> PyResult<Version> {
    match text {
        "1.0" => Ok(Version::V1_0),
        "1.3" => Ok(Version::V1_3),
        "1.4" => Ok(Version::V1_4),
        "1.5" => Ok(Version::V1_5),
        other => Err(errors::usage(format!("OpenFlow {other} is not offered; allowed: 1.0, 1.3, 1.4, 1.5"))),
    }
}

/// Its number on the wire.
pub fn wire_version(version: Version) -> u8 {
    version.wire()
}

/// A duration in seconds; what is no duration is none.
pub fn seconds(s: f64) -> Duration {
    Duration::try_from_secs_f64(s.max(0.0)).unwrap_or(Duration::MAX)
}
