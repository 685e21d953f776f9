//! What a group does, compiled when the controller sets it: buckets' actions in the order of execution, and the
//! shares of a select group.

use crate::action_set::ActionSet;
use flowgauge_openflow::{Action, Bucket, GROUP_ANY, GroupType, PortNo};
use flowgauge_packet::flow_key::slot::{WORDS, slot};
use flowgauge_packet::{Field, FlowKey};

/// A group's type and buckets.
#[derive(Debug)]
pub struct Body {
    pub group_type: GroupType,
    pub buckets: Box<[Alternative]>,
    /// Sum of all weights; 0 in groups that don't select.
    total: u64,
}

/// A bucket.
#[derive(Debug)]
pub struct Alternative {
    /// In the order of execution: a bucket is an action set (OpenFlow 1.3.5, 5.6.1).
    pub actions: Box<[Action]>,
    /// The port whose liveness is its own, and the group.
    pub watch_port: Option<u32>,
    pub watch_group: Option<u32>,
    weight: u64,
    /// Sum of the weights up to and with its own.
    upto: u64,
}

impl Body {
    /// Compiles a group.
    pub fn new(group_type: GroupType, buckets: &[Bucket]) -> Body {
        let selects = group_type == GroupType::Select;
        // A controller that gives no weight at all wants equal shares.
        let is_even = buckets.iter().all(|b| b.weight == 0);
        let mut total = 0;
        let alternative = |bucket: &Bucket| {
            let weight = if is_even { 1 } else { u64::from(bucket.weight) };
            total += if selects { weight } else { 0 };
            Alternative {
                actions: in_order(&bucket.actions),
                watch_port: Some(bucket.watch_port).filter(|&p| p != PortNo::ANY).map(|p| p.0),
                watch_group: Some(bucket.watch_group).filter(|&g| g != GROUP_ANY),
                weight,
                upto: total,
            }
        };
        let buckets = buckets.iter().map(alternative).collect();
        Body { group_type, buckets, total }
    }

    /// The bucket of a select group for a frame: the same for all frames of a flow, each bucket by its weight.
    /// Flows whose bucket is dead are spread over the live ones by weight; other flows keep theirs.
    pub fn choose(&self, key: &FlowKey, is_live: impl Fn(usize) -> bool) -> Option<usize> {
        let hash = flow_hash(key);
        let at = scaled(hash, self.total)?;
        let first = self.buckets.partition_point(|b| b.upto <= at);
        if is_live(first) {
            return Some(first);
        }
        let live = || (0..self.buckets.len()).filter(|&place| is_live(place));
        let total = live().map(|place| self.buckets[place].weight).sum();
        let mut left = scaled(mixed(hash), total)?;
        live().find(|&place| {
            let weight = self.buckets[place].weight;
            let is_it = left < weight;
            left = left.saturating_sub(weight);
            is_it
        })
    }

    /// The groups that its buckets send to, each once.
    pub fn targets(&self) -> Vec<u32> {
        let groups = self.buckets.iter().flat_map(|b| b.actions.iter()).filter_map(|action| {
            let Action::Group(id) = action else { return None };
            Some(*id)
        });
        let mut groups: Vec<u32> = groups.collect();
        groups.sort_unstable();
        groups.dedup();
        groups
    }

    /// The groups that its buckets watch.
    pub fn watched(&self) -> impl Iterator<Item = u32> + '_ {
        self.buckets.iter().filter_map(|b| b.watch_group)
    }
}

/// The actions as an action set executes them.
fn in_order(actions: &[Action]) -> Box<[Action]> {
    let mut set = ActionSet::default();
    actions.iter().for_each(|action| set.write(action));
    set.in_order().cloned().collect()
}

/// `hash` scaled to 0 .. `below`; `None` when that is empty.
fn scaled(hash: u64, below: u64) -> Option<u64> {
    (below > 0).then(|| ((u128::from(hash) * u128::from(below)) >> 64) as u64)
}

/// The fields that tell flows apart: not what changes within a flow (TTL, priorities, flags) nor the pipeline's own.
const FLOW_FIELDS: [Field; 16] = [
    Field::EthDst,
    Field::EthSrc,
    Field::EthType,
    Field::VlanVid,
    Field::MplsLabel,
    Field::IpProto,
    Field::Ipv4Src,
    Field::Ipv4Dst,
    Field::Ipv6Src,
    Field::Ipv6Dst,
    Field::TcpSrc,
    Field::TcpDst,
    Field::UdpSrc,
    Field::UdpDst,
    Field::SctpSrc,
    Field::SctpDst,
];

/// Their bits in the words of a key.
const FLOW: [u64; WORDS] = {
    let mut words = [0; WORDS];
    let mut i = 0;
    while i < FLOW_FIELDS.len() {
        let place = slot(FLOW_FIELDS[i]);
        let word = place.word as usize;
        if FLOW_FIELDS[i].bits() == 128 {
            words[word] = u64::MAX;
            words[word + 1] = u64::MAX;
        } else {
            words[word] |= (FLOW_FIELDS[i].full_mask() as u64) << place.shift;
        }
        i += 1;
    }
    words
};

/// A hash of a frame's flow: the same wherever and whenever it is asked for.
fn flow_hash(key: &FlowKey) -> u64 {
    let words = key.words().iter().zip(&FLOW).filter(|(_, mask)| **mask != 0);
    words.fold(0, |hash, (word, mask)| mixed(hash ^ (word & mask)))
}

/// Spreads every bit over all others (the finalizer of splitmix64).
pub fn mixed(bits: u64) -> u64 {
    let bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}
