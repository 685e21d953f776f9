//! Finds the entry of highest priority that a frame matches, among up to millions.
//!
//! *Tuple-space search*: entries that compare the same bits form a subtable, a hash table on those bits, so
//! that a lookup costs one probe per distinct set of masks, however many entries there are.
//!
//! ```text
//!  flow key ──► microflow cache ──hit──────────────────────────────► entry
//!                      │ miss
//!                      ▼
//!               subtables by falling maximum priority
//!               ┌ max 900: eth_type, ipv4_dst/32 ─ hash ─► chain 900 → 20
//!               ├ max 400: eth_type, ipv4_dst/24 ─ hash ─► chain 400
//!               └ max   0: (everything)          ─ hash ─► chain 0
//!               stops as soon as what is found beats the next maximum
//! ```
//!
//! The classifier knows rules and priorities, nothing of actions, counters or time. Where two overlapping
//! entries have the same priority, OpenFlow leaves the winner open; here it does not change between calls.

mod chain;
mod index;
mod microflow;
mod subtable;

use crate::rule::Rule;
use crate::slab::Slab;
use chain::END;
use flowgauge_packet::FlowKey;
use flowgauge_packet::flow_key::slot::WORDS;
use microflow::Microflows;
use std::collections::HashMap;
use subtable::{Row, Shape, Subtable, masks, shape};

/// Up to this many subtables a search is as quick as the cache.
const CACHE_ABOVE: usize = 2;

/// An entry: what the classifier needs of it, and what the table keeps with it.
#[derive(Debug)]
struct Node<T> {
    data: T,
    values: Box<[u64]>,
    hash: u32,
    subtable: u32,
    /// The entry of the same match with the next lower priority.
    next: u32,
    priority: u16,
}

/// Entries numbered by `u32`, found by frame or by rule, each with a `T`.
#[derive(Debug)]
pub struct Classifier<T> {
    nodes: Slab<Node<T>>,
    subtables: Slab<Subtable>,
    by_shape: HashMap<Shape, u32>,
    /// Subtables with their maximum priority, highest first.
    order: Vec<(u16, u32)>,
    microflows: Microflows,
}

impl<T> Default for Classifier<T> {
    fn default() -> Self {
        Classifier {
            nodes: Slab::default(),
            subtables: Slab::default(),
            by_shape: HashMap::new(),
            order: Vec::new(),
            microflows: Microflows::default(),
        }
    }
}

impl<T> Classifier<T> {
    /// Number of entries.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The entry of highest priority that the frame matches.
    #[inline]
    pub fn lookup(&mut self, key: &FlowKey) -> Option<u32> {
        if self.order.is_empty() {
            return None;
        }
        let row = key.words();
        if self.order.len() <= CACHE_ABOVE {
            return self.search(row);
        }
        match self.microflows.get(row) {
            Ok(found) => found,
            Err(place) => {
                let found = self.search(row);
                self.microflows.store(place, row, found);
                found
            }
        }
    }

    /// The tuple-space search.
    #[inline]
    fn search(&self, row: &Row) -> Option<u32> {
        let mut best: Option<(u16, u32)> = None;
        for &(max_priority, number) in &self.order {
            if best.is_some_and(|(priority, _)| priority >= max_priority) {
                break;
            }
            let Some(head) = self.subtables.get(number).and_then(|s| self.head(s, row)) else { continue };
            let priority = self.node(head).priority;
            if best.is_none_or(|(b, _)| priority > b) {
                best = Some((priority, head));
            }
        }
        best.map(|(_, id)| id)
    }

    /// The entry with exactly this rule and priority.
    pub fn find(&self, rule: &Rule, priority: u16) -> Option<u32> {
        let subtable = self.subtables.get(*self.by_shape.get(&shape(rule))?)?;
        let head = self.head(subtable, rule.key().words())?;
        self.chain(head).find(|&id| self.node(id).priority == priority)
    }

    /// Adds an entry, whose rule and priority must not be there yet, and gives its number.
    pub fn insert(&mut self, rule: &Rule, priority: u16, data: T) -> u32 {
        let number = self.subtable_for(rule);
        let key = rule.key();
        let row = key.words();
        let subtable = self.subtables.get(number).expect("just found or made");
        let hash = subtable.hash(row);
        let head = self.head(subtable, row);
        let values = subtable.masked(row);
        let id = self.nodes.insert(Node { data, values, hash, subtable: number, next: END, priority });
        self.link(id, head);
        if self.subtable_mut(number).count(priority) {
            self.reorder(number);
        }
        self.microflows.invalidate();
        id
    }

    /// Removes an entry, if there is one of that number.
    pub fn remove(&mut self, id: u32) -> Option<T> {
        let node = self.nodes.get(id)?;
        let (number, priority) = (node.subtable, node.priority);
        self.unlink(id);
        let removed = self.nodes.remove(id);
        if self.subtable_mut(number).uncount(priority) {
            self.reorder(number);
        }
        self.microflows.invalidate();
        removed.map(|node| node.data)
    }

    /// What the table keeps with an entry.
    #[inline]
    pub fn get(&self, id: u32) -> Option<&T> {
        self.nodes.get(id).map(|n| &n.data)
    }

    /// The same, to change.
    #[inline]
    pub fn get_mut(&mut self, id: u32) -> Option<&mut T> {
        self.nodes.get_mut(id).map(|n| &mut n.data)
    }

    /// One more than the largest number that may be in use.
    pub fn end(&self) -> u32 {
        self.nodes.end()
    }

    /// The rule of an entry.
    pub fn rule(&self, id: u32) -> Option<Rule> {
        let node = self.nodes.get(id)?;
        let subtable = self.subtables.get(node.subtable)?;
        let mut words = [0; WORDS];
        for (&(word, _), &value) in subtable.masks.iter().zip(&node.values) {
            words[word as usize] = value;
        }
        let key = FlowKey::from_words(words);
        Some(subtable.shape.iter().filter_map(|&(f, mask)| Some((f, key.get(f)?, mask))).collect())
    }

    /// The priority of an entry.
    pub fn priority(&self, id: u32) -> Option<u16> {
        self.nodes.get(id).map(|n| n.priority)
    }

    /// Calls `visit` for each entry that `filter` covers (see [`Rule::covers`]): whole subtables are skipped
    /// by their masks.
    pub fn for_each_covered(&self, filter: &Rule, mut visit: impl FnMut(u32)) {
        self.for_each_in(
            |subtable| {
                filter.terms().iter().all(|t| {
                    subtable.shape.iter().any(|&(field, mask)| field == t.field && mask & t.mask == t.mask)
                })
            },
            filter,
            |id, _| {
                visit(id);
                true
            },
        );
    }

    /// An entry of the same priority that some frame could match together with `rule`.
    pub fn overlapping(&self, rule: &Rule, priority: u16) -> Option<u32> {
        if let Some(same) = self.find(rule, priority) {
            return Some(same);
        }
        let mut found = None;
        self.for_each_in(
            |subtable| subtable.priorities.contains_key(&priority),
            rule,
            |id, node| {
                if node.priority == priority {
                    found = Some(id);
                }
                found.is_none()
            },
        );
        found
    }

    /// Calls `visit` for the entries of the wanted subtables that agree with `rule` on all bits that both
    /// compare, until it returns false.
    fn for_each_in(
        &self,
        wanted: impl Fn(&Subtable) -> bool,
        rule: &Rule,
        mut visit: impl FnMut(u32, &Node<T>) -> bool,
    ) {
        let (key, mask) = (rule.key(), rule.mask());
        let row = key.words();
        for (_, subtable) in self.subtables.iter().filter(|(_, s)| wanted(s)) {
            let bits_of = |&(word, bits): &(u8, u64)| (word, bits & mask.words()[word as usize]);
            let common: Vec<(u8, u64)> = subtable.masks.iter().map(bits_of).collect();
            // Where the rule compares every bit that the subtable does, one probe finds the only candidates.
            let is_whole = common.iter().zip(&subtable.masks).all(|(c, s)| c.1 == s.1);
            let heads: Box<dyn Iterator<Item = u32>> = if is_whole {
                Box::new(self.head(subtable, row).into_iter())
            } else {
                Box::new(subtable.index.ids())
            };
            for head in heads {
                let values = &self.node(head).values;
                if common.iter().zip(values).any(|(&(word, bits), v)| (row[word as usize] ^ v) & bits != 0) {
                    continue;
                }
                if !self.chain(head).all(|id| visit(id, self.node(id))) {
                    return;
                }
            }
        }
    }

    fn subtable_for(&mut self, rule: &Rule) -> u32 {
        let shape = shape(rule);
        if let Some(&number) = self.by_shape.get(&shape) {
            return number;
        }
        let masks = masks(rule);
        self.microflows.widen(&masks);
        let number = self.subtables.insert(Subtable::new(shape.clone(), masks));
        self.by_shape.insert(shape, number);
        number
    }

    /// Puts a subtable whose maximum priority changed in its place, or drops it when it is empty.
    fn reorder(&mut self, number: u32) {
        self.order.retain(|&(_, n)| n != number);
        let Some(max) = self.subtables.get(number).and_then(Subtable::max_priority) else {
            if let Some(gone) = self.subtables.remove(number) {
                self.by_shape.remove(&gone.shape);
            }
            if self.subtables.is_empty() {
                self.microflows = Microflows::default();
            }
            return;
        };
        let at = self.order.partition_point(|&(priority, _)| priority >= max);
        self.order.insert(at, (max, number));
    }

    fn subtable_mut(&mut self, number: u32) -> &mut Subtable {
        self.subtables.get_mut(number).expect("nodes name live subtables only")
    }
}
