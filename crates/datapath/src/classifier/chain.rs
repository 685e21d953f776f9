//! Entries of the same match, linked by falling priority. The subtable's index knows the head of each chain.

use super::subtable::{Row, Subtable};
use super::{Classifier, Node};

/// No further node in a chain.
pub const END: u32 = u32::MAX;

impl<T> Classifier<T> {
    /// The head of the chain whose values a row has.
    #[inline]
    pub(super) fn head(&self, subtable: &Subtable, row: &Row) -> Option<u32> {
        subtable.index.find(subtable.hash(row), |id| subtable.is_equal(row, &self.node(id).values))
    }

    /// The ids of a chain from `head` on.
    pub(super) fn chain(&self, head: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(Some(head), |&id| Some(self.node(id).next).filter(|&n| n != END))
    }

    /// Puts a new node into the chain that starts at `head`, behind those of higher priority.
    pub(super) fn link(&mut self, id: u32, head: Option<u32>) {
        let (hash, number, priority) = {
            let node = self.node(id);
            (node.hash, node.subtable, node.priority)
        };
        let Some(head) = head else { return self.subtable_mut(number).index.insert(hash, id) };
        if self.node(head).priority < priority {
            self.node_mut(id).next = head;
            return self.subtable_mut(number).index.replace(hash, head, id);
        }
        let before =
            self.chain(head).take_while(|&n| self.node(n).priority > priority).last().unwrap_or(head);
        self.node_mut(id).next = self.node(before).next;
        self.node_mut(before).next = id;
    }

    pub(super) fn unlink(&mut self, id: u32) {
        let node = self.node(id);
        let (hash, number, next) = (node.hash, node.subtable, node.next);
        let Some(subtable) = self.subtables.get(number) else { return };
        let is_same = |head: u32| self.node(head).values == node.values;
        let Some(head) = subtable.index.find(hash, is_same) else { return };
        if head == id && next == END {
            self.subtable_mut(number).index.remove(hash, id);
        } else if head == id {
            self.subtable_mut(number).index.replace(hash, id, next);
        } else {
            let before = self.chain(head).find(|&n| self.node(n).next == id);
            if let Some(before) = before {
                self.node_mut(before).next = next;
            }
        }
    }

    #[inline]
    pub(super) fn node(&self, id: u32) -> &Node<T> {
        self.nodes.get(id).expect("indexes and chains hold live nodes only")
    }

    pub(super) fn node_mut(&mut self, id: u32) -> &mut Node<T> {
        self.nodes.get_mut(id).expect("indexes and chains hold live nodes only")
    }
}
