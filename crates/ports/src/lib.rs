//! Packet I/O backends behind one trait.
//!
//! A [`Port`] moves bursts of frames in slots of its own memory; pacing, stamping and checking sit above it, so
//! that all backends share them. This crate knows nothing of probes, schedules or OpenFlow.
//!
//! | backend | what it is |
//! |---|---|
//! | [`ring`] | two ports in one process, connected to each other |
//! | [`af_packet`] | a Linux interface, by packet sockets |
//! | [`af_xdp`] | a Linux interface, by AF_XDP sockets: twice as fast, for who may load XDP programs |
//! | [`pcap`] | a capture file, written |
//! | [`dpdk`] | whatever DPDK drives: network cards, vhost-user |
//! | [`Impaired`] | any port, with a known delay and a known loss on receipt: the truth that tests compare with |
//! | [`Tap`] | any port, with a copy of its frames in a pcap file |

pub mod af_packet;
pub mod af_xdp;
mod burst;
pub mod dpdk;
mod error;
mod forward;
mod impaired;
mod linux;
pub mod pcap;
mod pool;
mod port;
pub mod ring;
mod slot;
mod spsc;

pub use burst::{BURST, Burst};
pub use error::PortError;
pub use impaired::{Impaired, Impairment};
pub use pcap::Tap;
pub use port::{Capabilities, Port, PortStats, RxCapacity, StampSource, TxStamp};
pub use slot::{Owner, Slot};
