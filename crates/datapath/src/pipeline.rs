//! The OpenFlow pipeline: frames go from table to table and gather actions.

use crate::act::{Actor, Origin};
use crate::action_set::ActionSet;
use crate::changes::Snapshot;
use crate::entry::Removed;
use crate::journey::{Journey, Workbench};
use crate::machine::Machine;
use crate::ports::{PortRule, Ports};
use crate::program::{Program, Programs};
use crate::sink::{Datapath, Frame, Sink};
use crate::stats::{age, seconds};
use crate::table::FlowTable;
use crate::walk::NOBODY;
use flowgauge_clock::Nanos;
use flowgauge_openflow::{
    Action, FlowModFlags, FlowRemoved, FlowRemovedReason, Instruction, PacketInReason, PortNo, Version,
};
use flowgauge_packet::FlowKey;
use std::sync::Arc;

/// The most tables that OpenFlow can number.
pub const MAX_TABLES: usize = 255;

/// What becomes of a frame that matches no entry of table 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    /// It is dropped, as 1.3 wants it where there is no table-miss entry.
    Drop,
    /// It goes to the controller, as 1.0 wants it.
    Punt,
    /// It is forwarded as NORMAL does.
    Normal,
}

/// How large a pipeline is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Number of tables, 1 to 255.
    pub tables: usize,
    /// The most entries in each table.
    pub entries: usize,
}

impl Default for Limits {
    /// 255 tables of a million entries.
    fn default() -> Self {
        Limits { tables: MAX_TABLES, entries: 1_000_000 }
    }
}

/// Tables, their entries, and the rules of frames' way through them.
#[derive(Debug)]
pub struct Pipeline {
    pub(crate) tables: Vec<FlowTable>,
    pub(crate) programs: Programs,
    pub(crate) machine: Machine,
    /// What [`Pipeline::roll_back`] goes back to.
    pub(crate) snapshot: Option<Box<Snapshot>>,
    /// Whether changes of entries are noted for [`Pipeline::take_changes`].
    pub(crate) is_watched: bool,
    miss: Miss,
    is_standalone: bool,
    set: ActionSet,
}

impl Pipeline {
    /// A pipeline without entries. Frames that match nothing are dropped.
    pub fn new(limits: Limits, ports: Vec<PortRule>) -> Pipeline {
        let tables = limits.tables.clamp(1, MAX_TABLES);
        Pipeline {
            tables: (0..tables).map(|_| FlowTable::new(limits.entries)).collect(),
            programs: Programs::default(),
            machine: Machine::new(Ports::new(ports)),
            snapshot: None,
            is_watched: false,
            miss: Miss::Drop,
            is_standalone: false,
            set: ActionSet::default(),
        }
    }

    /// Says what becomes of frames that match nothing in table 0.
    pub fn set_miss(&mut self, miss: Miss) {
        self.miss = miss;
    }

    /// Whether frames pass the tables by and are forwarded as NORMAL does: what a switch without a controller does
    /// that is to fail standalone.
    pub fn set_standalone(&mut self, is_standalone: bool) {
        self.is_standalone = is_standalone;
    }

    /// The tables, in the order of their numbers.
    pub fn tables(&self) -> &[FlowTable] {
        &self.tables
    }

    /// Executes a PACKET_OUT's actions on a frame, which must have passed [`Pipeline::check_packet_out`].
    pub fn packet_out(&mut self, frame: Frame<'_>, actions: &[Action], now: Nanos, sink: &mut dyn Sink) {
        let from = Origin { table_id: 0, cookie: u64::MAX, reason: PacketInReason::PacketOut };
        let mut bench = self.machine.take_bench();
        let mut key = FlowKey::parse(frame.bytes, frame.in_port);
        let mut journey = Journey::new(frame.bytes, frame.in_port, &mut key, &mut bench);
        for action in actions {
            if let Action::Output { port: PortNo::TABLE, .. } = action {
                let mut inner = self.machine.take_bench();
                let mut key = FlowKey::parse(journey.bytes(), frame.in_port);
                let mut again = Journey::new(journey.bytes(), frame.in_port, &mut key, &mut inner);
                self.run(&mut again, now, sink);
                self.machine.return_bench(inner);
                continue;
            }
            if self.actor(from, now, sink).act(&mut journey, action).is_err() {
                break;
            }
        }
        self.machine.return_bench(bench);
        self.add_learned(now, sink);
    }

    /// Counts an entry out and tells the controller, if it asked for that.
    pub(crate) fn retire(
        &mut self,
        table_id: u8,
        removed: Removed,
        reason: FlowRemovedReason,
        now: Nanos,
        sink: &mut dyn Sink,
    ) {
        let Removed { rule, priority, entry } = removed;
        if entry.flags.contains(FlowModFlags::SEND_FLOW_REM) {
            let (duration_sec, duration_nsec) = seconds(now - entry.created);
            sink.flow_removed(FlowRemoved {
                cookie: entry.cookie,
                priority,
                reason,
                table_id,
                duration_sec,
                duration_nsec,
                idle_timeout: entry.idle_timeout,
                hard_timeout: entry.hard_timeout,
                packet_count: entry.told_packets(),
                byte_count: entry.told_bytes(),
                idle_time: Some(age(now - entry.used)),
                match_: (&rule).into(),
                unknown_stats: Vec::new(),
            });
        }
        self.release(entry.program);
        self.tell_vacancy(table_id, sink);
    }

    /// The shared program of these instructions, in use by one entry more.
    pub(crate) fn share(&mut self, instructions: &[Instruction]) -> Arc<Program> {
        let program = self.programs.share(instructions);
        program.groups().into_iter().for_each(|id| self.machine.groups.add_user(id));
        program.meters().into_iter().for_each(|id| self.machine.meters.add_user(id));
        program
    }

    /// Gives an entry's program back.
    pub(crate) fn release(&mut self, program: Arc<Program>) {
        program.groups().into_iter().for_each(|id| self.machine.groups.drop_user(id));
        program.meters().into_iter().for_each(|id| self.machine.meters.drop_user(id));
        self.programs.release(program);
    }

    #[inline]
    fn process_one(&mut self, frame: &Frame<'_>, bench: &mut Workbench, now: Nanos, sink: &mut dyn Sink) {
        if !self.machine.ports.any(frame.in_port, |rule| rule.no_recv) {
            let mut key = FlowKey::parse(frame.bytes, frame.in_port);
            self.run(&mut Journey::new(frame.bytes, frame.in_port, &mut key, bench), now, sink);
            if self.machine.has_aftermath {
                self.add_learned(now, sink);
            }
        }
    }

    /// Adds the entries that a frame has made. One that can't be added is not.
    #[cold]
    fn add_learned(&mut self, now: Nanos, sink: &mut dyn Sink) {
        for request in self.machine.clear_up() {
            let _ = self.flow_mod(&request, Version::V1_5, now, sink);
        }
    }

    /// Sends a frame through the tables, or past them.
    #[inline]
    fn run(&mut self, journey: &mut Journey<'_>, now: Nanos, sink: &mut dyn Sink) {
        let (first, miss) = if self.is_standalone { (u8::MAX, Miss::Normal) } else { (0, self.miss) };
        self.actor(NOBODY, now, sink).walk(journey, first, miss);
    }

    /// Somebody who acts with all that there is.
    #[inline]
    fn actor<'a>(&'a mut self, from: Origin, now: Nanos, sink: &'a mut dyn Sink) -> Actor<'a> {
        let has_egress = self.machine.first_egress.is_some();
        let Pipeline { tables, machine, set, .. } = self;
        Actor { machine, tables: Some(tables), set, sink, now, from, has_egress, depth: 0 }
    }
}

impl Datapath for Pipeline {
    fn process(&mut self, batch: &[Frame<'_>], now: Nanos, sink: &mut dyn Sink) {
        let mut bench = self.machine.take_bench();
        for frame in batch {
            self.process_one(frame, &mut bench, now, sink);
        }
        self.machine.return_bench(bench);
    }

    fn expire(&mut self, now: Nanos, limit: usize, sink: &mut dyn Sink) -> bool {
        let mut left = limit;
        for number in 0..self.tables.len() {
            while self.tables[number].next_deadline().is_some_and(|at| at <= now) {
                if left == 0 {
                    return true;
                }
                left -= 1;
                if let Some((removed, reason)) = self.tables[number].expire_one(now) {
                    self.retire(number as u8, removed, reason, now, sink);
                }
            }
        }
        self.machine.learning.expire(now, left)
    }

    fn next_deadline(&self) -> Option<Nanos> {
        let tables = self.tables.iter().filter_map(FlowTable::next_deadline).min();
        [tables, self.machine.learning.next_deadline()].into_iter().flatten().min()
    }
}
