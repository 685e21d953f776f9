//! NORMAL: a switch that learns where stations are (IEEE 802.1D, 7.8 and 7.9).
//!
//! The table holds stations by VLAN and address. One that isn't heard of for the ageing time is forgotten; when
//! the table is full, new stations aren't learned, and frames to them are flooded. It knows ports as numbers only.

use crate::slab::Slab;
use flowgauge_clock::Nanos;
use flowgauge_packet::{Field, FlowKey, MacAddr};
use std::collections::HashMap;

/// How long a station stays known without a frame from it.
pub const AGEING: Nanos = Nanos::from_secs(300);
/// The most stations known.
pub const CAPACITY: usize = 16_384;
const END: u32 = u32::MAX;
const GROUP_BIT: u128 = 1 << 40;
/// 01:80:c2:00:00:00 to :0f are for bridges' own protocols and never forwarded (IEEE 802.1D, 7.12.6).
const RESERVED: u128 = 0x0180_c200_0000;

/// Where a frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To the port behind which its destination was heard.
    Port(u32),
    /// Out of every port that floods.
    Flood,
    /// To no port.
    Nowhere,
}

/// A station and where it was heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Station {
    /// Its address.
    pub address: MacAddr,
    /// The VLAN it was heard in; 0 without a tag.
    pub vlan: u16,
    /// The port behind which it is.
    pub port: u32,
    /// When it was last heard.
    pub heard: Nanos,
}

/// What has happened to the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LearningCounts {
    /// Stations learned.
    pub learned: u64,
    /// Stations that turned up behind another port.
    pub moved: u64,
    /// Stations forgotten because they weren't heard.
    pub aged: u64,
    /// Frames of stations that there was no room for.
    pub refused: u64,
}

#[derive(Debug)]
struct Node {
    station: Station,
    /// Neighbours in the list from the one heard longest ago to the one heard last.
    before: u32,
    behind: u32,
}

/// The stations known, and the rule by which frames go to them.
#[derive(Debug)]
pub struct Learning {
    by_key: HashMap<(u16, u64), u32>,
    nodes: Slab<Node>,
    oldest: u32,
    newest: u32,
    ageing: Nanos,
    capacity: usize,
    counts: LearningCounts,
}

impl Default for Learning {
    fn default() -> Self {
        Learning::new(AGEING, CAPACITY)
    }
}

impl Learning {
    /// A table for `capacity` stations, each forgotten after `ageing`.
    pub fn new(ageing: Nanos, capacity: usize) -> Learning {
        Learning {
            by_key: HashMap::new(),
            nodes: Slab::default(),
            oldest: END,
            newest: END,
            ageing,
            capacity,
            counts: LearningCounts::default(),
        }
    }

    /// Where a frame goes that came in on `in_port`; its source is learned if `learns`.
    pub fn way(&mut self, key: &FlowKey, in_port: u32, learns: bool, now: Nanos) -> Way {
        let (Some(src), Some(dst)) = (key.get(Field::EthSrc), key.get(Field::EthDst)) else {
            return Way::Nowhere;
        };
        if dst & !0xf == RESERVED {
            return Way::Nowhere;
        }
        let vlan = (key.get(Field::VlanVid).unwrap_or(0) & 0xfff) as u16;
        if learns && src & GROUP_BIT == 0 {
            self.learn(vlan, src as u64, in_port, now);
        }
        if dst & GROUP_BIT != 0 {
            return Way::Flood;
        }
        self.find(vlan, dst as u64, now).map_or(Way::Flood, |station| Way::Port(station.port))
    }

    fn find(&self, vlan: u16, address: u64, now: Nanos) -> Option<&Station> {
        let node = self.nodes.get(*self.by_key.get(&(vlan, address))?)?;
        (!self.is_aged(&node.station, now)).then_some(&node.station)
    }

    fn is_aged(&self, station: &Station, now: Nanos) -> bool {
        station.heard + self.ageing <= now
    }

    fn learn(&mut self, vlan: u16, address: u64, port: u32, now: Nanos) {
        self.expire(now, usize::MAX);
        if let Some(&id) = self.by_key.get(&(vlan, address)) {
            self.unlink(id);
            let Some(node) = self.nodes.get_mut(id) else { return };
            self.counts.moved += u64::from(node.station.port != port);
            (node.station.port, node.station.heard) = (port, now);
            return self.link(id);
        }
        if self.nodes.len() >= self.capacity {
            self.counts.refused += 1;
            return;
        }
        self.counts.learned += 1;
        let station = Station { address: MacAddr::from_u64(address), vlan, port, heard: now };
        let id = self.nodes.insert(Node { station, before: END, behind: END });
        self.by_key.insert((vlan, address), id);
        self.link(id);
    }

    /// Forgets at most `limit` stations that weren't heard for the ageing time. Whether more are due.
    pub fn expire(&mut self, now: Nanos, limit: usize) -> bool {
        for _ in 0..limit {
            let Some(node) = self.nodes.get(self.oldest).filter(|n| self.is_aged(&n.station, now)) else {
                return false;
            };
            self.counts.aged += 1;
            let (id, station) = (self.oldest, node.station);
            self.forget(id, station);
        }
        self.next_deadline().is_some_and(|at| at <= now)
    }

    /// When the next station will be forgotten.
    pub fn next_deadline(&self) -> Option<Nanos> {
        self.nodes.get(self.oldest).map(|node| node.station.heard + self.ageing)
    }

    /// Forgets the stations behind a port: its link went down.
    pub fn forget_port(&mut self, port: u32) {
        let gone: Vec<_> = self.nodes.iter().filter(|(_, n)| n.station.port == port).collect();
        let gone: Vec<_> = gone.into_iter().map(|(id, node)| (id, node.station)).collect();
        gone.into_iter().for_each(|(id, station)| self.forget(id, station));
    }

    /// Forgets all stations.
    pub fn clear(&mut self) {
        *self = Learning { counts: self.counts, ..Learning::new(self.ageing, self.capacity) };
    }

    /// Number of stations known.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether no station is known.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The most stations known at a time.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// What has happened so far.
    pub fn counts(&self) -> LearningCounts {
        self.counts
    }

    /// The stations known, in no order.
    pub fn stations(&self) -> impl Iterator<Item = &Station> {
        self.nodes.iter().map(|(_, node)| &node.station)
    }

    fn forget(&mut self, id: u32, station: Station) {
        self.unlink(id);
        self.nodes.remove(id);
        self.by_key.remove(&(station.vlan, station.address.to_u64()));
    }

    /// Puts a node at the end of those heard last.
    fn link(&mut self, id: u32) {
        let newest = std::mem::replace(&mut self.newest, id);
        if let Some(node) = self.nodes.get_mut(id) {
            (node.before, node.behind) = (newest, END);
        }
        match self.nodes.get_mut(newest) {
            Some(last) => last.behind = id,
            None => self.oldest = id,
        }
    }

    fn unlink(&mut self, id: u32) {
        let Some(node) = self.nodes.get(id) else { return };
        let (before, behind) = (node.before, node.behind);
        match self.nodes.get_mut(before) {
            Some(node) => node.behind = behind,
            None => self.oldest = behind,
        }
        match self.nodes.get_mut(behind) {
            Some(node) => node.before = before,
            None => self.newest = before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(src: u64, dst: u64, vlan: u16) -> FlowKey {
        let vid = if vlan == 0 { 0 } else { 0x1000 | u128::from(vlan) };
        FlowKey::from_iter([(Field::EthSrc, src.into()), (Field::EthDst, dst.into()), (Field::VlanVid, vid)])
    }

    const A: u64 = 0x0200_0000_000a;
    const B: u64 = 0x0200_0000_000b;

    #[test]
    fn learns_forwards_and_forgets() {
        let mut table = Learning::new(Nanos::from_secs(300), 2);
        let mut way =
            |src, dst, vlan, port, s| table.way(&key(src, dst, vlan), port, true, Nanos::from_secs(s));
        assert_eq!(way(A, B, 0, 1, 0), Way::Flood);
        assert_eq!(way(B, A, 0, 2, 0), Way::Port(1));
        assert_eq!(way(A, B, 0, 1, 1), Way::Port(2));
        assert_eq!(way(A, B, 5, 1, 1), Way::Flood, "another VLAN, and no room to learn in it");
        assert_eq!(way(B, A, 5, 2, 1), Way::Flood);
        assert_eq!(way(A, B, 0, 3, 299), Way::Port(2), "A has moved");
        assert_eq!(way(B, A, 0, 2, 299), Way::Port(3));
        assert_eq!(way(A, B, 0, 3, 599), Way::Flood, "B is forgotten");
        let wanted = LearningCounts { learned: 3, moved: 1, aged: 2, refused: 2 };
        assert_eq!((table.counts(), table.len()), (wanted, 1));
        table.forget_port(3);
        assert!(table.is_empty() && table.next_deadline().is_none());
    }

    #[test]
    fn groups_are_flooded_and_bridges_addresses_are_not() {
        let mut table = Learning::default();
        let mut way = |src, dst| table.way(&key(src, dst, 0), 1, true, Nanos::ZERO);
        assert_eq!(way(A, 0xffff_ffff_ffff), Way::Flood);
        assert_eq!(way(A, 0x0180_c200_000e), Way::Nowhere);
        assert_eq!(way(A, 0x0180_c200_0010), Way::Flood);
        assert_eq!(way(0x0100_0000_0001, A), Way::Port(1));
        assert_eq!(table.len(), 1, "a group is nobody's source");
    }

    proptest! {
        /// Against a list of all frames heard.
        #[test]
        fn agrees_with_a_naive_table(
            frames in prop::collection::vec((0u64..8, 0u64..8, 0u16..2, 1u32..4, 0u64..120), 1..200),
        ) {
            let mut table = Learning::new(Nanos::from_secs(300), 6);
            let (mut naive, mut now): (Vec<Station>, Nanos) = (vec![], Nanos::ZERO);
            for (src, dst, vlan, port, pause) in frames {
                now += Nanos::from_secs(pause);
                naive.retain(|s| s.heard + Nanos::from_secs(300) > now);
                let station = Station { address: MacAddr::from_u64(A + src), vlan, port, heard: now };
                let is_it = |s: &Station, a: u64| s.vlan == vlan && s.address == MacAddr::from_u64(A + a);
                match naive.iter().position(|s| is_it(s, src)) {
                    Some(known) => naive[known] = station,
                    None if naive.len() < 6 => naive.push(station),
                    None => {}
                }
                let wanted = naive.iter().find(|s| is_it(s, dst)).map_or(Way::Flood, |s| Way::Port(s.port));
                prop_assert_eq!(table.way(&key(A + src, A + dst, vlan), port, true, now), wanted);
                prop_assert_eq!(table.len(), naive.len());
            }
        }
    }
}
