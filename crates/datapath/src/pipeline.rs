//! The OpenFlow pipeline: frames go from table to table and gather actions.

use crate::action_set::ActionSet;
use crate::journey::{Dead, Journey, Origin, Workbench};
use crate::program::Programs;
use crate::sink::{Datapath, Frame, Sink};
use crate::stats::seconds;
use crate::table::{FlowTable, Removed};
use flowgauge_clock::Nanos;
use flowgauge_openflow::{
    Action, FlowModFlags, FlowRemoved, FlowRemovedReason, Instruction, PacketInReason, PortNo,
};

/// The most tables that OpenFlow can number.
pub const MAX_TABLES: usize = 255;

/// A port as the pipeline sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRule {
    /// Its OpenFlow number.
    pub number: u32,
    /// Whether FLOOD includes it.
    pub flood: bool,
}

/// What becomes of a frame that matches no entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    /// It is dropped, as 1.3 wants it where there is no table-miss entry.
    Drop,
    /// It goes to the controller, as 1.0 wants it.
    Punt {
        /// How many of its bytes the controller gets (miss_send_len).
        max_len: u16,
    },
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
    pub(crate) ports: Vec<PortRule>,
    miss: Miss,
    bench: Workbench,
    /// For frames of PACKET_OUTs, which may meet the tables on their way.
    out_bench: Workbench,
    set: ActionSet,
}

impl Pipeline {
    /// A pipeline without entries. Frames that match nothing are dropped.
    pub fn new(limits: Limits, ports: Vec<PortRule>) -> Pipeline {
        let tables = limits.tables.clamp(1, MAX_TABLES);
        Pipeline {
            tables: (0..tables).map(|_| FlowTable::new(limits.entries)).collect(),
            programs: Programs::default(),
            ports,
            miss: Miss::Drop,
            bench: Workbench::default(),
            out_bench: Workbench::default(),
            set: ActionSet::default(),
        }
    }

    /// Says what becomes of frames that match nothing in table 0.
    pub fn set_miss(&mut self, miss: Miss) {
        self.miss = miss;
    }

    /// The tables, in the order of their numbers.
    pub fn tables(&self) -> &[FlowTable] {
        &self.tables
    }

    /// The ports.
    pub fn ports(&self) -> &[PortRule] {
        &self.ports
    }

    /// Adds a port, or changes what is known of it.
    pub fn set_port(&mut self, port: PortRule) {
        match self.ports.iter_mut().find(|p| p.number == port.number) {
            Some(known) => *known = port,
            None => self.ports.push(port),
        }
    }

    /// Executes a PACKET_OUT's actions on a frame, which must have passed
    /// [`check_packet_out`](crate::check::packet_out).
    pub fn packet_out(&mut self, frame: Frame<'_>, actions: &[Action], now: Nanos, sink: &mut dyn Sink) {
        let from = Origin { table_id: 0, cookie: u64::MAX, reason: PacketInReason::Action };
        let mut bench = std::mem::replace(&mut self.out_bench, Workbench::none());
        let mut journey = Journey::new(frame.bytes, frame.in_port, &mut bench);
        for action in actions {
            if let Action::Output { port: PortNo::TABLE, .. } = action {
                let bytes = journey.bytes();
                self.process(&[Frame { bytes, in_port: frame.in_port }], now, sink);
            } else if journey.act(action, from, &self.ports, sink) == Err(Dead) {
                break;
            }
        }
        self.out_bench = bench;
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
                packet_count: entry.packets,
                byte_count: entry.bytes,
                match_: (&rule).into(),
            });
        }
        self.programs.release(entry.program);
    }

    #[inline]
    fn process_one(&mut self, frame: &Frame<'_>, now: Nanos, sink: &mut dyn Sink) {
        let Pipeline { tables, ports, miss, bench, set, .. } = self;
        let mut journey = Journey::new(frame.bytes, frame.in_port, bench);
        let mut number = 0;
        let mut from = Origin { table_id: 0, cookie: u64::MAX, reason: PacketInReason::NoMatch };
        while let Some(table) = tables.get_mut(usize::from(number)) {
            let bytes = journey.bytes().len();
            let Some(entry) = table.hit(journey.key(), bytes, now) else {
                if let (Miss::Punt { max_len }, 0) = (*miss, number) {
                    journey.punt(max_len, from, sink);
                }
                break;
            };
            let reason = if entry.is_miss { PacketInReason::NoMatch } else { PacketInReason::Action };
            from = Origin { table_id: number, cookie: entry.cookie, reason };
            match execute(entry.program.instructions(), &mut journey, from, set, ports, sink) {
                Ok(Some(next)) => number = next,
                Ok(None) => break,
                Err(Dead) => return set.clear(),
            }
        }
        if !set.is_empty() {
            for action in set.in_order() {
                if journey.act(action, from, ports, sink) == Err(Dead) {
                    break;
                }
            }
            set.clear();
        }
    }
}

/// Executes an entry's instructions; gives the table to go on with, if there is one.
#[inline]
fn execute(
    instructions: &[Instruction],
    journey: &mut Journey<'_>,
    from: Origin,
    set: &mut ActionSet,
    ports: &[PortRule],
    sink: &mut dyn Sink,
) -> Result<Option<u8>, Dead> {
    for instruction in instructions {
        match instruction {
            Instruction::ApplyActions(actions) => {
                for action in actions {
                    journey.act(action, from, ports, sink)?;
                }
            }
            Instruction::ClearActions => set.clear(),
            Instruction::WriteActions(actions) => actions.iter().for_each(|action| set.write(action)),
            Instruction::WriteMetadata { metadata, mask } => journey.write_metadata(*metadata, *mask),
            Instruction::GotoTable(table) => return Ok(Some(*table)),
            // Refused when the entry was added.
            Instruction::Meter(_) | Instruction::Experimenter { .. } | Instruction::Unknown { .. } => {}
        }
    }
    Ok(None)
}

impl Datapath for Pipeline {
    fn process(&mut self, batch: &[Frame<'_>], now: Nanos, sink: &mut dyn Sink) {
        for frame in batch {
            self.process_one(frame, now, sink);
        }
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
        false
    }

    fn next_deadline(&self) -> Option<Nanos> {
        self.tables.iter().filter_map(FlowTable::next_deadline).min()
    }
}
