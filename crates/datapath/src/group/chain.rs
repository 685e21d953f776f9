//! Groups that send to groups: loops and the length of chains.

use super::{Body, Groups, MAX_CHAIN};
use std::collections::{HashMap, HashSet};

impl Groups {
    /// Whether group `id` would send to itself, or watch itself, through whichever others, if it were `body`.
    pub(super) fn makes_loop(&self, id: u32, body: &Body) -> bool {
        let mut seen = HashSet::new();
        let mut ahead: Vec<u32> = body.targets().into_iter().chain(body.watched()).collect();
        while let Some(next) = ahead.pop() {
            if next == id {
                return true;
            }
            if let Some(group) = self.by_id.get(&next).filter(|_| seen.insert(next)) {
                ahead.extend(group.body.targets());
                ahead.extend(group.body.watched());
            }
        }
        false
    }

    /// Whether some chain would be too long if group `id` were `body`. There is no loop.
    pub(super) fn makes_long_chain(&self, id: u32, body: &Body) -> bool {
        if body.targets().is_empty() {
            return false;
        }
        let mut known = HashMap::new();
        let starts = self.by_id.keys().copied().chain([id]);
        starts.into_iter().any(|start| self.chain_from(start, (id, body), &mut known) > MAX_CHAIN)
    }

    /// Number of groups in the longest chain from `start` on. Recursion ends: chains were short so far.
    fn chain_from(&self, start: u32, new: (u32, &Body), known: &mut HashMap<u32, usize>) -> usize {
        if let Some(&length) = known.get(&start) {
            return length;
        }
        let body = if start == new.0 { Some(new.1) } else { self.by_id.get(&start).map(|g| &*g.body) };
        let targets = body.map_or_else(Vec::new, Body::targets);
        let behind = targets.into_iter().map(|next| self.chain_from(next, new, known)).max().unwrap_or(0);
        known.insert(start, behind + 1);
        behind + 1
    }
}
