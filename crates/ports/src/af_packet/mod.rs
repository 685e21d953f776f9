//! A Linux interface by packet sockets: in every kernel, with nothing installed.
//!
//! Receive: a memory-mapped TPACKET_V3 ring that the kernel fills block by block; frames are read where they lie. The
//! kernel hands a block over when it is full or about 1 ms old, so frames are *seen* up to that much later; their
//! stamps are the kernel's, taken when the frame passed, so delays are right all the same; or the card's, where it stamps all
//! that arrives. Transmit: `sendmmsg` from buffers made at the start, one system call per burst; a frame now and then is
//! stamped on its way out.
//!
//! Needs CAP_NET_RAW; entering another network namespace needs CAP_SYS_ADMIN.

mod departures;
mod fanout;
mod options;
mod rx_ring;
mod transmit;

use std::path::Path;
use std::sync::Arc;

use crate::linux::{CardStamps, Interface, LinkState, Socket, StampAbilities, within};
use crate::{BURST, Burst, Capabilities, Port, PortError, PortStats, RxCapacity, StampSource, TxStamp};
use fanout::Fanout;
pub use options::AfPacketOptions;
use rx_ring::RxRing;
use transmit::Transmitter;

/// Opens an interface, in this network namespace or in another (a path like `/run/netns/x`, or a bare name as
/// `ip netns` knows it).
///
/// # Errors
/// [`PortError::InterfaceMissing`], [`PortError::InterfaceDown`], [`PortError::PermissionNeeded`] or
/// [`PortError::Namespace`], each with its advice; [`PortError::System`] for what none of them describes.
pub fn open(
    interface: &str,
    netns: Option<&Path>,
    options: AfPacketOptions,
) -> Result<AfPacketPort, PortError> {
    within(netns, || Ok(AfPacketPort::open_here(interface, netns, options, 1)?.remove(0)))
}

/// Opens an interface as so many ports (at least 1), each for a thread of its own. Each receives some flows, all together
/// receive all; each sends.
///
/// # Errors
/// As [`open`].
pub fn open_each(
    interface: &str,
    netns: Option<&Path>,
    options: AfPacketOptions,
    queues: usize,
) -> Result<Vec<AfPacketPort>, PortError> {
    within(netns, || AfPacketPort::open_here(interface, netns, options, queues.max(1)))
}

/// An open interface.
pub struct AfPacketPort {
    name: String,
    interface: Interface,
    transmitter: Transmitter,
    ring: Option<RxRing>,
    card: Option<Arc<CardStamps>>,
    rx_frames: u64,
}

impl AfPacketPort {
    fn open_here(
        interface: &str,
        netns: Option<&Path>,
        options: AfPacketOptions,
        queues: usize,
    ) -> Result<Vec<Self>, PortError> {
        let name = match netns.and_then(Path::file_name) {
            Some(netns) => format!("af_packet {interface} in {}", netns.to_string_lossy()),
            None => format!("af_packet {interface}"),
        };
        let socket = Socket::packet(&name)?;
        let interface = Interface::find(&socket, interface, netns)?;
        interface.wait_until_up(&socket, options.carrier_wait, netns)?;
        let abilities = StampAbilities::of(&socket, &interface);
        let mut card = None;
        if options.hardware_stamps {
            card = CardStamps::enable(Socket::packet(&name)?, &interface, abilities).map(Arc::new);
        }
        let described = if queues == 1 { name.clone() } else { format!("{name} ({queues} queues)") };
        let mut fanout = (queues > 1).then(Fanout::default);
        let mut open = |_| {
            let mut ring = None;
            if options.receive {
                let fanout = fanout.as_mut();
                ring = Some(RxRing::new(&name, &interface, &options, card.as_deref(), fanout)?);
            }
            let stamps = (abilities, card.as_deref());
            let transmitter = Transmitter::new(Socket::packet(&name)?, &interface, &options, stamps)?;
            let (interface, name, card) = (interface.clone(), described.clone(), card.clone());
            Ok(AfPacketPort { name, interface, transmitter, ring, card, rx_frames: 0 })
        };
        (0..queues).map(&mut open).collect()
    }
}

impl Port for AfPacketPort {
    fn describe(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        let bytes = self.ring.as_ref().map_or(0, RxRing::bytes);
        Capabilities {
            rx_stamps: match self.card {
                Some(_) => StampSource::Hardware,
                None => StampSource::KernelSoftware,
            },
            tx_stamps: self.transmitter.stamps(),
            link_mbps: self.interface.link_mbps,
            longest_frame: self.interface.longest_frame(),
            rx_capacity: RxCapacity::Bytes { bytes, overhead: rx_ring::FRAME_OVERHEAD },
            mac: Some(self.interface.mac),
        }
    }

    fn alloc(&mut self, burst: &mut Burst, n: usize) -> usize {
        self.transmitter.alloc(burst, n)
    }

    fn tx(&mut self, burst: &mut Burst) -> Result<usize, PortError> {
        if burst.is_empty() {
            return Ok(0);
        }
        self.transmitter.send(burst, &self.name)
    }

    fn rx(&mut self, burst: &mut Burst, max: usize) -> Result<usize, PortError> {
        let Some(ring) = &mut self.ring else { return Ok(0) };
        let n = ring.receive(burst, max.min(burst.room()), self.card.as_deref());
        self.rx_frames += n as u64;
        Ok(n)
    }

    fn free(&mut self, burst: &mut Burst) {
        for slot in burst.take(BURST) {
            match &mut self.ring {
                Some(ring) if slot.owner() == ring.owner() => ring.give_back(slot),
                Some(_) | None => self.transmitter.put(slot),
            }
        }
    }

    fn tx_stamps(&mut self, stamps: &mut Vec<TxStamp>) {
        stamps.extend(self.transmitter.sampled(self.card.as_deref()));
    }

    fn stats(&mut self) -> PortStats {
        PortStats {
            tx_frames: self.transmitter.sent,
            tx_errors: self.transmitter.errors,
            rx_frames: self.rx_frames,
            rx_dropped: self.ring.as_mut().map_or(0, RxRing::dropped),
            link_up: self.interface.state(self.transmitter.socket()) == Ok(LinkState::Up),
        }
    }

    fn check(&mut self) -> Result<(), PortError> {
        self.interface.check(self.transmitter.socket(), &self.name)
    }
}

#[cfg(test)]
mod tests;
