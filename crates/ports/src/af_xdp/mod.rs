//! A Linux interface by AF_XDP sockets: frames leave the kernel before it makes packets of them.
//!
//! A program of a few instructions, written here and loaded by bpf(2), sends arriving frames to the socket of their queue;
//! an option leaves all but UDP frames to one port to the kernel. Frames are read and written in memory shared with the
//! kernel. Where the driver can, the card itself reads and writes there; elsewhere (veth) the kernel copies once. The
//! program goes when the port is dropped, and with the process however that ends.
//!
//! After [`PortError::LinkDown`] open the port anew: frames that were in the transmit ring would leave, late, when the link
//! comes back.
//!
//! Nothing stamps frames on this path: whoever polls the port does. Interfaces in generic mode, and an MTU above 3 800
//! bytes in any, are better served by [`af_packet`](crate::af_packet).
//!
//! Needs CAP_NET_RAW, and to receive CAP_NET_ADMIN and CAP_BPF; CAP_IPC_LOCK, or a limit of locked memory
//! (`ulimit -l`) above what the frames take; entering another network namespace needs CAP_SYS_ADMIN. Linux 5.9 or later.

mod bpf;
mod channels;
mod counters;
mod map;
mod options;
mod program;
mod queue;
mod ring;
mod xsk;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::linux::{Interface, LinkState, Socket, within};
use crate::{BURST, Burst, Capabilities, Owner, Port, PortError, PortStats, RxCapacity, StampSource};
use bpf::Redirect;
pub use counters::Counters;
pub use options::{AfXdpOptions, Attach, BusyPoll, CopyMode, Steer};
use queue::Queue;

/// Opens an interface, in this network namespace or in another (a path like `/run/netns/x`, or a bare name as
/// `ip netns` knows it). The port receives from all queues that `options` name and sends by the first.
///
/// # Errors
/// [`PortError::InterfaceMissing`], [`PortError::InterfaceDown`], [`PortError::PermissionNeeded`],
/// [`PortError::Namespace`], [`PortError::Unsupported`], [`PortError::TooFewQueues`], [`PortError::Busy`] or
/// [`PortError::MemoryLimit`], each with its advice; [`PortError::System`] for what none of them describes.
pub fn open(interface: &str, netns: Option<&Path>, options: AfXdpOptions) -> Result<AfXdpPort, PortError> {
    within(netns, || {
        let opened = Opened::new(interface, netns, options)?;
        opened.port(opened.queues.clone())
    })
}

/// Opens an interface as one port per queue, in the queues' order, each for a thread of its own. The program stays
/// until the last of them is dropped; frames of a queue whose port was dropped go to the kernel.
///
/// # Errors
/// As [`open`]; [`PortError::TooFewQueues`] also when it has enough to receive, but too few to send.
pub fn open_each(
    interface: &str,
    netns: Option<&Path>,
    options: AfXdpOptions,
) -> Result<Vec<AfXdpPort>, PortError> {
    within(netns, || {
        let opened = Opened::new(interface, netns, options)?;
        opened.check_sending(netns)?;
        opened.queues.clone().map(|queue| opened.port(queue..queue + 1)).collect()
    })
}

/// An interface that was found, with the program on it; not yet a port.
struct Opened {
    name: String,
    interface: Interface,
    queues: Range<u32>,
    /// How many there are to receive and to send, where the driver tells.
    there: Option<(u32, u32)>,
    redirect: Option<Arc<Redirect>>,
    options: AfXdpOptions,
}

impl Opened {
    fn new(interface: &str, netns: Option<&Path>, mut options: AfXdpOptions) -> Result<Opened, PortError> {
        let name = match netns.and_then(Path::file_name) {
            Some(netns) => format!("af_xdp {interface} in {}", netns.to_string_lossy()),
            None => format!("af_xdp {interface}"),
        };
        let socket = Socket::packet(&name)?;
        let interface = Interface::find(&socket, interface, netns)?;
        interface.wait_until_up(&socket, options.carrier_wait, netns)?;
        let first = options.first_queue;
        let there = channels::queues(socket.fd(), &interface.name);
        let all = || there.map_or(1, |(receiving, _)| receiving).saturating_sub(first);
        let queues = first..first.saturating_add(options.queues.unwrap_or_else(all).max(1));
        if let (Some((receiving, _)), true) = (there, options.queues.is_some() && options.receive) {
            enough(&name, (&interface.name, netns), queues.end, receiving)?;
        }
        let mut redirect = None;
        if options.receive {
            let attached =
                Redirect::attach(&name, interface.index, queues.end, options.steer, options.attach)?;
            if !attached.native() && options.copy == CopyMode::Auto {
                // Without copying, frames would have to come from the driver.
                options.copy = CopyMode::Copy;
            }
            redirect = Some(Arc::new(attached));
            // Some drivers restart the link when they get a program.
            interface.wait_until_up(&socket, options.carrier_wait, netns)?;
        }
        Ok(Opened { name, interface, queues, there, redirect, options })
    }

    /// Whether each queue that is received from has one to send by.
    fn check_sending(&self, netns: Option<&Path>) -> Result<(), PortError> {
        let place = (self.interface.name.as_str(), netns);
        self.there.map_or(Ok(()), |(_, sending)| enough(&self.name, place, self.queues.end, sending))
    }

    fn port(&self, queues: Range<u32>) -> Result<AfXdpPort, PortError> {
        let (owner, longest) = (Owner::unique(), self.interface.longest_frame().min(queue::LONGEST));
        let socket = Socket::packet(&self.name)?;
        if self.options.receive && self.options.promiscuous {
            socket.set(libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, promiscuous(self.interface.index))?;
        }
        let open = |(number, queue)| {
            let at = (self.interface.index, queue);
            let opened = Queue::new(&self.name, at, number, owner, longest, &self.options)?;
            if let Some(redirect) = &self.redirect {
                redirect.add(&self.name, queue, opened.xsk().fd())?;
            }
            Ok(opened)
        };
        let queues = queues.enumerate().map(open).collect::<Result<Vec<Queue>, PortError>>()?;
        let copies = queues.iter().any(Queue::copies);
        Ok(AfXdpPort {
            description: self.describe(self.queues.len(), copies),
            name: self.name.clone(),
            queues: queues.into_boxed_slice(),
            turn: 0,
            redirect: self.redirect.clone(),
            socket,
            interface: self.interface.clone(),
            longest,
        })
    }

    /// What the port has become, as results record it.
    fn describe(&self, queues: usize, copies: bool) -> String {
        let queues = if queues == 1 { "1 queue".into() } else { format!("{queues} queues") };
        let attached = match self.redirect.as_deref().map(Redirect::native) {
            Some(true) => ", native",
            Some(false) => ", generic",
            None => "",
        };
        let frames = if copies { "copied" } else { "zero-copy" };
        let polled = if self.options.busy_poll.is_some() { ", busy-polled" } else { "" };
        format!("{} ({queues}{attached}, {frames}{polled})", self.name)
    }
}

/// Whether an interface has the queues that are wanted.
fn enough(
    port: &str,
    (interface, netns): (&str, Option<&Path>),
    wanted: u32,
    found: u32,
) -> Result<(), PortError> {
    if wanted <= found {
        return Ok(());
    }
    let within = netns.and_then(Path::file_name);
    let within = within.map_or(String::new(), |netns| format!("ip netns exec {} ", netns.to_string_lossy()));
    let advice = format!(
        "give it more with `{within}ethtool -L {interface} combined {wanted}` (a veth: `{within}ethtool -L {interface} rx {wanted} tx {wanted}`, when \
         it was made with as many: `ip link add ... numrxqueues {wanted} numtxqueues {wanted} type veth ...`), or ask for {found}"
    );
    Err(PortError::TooFewQueues { port: port.into(), wanted, found: Some(found), advice })
}

fn promiscuous(interface: i32) -> libc::packet_mreq {
    libc::packet_mreq {
        mr_ifindex: interface,
        mr_type: libc::PACKET_MR_PROMISC as u16,
        mr_alen: 0,
        mr_address: [0; 8],
    }
}

/// An open interface: one or more of its queues.
pub struct AfXdpPort {
    name: String,
    description: String,
    queues: Box<[Queue]>,
    /// The queue that is received from next.
    turn: usize,
    redirect: Option<Arc<Redirect>>,
    /// Asks for the link's state, and keeps the interface promiscuous.
    socket: Socket,
    interface: Interface,
    longest: usize,
}

impl AfXdpPort {
    /// Whether the driver itself takes frames off; `None` for a port that does not receive.
    pub fn native(&self) -> Option<bool> {
        self.redirect.as_deref().map(Redirect::native)
    }

    /// Whether the kernel copies frames.
    pub fn copies(&self) -> bool {
        self.queues.iter().any(Queue::copies)
    }

    /// The counters, more finely than [`Port::stats`] tells them. Costs a system call per queue.
    pub fn counters(&mut self) -> Counters {
        let mut sum = Counters::default();
        self.queues.iter_mut().for_each(|queue| sum += queue.counters());
        sum
    }
}

impl Port for AfXdpPort {
    fn describe(&self) -> &str {
        &self.description
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            rx_stamps: StampSource::User,
            tx_stamps: StampSource::User,
            link_mbps: self.interface.link_mbps,
            longest_frame: self.longest,
            rx_capacity: RxCapacity::Frames(self.queues.iter().map(Queue::capacity).min().unwrap_or(0)),
            mac: Some(self.interface.mac),
        }
    }

    fn alloc(&mut self, burst: &mut Burst, n: usize) -> usize {
        self.queues[0].alloc(burst, n)
    }

    fn tx(&mut self, burst: &mut Burst) -> Result<usize, PortError> {
        if burst.is_empty() {
            return Ok(0);
        }
        self.queues[0].send(burst)
    }

    fn rx(&mut self, burst: &mut Burst, max: usize) -> Result<usize, PortError> {
        let max = max.min(burst.room());
        let mut n = 0;
        for _ in 0..self.queues.len() {
            if n == max {
                break;
            }
            n += self.queues[self.turn].receive(burst, max - n)?;
            // The next call starts with the next queue, so that a busy one can't starve the others.
            self.turn = (self.turn + 1) % self.queues.len();
        }
        Ok(n)
    }

    fn free(&mut self, burst: &mut Burst) {
        for slot in burst.take(BURST) {
            assert!(slot.owner() == self.queues[0].owner(), "a slot went back to a port that it is not from");
            let (number, offset) = Queue::split(slot.into_token());
            self.queues[number].put(offset);
        }
        self.queues.iter_mut().for_each(Queue::refill);
    }

    fn stats(&mut self) -> PortStats {
        let counters = self.counters();
        PortStats {
            tx_frames: counters.tx_frames,
            tx_errors: counters.tx_errors,
            rx_frames: counters.rx_frames,
            rx_dropped: counters.rx_dropped + counters.rx_ring_full,
            link_up: self.interface.state(&self.socket) == Ok(LinkState::Up),
        }
    }

    fn details(&mut self) -> Vec<(&'static str, u64)> {
        let counters = self.counters();
        vec![
            ("tx_pending", counters.tx_pending),
            ("rx_no_frame", counters.rx_dropped),
            ("rx_ring_full", counters.rx_ring_full),
            ("fill_ring_empty", counters.fill_ring_empty),
        ]
    }

    fn flush(&mut self) -> Result<(), PortError> {
        self.queues[0].kick()
    }

    fn check(&mut self) -> Result<(), PortError> {
        self.interface.check(&self.socket, &self.name)
    }
}

#[cfg(test)]
mod tests;
