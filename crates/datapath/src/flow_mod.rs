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
use flowgauge_packet::Field;

/// In `vlan_vid`: there is a tag.
const VLAN_PRESENT: u128 = 0x1000;

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
            FlowModCommand::Add => self.add(request, version, now, sink),
            FlowModCommand::Modify => self.modify(request, false, version, now, sink),
            FlowModCommand::ModifyStrict => self.modify(request, true, version, now, sink),
            FlowModCommand::Delete => self.delete(request, false, version, now, sink),
            FlowModCommand::DeleteStrict => self.delete(request, true, version, now, sink),
            FlowModCommand::Unknown(_) => Err(ErrorCode::FlowModBadCommand),
        }
    }

    fn add(
        &mut self,
        request: &FlowMod,
        version: Version,
        now: Nanos,
        sink: &mut dyn Sink,
    ) -> Result<(), ErrorCode> {
        let number = self.one_table(request, version)?;
        check::flags(request.flags, version)?;
        let rule = check::rule(&request.match_, version)?;
        self.facts(version).instructions(&request.instructions, number, &rule)?;
        let priority = priority(request, &rule, version);
        let check_overlap = request.flags.contains(FlowModFlags::CHECK_OVERLAP);
        let table = &self.tables[usize::from(number)];
        let place = table.place(&rule, priority, check_overlap)?;
        if place.is_none() && table.is_full() {
            self.make_room(number, request.importance, now, sink)?;
        }
        let keeps_counts = version != Version::V1_0 && !request.flags.contains(FlowModFlags::RESET_COUNTS);
        let table = &self.tables[usize::from(number)];
        let old = place.filter(|_| keeps_counts).and_then(|id| table.entry(id));
        let (packets, bytes) = old.map_or((0, 0), |old| (old.packets, old.bytes));
        let program = self.share(&request.instructions);
        let entry = Entry {
            packets,
            bytes,
            idle_timeout: request.idle_timeout,
            hard_timeout: request.hard_timeout,
            flags: request.flags,
            importance: request.importance,
            is_miss: version != Version::V1_0 && priority == 0 && rule.terms().is_empty(),
            ..Entry::new(program, request.cookie, now)
        };
        if let Some(replaced) = self.tables[usize::from(number)].put(place, &rule, priority, entry) {
            self.release(replaced.program);
        }
        self.tell_vacancy(number, sink);
        Ok(())
    }

    /// Evicts an entry of a full table, if the table does that and one matters no more than the new one.
    fn make_room(
        &mut self,
        number: u8,
        importance: u16,
        now: Nanos,
        sink: &mut dyn Sink,
    ) -> Result<(), ErrorCode> {
        let Some(removed) = self.tables[usize::from(number)].evict(importance) else {
            return Err(ErrorCode::FlowModTableFull);
        };
        self.retire(number, removed, FlowRemovedReason::Eviction, now, sink);
        Ok(())
    }

    fn modify(
        &mut self,
        request: &FlowMod,
        strict: bool,
        version: Version,
        now: Nanos,
        sink: &mut dyn Sink,
    ) -> Result<(), ErrorCode> {
        // OFPTT_ALL is for deletions (1.3.5, 7.3.4.1).
        let number = self.one_table(request, version)?;
        check::flags(request.flags, version)?;
        let selection = Selection {
            out_port: flowgauge_openflow::PortNo::ANY,
            out_group: flowgauge_openflow::GROUP_ANY,
            ..selection(request, strict, version)?
        };
        let table = &self.tables[usize::from(number)];
        let ids = table.select(&selection);
        self.check_change(request, number, &selection.rule, &ids, version)?;
        for &id in &ids {
            self.change(number, id, request, version);
        }
        if ids.is_empty() && version == Version::V1_0 {
            return self.add(request, version, now, sink);
        }
        Ok(())
    }

    /// Whether the entries may have the instructions: by what the request says of them, or each by its own match.
    fn check_change(
        &self,
        request: &FlowMod,
        number: u8,
        rule: &Rule,
        ids: &[u32],
        version: Version,
    ) -> Result<(), ErrorCode> {
        let facts = self.facts(version);
        let table = &self.tables[usize::from(number)];
        match facts.instructions(&request.instructions, number, rule) {
            Err(ErrorCode::ActionMatchInconsistent) if !ids.is_empty() => {
                let mut rules = ids.iter().filter_map(|&id| table.rule(id));
                rules.try_for_each(|rule| facts.instructions(&request.instructions, number, &rule))
            }
            result => result,
        }
    }

    /// Gives an entry the instructions of `request`. Timeouts, priority and duration stay.
    fn change(&mut self, number: u8, id: u32, request: &FlowMod, version: Version) {
        let program = self.share(&request.instructions);
        let Some(entry) = self.tables[usize::from(number)].entry_mut(id) else { return };
        let old = std::mem::replace(&mut entry.program, program);
        if version == Version::V1_0 {
            entry.cookie = request.cookie;
        } else if request.flags.contains(FlowModFlags::RESET_COUNTS) {
            (entry.packets, entry.bytes) = (0, 0);
        }
        self.release(old);
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
        strict: strict.then(|| priority(request, &rule, version)),
        rule,
        cookie: request.cookie,
        cookie_mask: if is_old { 0 } else { request.cookie_mask },
        out_port: request.out_port,
        out_group: request.out_group,
    })
}

/// The priority of an entry. In 1.0 an entry without wildcards has the highest, whatever it asks for (1.0.1, 3.4).
fn priority(request: &FlowMod, rule: &Rule, version: Version) -> u16 {
    if version == Version::V1_0 && is_exact(rule) { u16::MAX } else { request.priority }
}

/// Whether a rule of 1.0 has every field that makes sense with the others.
fn is_exact(rule: &Rule) -> bool {
    let value = |field: Field| rule.term(field).filter(|t| t.mask == field.full_mask()).map(|t| t.value);
    let has = |fields: &[Field]| fields.iter().all(|&field| value(field).is_some());
    let is_tagged = |vid| vid & VLAN_PRESENT != 0;
    let ip = [Field::IpDscp, Field::IpProto, Field::Ipv4Src, Field::Ipv4Dst];
    has(&[Field::InPort, Field::EthSrc, Field::EthDst, Field::VlanVid, Field::EthType])
        && (!value(Field::VlanVid).is_some_and(is_tagged) || has(&[Field::VlanPcp]))
        && match value(Field::EthType) {
            Some(0x0800) => has(&ip) && has_ports(value(Field::IpProto), has),
            Some(0x0806) => has(&[Field::ArpOp, Field::ArpSpa, Field::ArpTpa]),
            Some(_) | None => true,
        }
}

/// Whether the ports are there that the protocol has: those of ICMP are its type and code.
fn has_ports(protocol: Option<u128>, has: impl Fn(&[Field]) -> bool) -> bool {
    match protocol {
        Some(6) => has(&[Field::TcpSrc, Field::TcpDst]),
        Some(17) => has(&[Field::UdpSrc, Field::UdpDst]),
        Some(1) => has(&[Field::Icmpv4Type, Field::Icmpv4Code]),
        Some(_) | None => true,
    }
}
