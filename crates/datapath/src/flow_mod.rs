//! FLOW_MOD: additions, changes and removals of entries, with the semantics of each version.

use crate::check;
use crate::pipeline::Pipeline;
use crate::rule::Rule;
use crate::sink::Sink;
use crate::table::{Entry, Selection};
use flowgauge_clock::Nanos;
use flowgauge_openflow::{
    ErrorCode, FlowMod, FlowModCommand, FlowModFlags, FlowRemovedReason, TABLE_ALL, Version,
};

impl Pipeline {
    /// Does what a FLOW_MOD asks.
    ///
    /// `version` decides where the versions differ: in 1.0 there is one table, adding resets the counters, and
    /// modifying what isn't there adds it (1.0.1, 4.6; 1.3.5, 6.4).
    ///
    /// # Errors
    /// The ERROR that the controller is to be sent; nothing has changed then.
    pub fn flow_mod(
        &mut self,
        request: &FlowMod,
        version: Version,
        now: Nanos,
        sink: &mut dyn Sink,
    ) -> Result<(), ErrorCode> {
        match request.command {
            FlowModCommand::Add => self.add(request, version, now),
            FlowModCommand::Modify => self.modify(request, false, version, now),
            FlowModCommand::ModifyStrict => self.modify(request, true, version, now),
            FlowModCommand::Delete => self.delete(request, false, version, now, sink),
            FlowModCommand::DeleteStrict => self.delete(request, true, version, now, sink),
            FlowModCommand::Unknown(_) => Err(ErrorCode::FlowModBadCommand),
        }
    }

    fn add(&mut self, request: &FlowMod, version: Version, now: Nanos) -> Result<(), ErrorCode> {
        let number = self.one_table(request, version)?;
        check::flags(request.flags, version)?;
        let rule = check::rule(&request.match_, version)?;
        check::instructions(&request.instructions, number, self.tables.len())?;
        let keeps_counts = version != Version::V1_0 && !request.flags.contains(FlowModFlags::RESET_COUNTS);
        let table = &mut self.tables[usize::from(number)];
        let old = if keeps_counts { table.find(&rule, request.priority) } else { None };
        let (packets, bytes) = old.map_or((0, 0), |old| (old.packets, old.bytes));
        let program = self.programs.share(&request.instructions);
        let entry = Entry {
            packets,
            bytes,
            idle_timeout: request.idle_timeout,
            hard_timeout: request.hard_timeout,
            flags: request.flags,
            is_miss: version != Version::V1_0 && request.priority == 0 && rule.terms().is_empty(),
            ..Entry::new(program.clone(), request.cookie, now)
        };
        let check_overlap = request.flags.contains(FlowModFlags::CHECK_OVERLAP);
        match table.add(&rule, request.priority, entry, check_overlap) {
            Ok(replaced) => {
                drop(program);
                if let Some(replaced) = replaced {
                    self.programs.release(replaced.program);
                }
                Ok(())
            }
            Err(error) => {
                self.programs.release(program);
                Err(error)
            }
        }
    }

    fn modify(
        &mut self,
        request: &FlowMod,
        strict: bool,
        version: Version,
        now: Nanos,
    ) -> Result<(), ErrorCode> {
        let selection = Selection {
            out_port: flowgauge_openflow::PortNo::ANY,
            out_group: flowgauge_openflow::GROUP_ANY,
            ..selection(request, strict, version)?
        };
        let mut found = false;
        for number in self.which_tables(request, version)? {
            check::instructions(&request.instructions, number, self.tables.len())?;
            let ids = self.tables[usize::from(number)].select(&selection);
            found |= !ids.is_empty();
            for id in ids {
                self.change(number, id, request, version);
            }
        }
        if !found && version == Version::V1_0 { self.add(request, version, now) } else { Ok(()) }
    }

    /// Gives an entry the instructions of `request`. Timeouts, priority and duration stay.
    fn change(&mut self, number: u8, id: u32, request: &FlowMod, version: Version) {
        let program = self.programs.share(&request.instructions);
        let Some(entry) = self.tables[usize::from(number)].entry_mut(id) else { return };
        let old = std::mem::replace(&mut entry.program, program);
        if version == Version::V1_0 {
            entry.cookie = request.cookie;
        } else if request.flags.contains(FlowModFlags::RESET_COUNTS) {
            (entry.packets, entry.bytes) = (0, 0);
        }
        self.programs.release(old);
    }

    fn delete(
        &mut self,
        request: &FlowMod,
        strict: bool,
        version: Version,
        now: Nanos,
        sink: &mut dyn Sink,
    ) -> Result<(), ErrorCode> {
        let mut removal = self.plan_delete(request, strict, version)?;
        self.delete_some(&mut removal, usize::MAX, now, sink);
        Ok(())
    }

    /// Finds the entries that a deletion is for, to be removed by [`Pipeline::delete_some`]: a large deletion
    /// is done in steps, between which frames have their turn.
    ///
    /// # Errors
    /// The ERROR that the controller is to be sent.
    pub fn plan_delete(
        &self,
        request: &FlowMod,
        strict: bool,
        version: Version,
    ) -> Result<Removal, ErrorCode> {
        let selection = selection(request, strict, version)?;
        let mut doomed = Vec::new();
        for number in self.which_tables(request, version)? {
            let table = &self.tables[usize::from(number)];
            let serial = |id| table.entry(id).map_or(0, |e| e.serial);
            doomed.extend(table.select(&selection).into_iter().map(|id| (number, id, serial(id))));
        }
        Ok(Removal { doomed })
    }

    /// Removes at most `limit` entries of a planned deletion. Whether more are left.
    pub fn delete_some(
        &mut self,
        removal: &mut Removal,
        limit: usize,
        now: Nanos,
        sink: &mut dyn Sink,
    ) -> bool {
        let keep = removal.doomed.len().saturating_sub(limit);
        for (number, id, serial) in removal.doomed.drain(keep..) {
            let table = &mut self.tables[usize::from(number)];
            // It may have timed out meanwhile, and another may have its number.
            if table.entry(id).is_none_or(|e| e.serial != serial) {
                continue;
            }
            if let Some(removed) = table.remove(id) {
                self.retire(number, removed, FlowRemovedReason::Delete, now, sink);
            }
        }
        keep > 0
    }

    /// The one table that an addition is for.
    fn one_table(&self, request: &FlowMod, version: Version) -> Result<u8, ErrorCode> {
        match request.table_id {
            _ if version == Version::V1_0 => Ok(0),
            number if usize::from(number) < self.tables.len() => Ok(number),
            _ => Err(ErrorCode::FlowModBadTableId),
        }
    }

    /// The tables that a change or removal is for.
    fn which_tables(&self, request: &FlowMod, version: Version) -> Result<std::ops::Range<u8>, ErrorCode> {
        if version != Version::V1_0 && request.table_id == TABLE_ALL {
            return Ok(0..self.tables.len() as u8);
        }
        self.one_table(request, version).map(|number| number..number + 1)
    }
}

/// Entries that a FLOW_MOD deletes and that aren't removed yet.
#[derive(Debug)]
pub struct Removal {
    /// Table, number and serial number of each.
    doomed: Vec<(u8, u32, u32)>,
}

fn selection(request: &FlowMod, strict: bool, version: Version) -> Result<Selection, ErrorCode> {
    let rule: Rule = check::rule(&request.match_, version)?;
    let is_old = version == Version::V1_0;
    Ok(Selection {
        rule,
        strict: strict.then_some(request.priority),
        cookie: request.cookie,
        cookie_mask: if is_old { 0 } else { request.cookie_mask },
        out_port: request.out_port,
        out_group: request.out_group,
    })
}
