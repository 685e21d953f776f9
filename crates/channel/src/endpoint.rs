//! An endpoint: one I/O thread that listens or connects, and the connections that it serves.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::address::Address;
use crate::arrivals::Arrivals;
use crate::config::Config;
use crate::connection::Connection;
use crate::dial::{Dialer, may_mend};
use crate::error::ChannelError;
use crate::netns;
use crate::poll::Wake;
use crate::source::{How, Listener, Source};
use crate::tcp::{ask_for_stamps, keep_stamps_on};
use crate::worker::Worker;

/// An endpoint of OpenFlow connections: any number of them, at one or more addresses. Dropping it closes them all and
/// ends its thread.
pub struct Channel {
    addresses: Vec<Address>,
    wake: Arc<Wake>,
    stop: Arc<AtomicBool>,
    arrivals: Arc<Arrivals>,
    thread: Option<JoinHandle<()>>,
}

impl Channel {
    /// Listens or connects, as the address says.
    ///
    /// # Errors
    /// As [`Channel::open_all`].
    pub fn open(address: Address, config: Config) -> Result<Channel, ChannelError> {
        Channel::open_all(&[address], config)
    }

    /// Waits for peers at `address` (port 0: any free port, see [`Channel::local_addr`]).
    ///
    /// # Errors
    /// As [`Channel::open_all`].
    pub fn listen(address: SocketAddr, config: Config) -> Result<Channel, ChannelError> {
        Channel::open(Address::Listen(address), config)
    }

    /// Connects to a peer that listens at `address`, again and again until one accepts.
    ///
    /// # Errors
    /// As [`Channel::open_all`].
    pub fn connect(address: SocketAddr, config: Config) -> Result<Channel, ChannelError> {
        Channel::open(Address::Connect(address), config)
    }

    /// Listens and connects at several addresses, on one thread. Each that connects does so on its own: one that nobody
    /// answers holds up none of the others. [`Connection::source`] tells from which address a connection came.
    ///
    /// # Errors
    /// [`ChannelError::PortBusy`] when a port is in use; [`ChannelError::Setup`] when there is no such address or
    /// namespace, no permission, or no address at all; [`ChannelError::Tls`] when one asks for TLS and
    /// [`Config::tls`] is missing. That nobody accepts is told by [`Channel::wait_connected`].
    pub fn open_all(addresses: &[Address], config: Config) -> Result<Channel, ChannelError> {
        let setup = |e: io::Error| ChannelError::Setup { address: all(addresses), reason: e.to_string() };
        if addresses.is_empty() {
            return Err(setup(io::Error::new(ErrorKind::InvalidInput, "no address was given")));
        }
        if let Some(address) = addresses.iter().find(|a| a.is_tls() && config.tls.is_none()) {
            return Err(ChannelError::Tls {
                reason: format!("{address} needs a private key, a certificate and a CA certificate"),
                advice: "give all three files: private_key, certificate, ca",
            });
        }
        let sources: Vec<Source> =
            addresses.iter().map(|address| source(*address, &config)).collect::<Result<_, _>>()?;
        let addresses = sources.iter().map(|source| source.address).collect();
        keep_stamps_on();
        let wake = Arc::new(Wake::new().map_err(setup)?);
        let stop = Arc::new(AtomicBool::new(false));
        let arrivals = Arc::new(Arrivals::default());
        let worker =
            Worker::new(config, sources, wake.clone(), stop.clone(), arrivals.clone()).map_err(setup)?;
        let name = "flowgauge-channel".to_owned();
        let thread = std::thread::Builder::new().name(name).spawn(move || worker.run()).map_err(setup)?;
        Ok(Channel { addresses, wake, stop, arrivals, thread: Some(thread) })
    }

    /// Where it listens or connects to, if it has several addresses the first. When listening on port 0, with the port
    /// that the system chose.
    pub fn address(&self) -> Address {
        self.addresses[0]
    }

    /// All its addresses.
    pub fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// The socket address of [`Channel::address`].
    pub fn local_addr(&self) -> SocketAddr {
        self.address().at()
    }

    /// Peers that were turned away, or let go in their handshake, because [`Config::max_connections`] were open.
    pub fn turned_away(&self) -> u64 {
        self.arrivals.turned_away.load(Ordering::Relaxed)
    }

    /// The next connection whose handshake is complete.
    ///
    /// # Errors
    /// What went wrong with a peer's handshake, as soon as it did (the endpoint goes on: call again);
    /// [`ChannelError::NeverConnected`] when the time is up.
    pub fn wait_connected(&self, timeout: Duration) -> Result<Connection, ChannelError> {
        self.arrivals.wait(timeout, &all(&self.addresses), |_| true)
    }

    /// The connection to the switch with this datapath id, its main one. Others that come meanwhile stay for whoever
    /// waits for them; failed handshakes too, for they don't tell whose they were.
    ///
    /// # Errors
    /// [`ChannelError::NeverConnected`] when the time is up.
    pub fn wait_datapath(&self, id: u64, timeout: Duration) -> Result<Connection, ChannelError> {
        let what = format!("{} (datapath id {id:016x})", all(&self.addresses));
        let is_it = |c: &Connection| c.datapath_id() == Some(id) && c.auxiliary_id() == 0;
        self.arrivals.wait(timeout, &what, |arrival| arrival.as_ref().is_ok_and(is_it))
    }

    /// The next connection, however often the handshake fails until then, as long as another attempt may do better (a
    /// switch that is just starting closes, resets or does not answer).
    ///
    /// # Errors
    /// A failure that another attempt would meet again (another version, no OpenFlow, TLS); what the last attempt met
    /// when the time is up.
    pub fn wait_until_connected(&self, timeout: Duration) -> Result<Connection, ChannelError> {
        let deadline = Instant::now() + timeout;
        let mut last = None;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.wait_connected(left) {
                Err(ChannelError::NeverConnected { address, reason, .. }) => {
                    return Err(last.unwrap_or(ChannelError::NeverConnected {
                        address,
                        waited: timeout,
                        reason,
                    }));
                }
                Err(why) if may_mend(&why) => last = Some(why),
                other => return other,
            }
        }
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

fn all(addresses: &[Address]) -> String {
    addresses.iter().map(Address::to_string).collect::<Vec<_>>().join(", ")
}

fn source(address: Address, config: &Config) -> Result<Source, ChannelError> {
    if !address.is_listening() {
        return Ok(Source { address, how: How::Dial(Dialer::new(address.at(), config)) });
    }
    let bound = netns::within(config.netns.as_deref(), || TcpListener::bind(address.at()));
    let socket = bound.map_err(|error| listen_error(address, config, &error))?;
    // Accepted sockets inherit the option, so that even their first segment is stamped.
    ask_for_stamps(socket.as_raw_fd());
    let address = address.with(socket.local_addr().unwrap_or(address.at()));
    let listener = Listener::new(socket).map_err(|error| listen_error(address, config, &error))?;
    Ok(Source { address, how: How::Listen(listener) })
}

fn listen_error(address: Address, config: &Config, error: &io::Error) -> ChannelError {
    let at = address.at();
    if error.kind() != ErrorKind::AddrInUse {
        return ChannelError::Setup { address: at.to_string(), reason: error.to_string() };
    }
    let ask = format!("ss -ltnp 'sport = :{}'", at.port());
    let (place, advice) = match &config.netns {
        None => (String::new(), ask),
        Some(name) => {
            let path = netns::path_of(name);
            let advice = format!("nsenter --net={} {ask}", path.display());
            (format!(" in network namespace {}", name.display()), advice)
        }
    };
    ChannelError::PortBusy { address: at.to_string(), place, advice }
}
