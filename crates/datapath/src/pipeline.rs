//! The OpenFlow pipeline: frames go from table to table and gather actions.

use crate::act::{Actor, Machine, Origin};
use crate::action_set::ActionSet;
use crate::changes::Snapshot;
use crate::journey::{Dead, Journey, Workbench};
use crate::ports::{PortRule, Ports};
use crate::program::{Program, Programs};
use crate::sink::{Datapath, Frame, Sink};
use crate::stats::{age, seconds};
use crate::table::{FlowTable, Removed};
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

/// No entry.
const NOBODY: Origin = Origin { table_id: 0, cookie: u64::MAX, reason: PacketInReason::NoMatch };

impl Actor<'_> {
    /// Takes a frame through the tables from `number` on. `miss` is what becomes of one that matches nothing in the
    /// first; one that matches nothing in a later one is dropped (1.3.5, 5.4).
    #[inline]
    pub(crate) fn walk(&mut self, journey: &mut Journey<'_>, mut number: u8, miss: Miss) {
        let first = number;
        // Entries lie in the tables: whoever acts for one has the tables only if its actions need them.
        let Some(mut tables) = self.tables.take() else { return };
        loop {
            let bytes = journey.bytes().len();
            let table = tables.get_mut(usize::from(number));
            let Some(entry) = table.and_then(|t| t.hit(journey.key(), bytes, self.now)) else {
                self.tables = Some(tables);
                self.set.clear();
                return self.missed(journey, if number == first { miss } else { Miss::Drop });
            };
            let reason = if entry.is_miss { PacketInReason::NoMatch } else { PacketInReason::Action };
            self.from = Origin { table_id: number, cookie: entry.cookie, reason };
            let next = if self.has_egress || entry.program.needs_tables() {
                let program = Arc::clone(&entry.program);
                self.tables = Some(tables);
                let next = execute(&program, journey, self);
                let Some(back) = self.tables.take() else { return };
                tables = back;
                next
            } else {
                execute(&entry.program, journey, self)
            };
            match next {
                Ok(Some(next)) => number = next,
                Ok(None) => break,
                Err(_) => return self.set.clear(),
            }
        }
        if !self.set.is_empty() {
            self.tables = Some(tables);
            self.execute_set(journey);
        }
    }

    fn execute_set(&mut self, journey: &mut Journey<'_>) {
        let mut set = std::mem::take(self.set);
        self.from = self.from.in_set();
        let _ = set.in_order().try_for_each(|action| self.act(journey, action));
        set.clear();
        *self.set = set;
    }

    #[cold]
    fn missed(&mut self, journey: &mut Journey<'_>, miss: Miss) {
        match miss {
            Miss::Drop => {}
            Miss::Punt => self.punt(journey, None, self.from),
            Miss::Normal => self.normal(journey),
        }
    }
}

/// Executes an entry's instructions; gives the table to go on with, if there is one.
#[inline]
fn execute(program: &Program, journey: &mut Journey<'_>, actor: &mut Actor<'_>) -> Result<Option<u8>, Dead> {
    for instruction in program.instructions() {
        match instruction {
            Instruction::ApplyActions(actions) => actor.act_all(journey, actions)?,
            Instruction::ClearActions => {
                actor.set.clear();
                journey.set_actset_output(PortNo::UNSET.0);
            }
            Instruction::WriteActions(actions) => {
                actions.iter().for_each(|action| actor.set.write(action));
                journey.set_actset_output(actor.set.output().unwrap_or(PortNo::UNSET.0));
            }
            Instruction::WriteMetadata { metadata, mask } => journey.write_metadata(*metadata, *mask),
            Instruction::Meter(id) => actor.meter(journey, *id)?,
            Instruction::GotoTable(table) => return Ok(Some(*table)),
            // Refused when the entry was added.
            Instruction::StatTrigger { .. }
            | Instruction::Experimenter { .. }
            | Instruction::Unknown { .. } => {}
        }
    }
    Ok(None)
}

/// Further lookups within each other, and of one frame.
const MAX_DEPTH: u8 = 64;
const MAX_RESUBMITS: u32 = 4096;

impl Actor<'_> {
    /// Looks the frame up again and does what the entry says; then the caller goes on.
    ///
    /// # Errors
    /// The frame must not go on.
    #[cold]
    pub(crate) fn resubmit(
        &mut self,
        journey: &mut Journey<'_>,
        port: Option<PortNo>,
        table: Option<u8>,
    ) -> Result<(), Dead> {
        let aftermath = self.machine.aftermath();
        aftermath.resubmits += 1;
        if self.depth >= MAX_DEPTH || aftermath.resubmits > MAX_RESUBMITS {
            return Err(Dead::Exit);
        }
        let (own_port, from) = (journey.in_port(), self.from);
        let as_port = port.filter(|&port| port != PortNo::IN_PORT).map_or(own_port, |port| port.0);
        let mut next = Some(table.unwrap_or(from.table_id));
        self.depth += 1;
        let mut result = Ok(());
        while let Some(number) = next {
            journey.set_in_port(as_port);
            let found = self.look_up(journey, number);
            journey.set_in_port(own_port);
            let Some((program, cookie)) = found else { break };
            self.from = Origin { table_id: number, cookie, reason: PacketInReason::Action };
            match execute(&program, journey, self) {
                Ok(goto) => next = goto,
                Err(dead) => {
                    result = Err(dead);
                    break;
                }
            }
        }
        self.depth -= 1;
        self.from = from;
        result
    }

    fn look_up(&mut self, journey: &mut Journey<'_>, number: u8) -> Option<(Arc<Program>, u64)> {
        let table = self.tables.as_deref_mut()?.get_mut(usize::from(number))?;
        let bytes = journey.bytes().len();
        let entry = table.hit(journey.key(), bytes, self.now)?;
        Some((Arc::clone(&entry.program), entry.cookie))
    }

    /// Sends a copy of the frame to a port by way of the egress tables (1.5.1, 5.9): each output has its own.
    #[cold]
    pub(crate) fn leave_by_tables(&mut self, journey: &mut Journey<'_>, port: u32, first: u8) {
        let Some(tables) = self.tables.as_deref_mut() else { return };
        let mut bench = self.machine.take_bench();
        let mut key = FlowKey::default();
        let mut copy = journey.fork(&mut key, &mut bench);
        copy.set_actset_output(port);
        let mut set = std::mem::take(&mut self.machine.egress_set);
        set.write(&Action::Output { port: PortNo(port), max_len: 0 });
        // Back through the port that it came in on only IN_PORT leads, which is what was asked for.
        if port == copy.in_port() {
            set.write(&Action::Output { port: PortNo::IN_PORT, max_len: 0 });
        }
        let (machine, sink, now) = (&mut *self.machine, &mut *self.sink, self.now);
        let (tables, set_of_copy) = (Some(tables), &mut set);
        let mut actor = Actor {
            machine,
            tables,
            set: set_of_copy,
            sink,
            now,
            from: NOBODY,
            has_egress: false,
            depth: self.depth,
        };
        actor.walk(&mut copy, first, Miss::Drop);
        self.machine.egress_set = set;
        self.machine.return_bench(bench);
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
