//! A port in use: its counters, its configuration, and the burst that waits to be sent.

use crate::agent::PortCounts;
use crate::config::PortConfig;
use crate::queues::Queues;
use flowgauge_clock::Nanos;
use flowgauge_datapath::seconds;
use flowgauge_openflow as of;
use flowgauge_openflow::{PortConfig as Config, PortFeatures, PortNo, PortState, Version};
use flowgauge_packet::MacAddr;
use flowgauge_ports::{BURST, Burst, Port};

/// Frames and bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    frames: u64,
    bytes: u64,
}

/// A port in use.
pub struct SwitchPort {
    pub number: u32,
    name: String,
    address: MacAddr,
    port: Box<dyn Port>,
    /// Empty slots, filled in advance.
    spare: Burst,
    /// Frames that leave at the end of the turn.
    staged: Burst,
    /// Where frames wait, if it has queues.
    pub queues: Option<Queues>,
    /// What its controllers want of it.
    pub config: Config,
    /// Whether NO_RECV spares spanning-tree frames, as 1.0 has it.
    pub spares_stp: bool,
    /// Whether its link is up, as controllers were last told.
    is_up: bool,
    since: Nanos,
    rx: Count,
    tx: Count,
    rx_dropped: u64,
    tx_dropped: u64,
}

impl SwitchPort {
    pub fn new(config: PortConfig, datapath_id: u64, now: Nanos) -> SwitchPort {
        let PortConfig { number, name, port, queues } = config;
        // Locally administered, different for each port of each switch.
        let made_up = 0x0200_0000_0000 | (datapath_id & 0xff_ffff) << 16 | u64::from(number);
        let address = port.capabilities().mac.map_or(MacAddr::from_u64(made_up), MacAddr);
        let link_rate = port.capabilities().link_mbps.map(|mbps| mbps * 1_000_000);
        SwitchPort {
            number,
            name,
            address,
            queues: (!queues.is_empty()).then(|| Queues::new(queues, link_rate, now)),
            port,
            spare: Burst::new(),
            staged: Burst::new(),
            config: Config::NONE,
            spares_stp: false,
            is_up: true,
            since: now,
            rx: Count::default(),
            tx: Count::default(),
            rx_dropped: 0,
            tx_dropped: 0,
        }
    }

    /// Gives the port back, with all slots in it.
    pub fn into_config(mut self) -> PortConfig {
        self.port.free(&mut self.spare);
        self.port.free(&mut self.staged);
        let queues = self.queues.map_or(Vec::new(), |queues| queues.setups().to_vec());
        PortConfig { number: self.number, name: self.name, port: self.port, queues }
    }

    /// Receives up to a burst. A port that is down receives nothing; one that shall not receive drops it.
    pub fn receive(&mut self, burst: &mut Burst) {
        // A port that fails is found out by `check_link`.
        if self.port.rx(burst, BURST).is_err() || burst.is_empty() {
            return;
        }
        if self.config.contains(Config::PORT_DOWN) {
            return self.port.free(burst);
        }
        self.rx.frames += burst.len() as u64;
        self.rx.bytes += burst.iter().map(|s| s.len() as u64).sum::<u64>();
        if self.config.0 & (Config::NO_RECV | Config::NO_RECV_STP).0 != 0 {
            self.drop_unwanted(burst);
        }
    }

    fn drop_unwanted(&mut self, burst: &mut Burst) {
        let (mut wanted, mut unwanted) = (Burst::new(), Burst::new());
        for slot in burst.take(BURST) {
            if self.wants(slot.bytes()) { wanted.push(slot) } else { unwanted.push(slot) }
        }
        self.rx_dropped += unwanted.len() as u64;
        self.port.free(&mut unwanted);
        *burst = wanted;
    }

    /// Whether its configuration lets a frame in.
    fn wants(&self, frame: &[u8]) -> bool {
        let is_stp = is_stp(frame);
        let is_unwanted = self.config.contains(Config::NO_RECV) && !(is_stp && self.spares_stp)
            || self.config.contains(Config::NO_RECV_STP) && is_stp;
        !is_unwanted
    }

    /// Takes counts that somebody else made.
    pub fn set_counts(&mut self, counts: PortCounts) {
        let (frames, bytes, dropped) = counts.received;
        (self.rx, self.rx_dropped) = (Count { frames, bytes }, dropped);
        let (frames, bytes, dropped) = counts.sent;
        (self.tx, self.tx_dropped) = (Count { frames, bytes }, dropped);
    }

    /// Gives received slots back.
    pub fn free(&mut self, burst: &mut Burst) {
        self.port.free(burst);
    }

    /// Whether its configuration lets frames out.
    #[inline]
    pub fn sends(&self) -> bool {
        self.config.0 & (Config::PORT_DOWN | Config::NO_FWD).0 == 0
    }

    /// Takes a frame to be sent, through a queue if the port has any.
    #[inline]
    pub fn send(&mut self, queue: Option<u32>, bytes: &[u8]) {
        if !self.sends() {
            return;
        }
        match &mut self.queues {
            Some(queues) if queue.is_some() || queues.are_in_use() => {
                if !queues.put(queue, bytes) {
                    self.tx_dropped += 1;
                }
            }
            Some(_) | None => {
                if self.staged.room() == 0 {
                    self.flush_staged();
                    self.drop_staged();
                }
                self.stage(bytes);
            }
        }
    }

    /// Copies a frame into the staged burst, which must have room.
    #[inline]
    fn stage(&mut self, bytes: &[u8]) {
        if self.spare.is_empty() {
            self.port.alloc(&mut self.spare, BURST);
        }
        match self.spare.pop() {
            Some(mut slot) if bytes.len() <= slot.capacity() => {
                slot.set_len(bytes.len());
                slot.bytes_mut().copy_from_slice(bytes);
                self.staged.push(slot);
            }
            Some(slot) => {
                self.spare.push(slot);
                self.tx_dropped += 1;
            }
            None => self.tx_dropped += 1,
        }
    }

    /// Sends what is staged. A switch has no more room than its port and its queues: without queues, what the port
    /// doesn't take is dropped; with queues, it waits.
    pub fn flush(&mut self, now: Nanos) {
        if self.queues.is_some() {
            return self.flush_queues(now);
        }
        if !self.staged.is_empty() {
            self.flush_staged();
            self.drop_staged();
        }
    }

    fn flush_queues(&mut self, now: Nanos) {
        if self.config.contains(Config::PORT_DOWN) {
            return self.drop_staged();
        }
        loop {
            let mut is_empty = false;
            while self.staged.room() > 0 && !is_empty {
                match self.queues.as_mut().and_then(|queues| queues.next(now)) {
                    Some(frame) => {
                        self.stage(&frame);
                        self.queues.as_mut().expect("just used").give_back(frame);
                    }
                    None => is_empty = true,
                }
            }
            if self.staged.is_empty() {
                return;
            }
            self.flush_staged();
            if is_empty || !self.staged.is_empty() {
                return;
            }
        }
    }

    /// Hands the staged burst to the port, and counts what it took.
    fn flush_staged(&mut self) {
        let offered = self.staged.len();
        let bytes: u64 = self.staged.iter().map(|s| s.len() as u64).sum();
        // A port that fails takes nothing, and is found out by `check_link`.
        let _ = self.port.tx(&mut self.staged).and_then(|_| self.port.flush());
        let left_bytes: u64 = self.staged.iter().map(|s| s.len() as u64).sum();
        self.tx.frames += (offered - self.staged.len()) as u64;
        self.tx.bytes += bytes - left_bytes;
    }

    fn drop_staged(&mut self) {
        self.tx_dropped += self.staged.len() as u64;
        self.port.free(&mut self.staged);
    }

    /// Asks the port whether its link is up; whether that has changed.
    pub fn check_link(&mut self) -> bool {
        let is_up = self.port.check().is_ok() && self.port.stats().link_up;
        std::mem::replace(&mut self.is_up, is_up) != is_up
    }

    /// Whether frames can leave and come: what fast failover watches.
    pub fn is_live(&self) -> bool {
        self.is_up && !self.config.contains(Config::PORT_DOWN)
    }

    /// Whether its link was up when last looked at.
    pub fn is_up(&self) -> bool {
        self.is_up
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its Ethernet address.
    pub fn address(&self) -> MacAddr {
        self.address
    }

    /// Its description, in what `version` has bits for.
    pub fn describe(&self, version: Version) -> of::Port {
        let mut name = self.name.clone();
        name.truncate((0..=15).rev().find(|&n| name.is_char_boundary(n)).unwrap_or(0));
        let features = speed(self.port.capabilities().link_mbps);
        let features = PortFeatures(features.0 & !features.unknown_to(version).0);
        let link = if self.is_up { PortState::NONE } else { PortState::LINK_DOWN };
        let live = if self.is_live() && version != Version::V1_0 { PortState::LIVE } else { PortState::NONE };
        let kbps =
            self.port.capabilities().link_mbps.map_or(0, |m| u32::try_from(m * 1000).unwrap_or(u32::MAX));
        of::Port {
            port_no: PortNo(self.number),
            hw_addr: self.address,
            name,
            config: Config(self.config.0 & !self.config.unknown_to(version).0),
            state: link | live,
            current: features,
            supported: features,
            current_speed: kbps,
            max_speed: kbps,
            ..of::Port::default()
        }
    }

    /// Its counters.
    pub fn counters(&mut self, now: Nanos) -> of::PortStats {
        let own = self.port.stats();
        let (duration_sec, duration_nsec) = seconds(now - self.since);
        of::PortStats {
            port_no: PortNo(self.number),
            rx_packets: self.rx.frames,
            tx_packets: self.tx.frames,
            rx_bytes: self.rx.bytes,
            tx_bytes: self.tx.bytes,
            rx_dropped: own.rx_dropped + self.rx_dropped,
            tx_dropped: self.tx_dropped,
            tx_errors: own.tx_errors,
            duration_sec,
            duration_nsec,
            ..of::PortStats::default()
        }
    }
}

/// Whether it is a frame of the spanning-tree protocol.
fn is_stp(frame: &[u8]) -> bool {
    frame.starts_with(&[0x01, 0x80, 0xc2, 0, 0, 0])
}

/// The link speed in OpenFlow's bits; none where the link has none.
fn speed(mbps: Option<u64>) -> PortFeatures {
    match mbps {
        None => PortFeatures::NONE,
        Some(10) => PortFeatures::MB10_FULL,
        Some(100) => PortFeatures::MB100_FULL,
        Some(1_000) => PortFeatures::GB1_FULL,
        Some(10_000) => PortFeatures::GB10_FULL,
        Some(40_000) => PortFeatures::GB40_FULL,
        Some(100_000) => PortFeatures::GB100_FULL,
        Some(1_000_000) => PortFeatures::TB1_FULL,
        Some(_) => PortFeatures::OTHER,
    }
}
