//! A frame's way through tables: lookups, instructions, the action set, egress tables.

use crate::act::{Actor, Origin};
use crate::journey::{Dead, Journey};
use crate::pipeline::Miss;
use crate::program::Program;
use flowgauge_openflow::{Action, Instruction, PacketInReason, PortNo};
use flowgauge_packet::FlowKey;
use std::sync::Arc;

/// No entry.
pub const NOBODY: Origin = Origin { table_id: 0, cookie: u64::MAX, reason: PacketInReason::NoMatch };

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
            if let Some(trace) = &mut self.machine.trace {
                trace.lookup(number, tables.get_mut(usize::from(number)), journey.key(), bytes);
            }
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
