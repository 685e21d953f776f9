//! An endpoint: one I/O thread that listens or connects, and the connections that it serves.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::address::Address;
use crate::arrivals::Arrivals;
use crate::config::Config;
use crate::connection::Connection;
use crate::error::ChannelError;
use crate::netns;
use crate::poll::Wake;
use crate::socket::{ask_for_stamps, keep_stamps_on};
use crate::worker::{Source, Worker};

/// An endpoint of OpenFlow connections. Dropping it closes them all and ends its thread.
pub struct Channel {
    address: Address,
    wake: Arc<Wake>,
    stop: Arc<AtomicBool>,
    arrivals: Arc<Arrivals>,
    thread: Option<JoinHandle<()>>,
}

impl Channel {
    /// Listens or connects, as the address says.
    ///
    /// # Errors
    /// As [`Channel::listen`].
    pub fn open(address: Address, config: Config) -> Result<Channel, ChannelError> {
        match address {
            Address::Listen(at) => Channel::listen(at, config),
            Address::Connect(at) => Channel::connect(at, config),
        }
    }

    /// Waits for peers at `address` (port 0: any free port, see [`Channel::local_addr`]).
    ///
    /// # Errors
    /// [`ChannelError::PortBusy`] when the port is in use; [`ChannelError::Setup`] when there is no such
    /// address or namespace, or no permission.
    pub fn listen(address: SocketAddr, config: Config) -> Result<Channel, ChannelError> {
        let bound = netns::within(config.netns.as_deref(), || TcpListener::bind(address));
        let listener = bound.map_err(|error| listen_error(address, &config, &error))?;
        // Accepted sockets inherit the option, so that even their first segment is stamped.
        ask_for_stamps(std::os::fd::AsRawFd::as_raw_fd(&listener));
        let local = listener.local_addr().unwrap_or(address);
        Channel::start(Address::Listen(local), Source::Listener(listener), config)
    }

    /// Connects to a peer that listens at `address`, again and again until one accepts.
    ///
    /// # Errors
    /// [`ChannelError::Setup`] when the thread can't be started. That nobody accepts is told by
    /// [`Channel::wait_connected`].
    pub fn connect(address: SocketAddr, config: Config) -> Result<Channel, ChannelError> {
        Channel::start(Address::Connect(address), Source::Connect(address), config)
    }

    fn start(address: Address, source: Source, config: Config) -> Result<Channel, ChannelError> {
        let setup =
            |e: io::Error| ChannelError::Setup { address: address.to_string(), reason: e.to_string() };
        keep_stamps_on();
        let wake = Arc::new(Wake::new().map_err(setup)?);
        let stop = Arc::new(AtomicBool::new(false));
        let arrivals = Arc::new(Arrivals::default());
        let worker =
            Worker::new(config, source, wake.clone(), stop.clone(), arrivals.clone()).map_err(setup)?;
        let name = "flowgauge-channel".to_owned();
        let thread = std::thread::Builder::new().name(name).spawn(move || worker.run()).map_err(setup)?;
        Ok(Channel { address, wake, stop, arrivals, thread: Some(thread) })
    }

    /// Where it listens or connects to. When listening on port 0, with the port that the system chose.
    pub fn address(&self) -> Address {
        self.address
    }

    /// The socket address of [`Channel::address`].
    pub fn local_addr(&self) -> SocketAddr {
        match self.address {
            Address::Listen(at) | Address::Connect(at) => at,
        }
    }

    /// The next connection whose handshake is complete.
    ///
    /// # Errors
    /// What went wrong with a peer's handshake, as soon as it did (the endpoint goes on: call again);
    /// [`ChannelError::NeverConnected`] when the time is up.
    pub fn wait_connected(&self, timeout: Duration) -> Result<Connection, ChannelError> {
        self.arrivals.wait(timeout, &self.address.to_string())
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        self.wake.notify();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed already.
            let _ = thread.join();
        }
    }
}

fn listen_error(address: SocketAddr, config: &Config, error: &io::Error) -> ChannelError {
    if error.kind() != ErrorKind::AddrInUse {
        return ChannelError::Setup { address: address.to_string(), reason: error.to_string() };
    }
    let ask = format!("ss -ltnp 'sport = :{}'", address.port());
    let (place, advice) = match &config.netns {
        None => (String::new(), ask),
        Some(name) => {
            let path = netns::path_of(name);
            let advice = format!("nsenter --net={} {ask}", path.display());
            (format!(" in network namespace {}", name.display()), advice)
        }
    };
    ChannelError::PortBusy { address: address.to_string(), place, advice }
}
