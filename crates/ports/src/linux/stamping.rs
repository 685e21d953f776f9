//! Stamps of kernel and card: what an interface offers (`ethtool -T`), how it is asked for, and how a stamp is read from the
//! control messages that come with it.

use std::fs::File;
use std::os::fd::AsRawFd;

use flowgauge_clock::{Clock, WallOffset};

use super::Interface;
use super::interface::{ethtool, hardware_stamps};
use super::socket::Socket;

const ETHTOOL_GET_TS_INFO: u32 = 0x41;
const HWTSTAMP_TX_ON: u32 = 1;
const HWTSTAMP_FILTER_ALL: u32 = 1;

/// What an interface can stamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StampAbilities {
    /// The card stamps every frame that arrives.
    pub rx_hardware: bool,
    /// The card stamps departures when asked to.
    pub tx_hardware: bool,
    /// The driver lets the kernel stamp departures.
    pub tx_software: bool,
    /// Number of the card's clock, `/dev/ptpN`.
    pub clock: Option<u32>,
}

impl StampAbilities {
    /// Of an interface in the namespace of `socket`; none where the driver does not tell.
    pub fn of(socket: &Socket, interface: &Interface) -> StampAbilities {
        ethtool::<44>(socket, &interface.name, ETHTOOL_GET_TS_INFO).map_or_else(Default::default, parse)
    }
}

/// `struct ethtool_ts_info`: command, abilities, clock, transmit types, three spare words, receive filters, three spare words.
fn parse(info: [u8; 44]) -> StampAbilities {
    let word = |i: usize| u32::from_ne_bytes(info[4 * i..4 * i + 4].try_into().expect("four bytes"));
    let (abilities, clock, tx_types, rx_filters) = (word(1), word(2) as i32, word(3), word(7));
    let all = |flags| abilities & flags == flags;
    let raw = libc::SOF_TIMESTAMPING_RAW_HARDWARE;
    let clock = u32::try_from(clock).ok();
    let types = |types: u32, one: u32| types & (1 << one) != 0;
    StampAbilities {
        rx_hardware: all(libc::SOF_TIMESTAMPING_RX_HARDWARE | raw)
            && types(rx_filters, HWTSTAMP_FILTER_ALL)
            && clock.is_some(),
        tx_hardware: all(libc::SOF_TIMESTAMPING_TX_HARDWARE | raw)
            && types(tx_types, HWTSTAMP_TX_ON)
            && clock.is_some(),
        tx_software: all(libc::SOF_TIMESTAMPING_TX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE),
        clock,
    }
}

/// A card that stamps: switched on, and its clock open. What was set before is set again at the end.
#[derive(Debug)]
pub(crate) struct CardStamps {
    clock: File,
    socket: Socket,
    interface: String,
    before: Option<[i32; 3]>,
}

impl CardStamps {
    /// Has the card stamp all that arrives, and departures when asked to. `None` where it or this process can't.
    pub fn enable(socket: Socket, interface: &Interface, abilities: StampAbilities) -> Option<CardStamps> {
        if !abilities.rx_hardware {
            return None;
        }
        let clock = File::open(format!("/dev/ptp{}", abilities.clock?)).ok()?;
        let before = hardware_stamps(&socket, &interface.name, None);
        let wanted = [0, abilities.tx_hardware as i32, HWTSTAMP_FILTER_ALL as i32];
        let given = hardware_stamps(&socket, &interface.name, Some(wanted))?;
        let card = CardStamps { clock, socket, interface: interface.name.clone(), before };
        // A driver may give less than was asked for; and the clock must be readable.
        (given[2] == wanted[2] && card.offset().is_some()).then_some(card)
    }

    /// From the card's clock to the tester's.
    pub fn offset(&self) -> Option<WallOffset> {
        // Clocks that are files: FD_TO_CLOCKID of the kernel's documentation.
        Clock.offset_from(!self.clock.as_raw_fd() << 3 | 3)
    }
}

impl Drop for CardStamps {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            hardware_stamps(&self.socket, &self.interface, Some(before));
        }
    }
}

/// The stamps of one departure, as its control messages have them: nanoseconds of the wall clock and of the card's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamps {
    /// By the kernel.
    pub software: Option<u64>,
    /// By the card.
    pub hardware: Option<u64>,
}

/// Bytes of `struct cmsghdr`, to whose multiples control messages are aligned.
const HEADER: usize = size_of::<libc::cmsghdr>();
const ALIGNMENT: usize = align_of::<libc::cmsghdr>();

/// Finds the stamps among control messages; what is cut short or of another kind is passed over.
pub(crate) fn stamps(mut control: &[u8]) -> Stamps {
    let mut found = Stamps::default();
    while control.len() >= HEADER {
        let len = usize::from_ne_bytes(control[..8].try_into().expect("eight bytes"));
        let int = |at: usize| i32::from_ne_bytes(control[at..at + 4].try_into().expect("four bytes"));
        if !(HEADER..=control.len()).contains(&len) {
            break;
        }
        if (int(8), int(12)) == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING) && len >= HEADER + 48 {
            let stamp = |i: usize| {
                let at = HEADER + 16 * i;
                let half =
                    |at: usize| u64::from_ne_bytes(control[at..at + 8].try_into().expect("eight bytes"));
                let ns = half(at).wrapping_mul(1_000_000_000).wrapping_add(half(at + 8));
                (ns != 0).then_some(ns)
            };
            // struct scm_timestamping: software, none, raw hardware. A message with one of them may follow another.
            found = Stamps { software: found.software.or(stamp(0)), hardware: found.hardware.or(stamp(2)) };
        }
        control = &control[len.next_multiple_of(ALIGNMENT).min(control.len())..];
    }
    found
}

#[cfg(test)]
#[path = "stamping_tests.rs"]
mod tests;
