//! Nicira's actions: fields in parts, registers, a stack, further lookups, learned entries.

use crate::act::Actor;
use crate::check::Facts;
use crate::group::mixed;
use crate::journey::{Dead, Journey};
use crate::learn;
use crate::meter::Verdict;
use flowgauge_openflow::{
    Action, Bundle, BundleChoice, ErrorCode, HashFields, LearnFlags, LearnSource, LearnSpec, LinkChoice,
    Multipath, Nicira, NxField, PacketInReason, PortNo, SendToController, Subfield,
};
use flowgauge_packet::{Field, FlowKey, edit};

/// In `vlan_vid` and in a tag's control information as the extensions have it: there is a tag.
const VLAN_PRESENT: u128 = 0x1000;

impl Journey<'_> {
    /// The bits of a field; `None` when the frame hasn't it.
    pub fn read(&mut self, from: Subfield) -> Option<u128> {
        let whole = self.read_whole(from.field)?;
        Some(whole >> from.offset & ones(from.bits))
    }

    fn read_whole(&mut self, field: NxField) -> Option<u128> {
        let key = self.key();
        let registers = |first: u8, count: u8| {
            (first..first + count).try_fold(0, |all, n| Some(all << 32 | key.get(Field::register(n)?)?))
        };
        match field {
            NxField::Field(field) => key.get(field),
            NxField::InPort16 => key.get(Field::InPort).map(|port| port & 0xffff),
            NxField::VlanTci => {
                let pcp = key.get(Field::VlanPcp).unwrap_or(0);
                Some(key.get(Field::VlanVid)? | pcp << 13)
            }
            NxField::IpTos => key.get(Field::IpDscp).map(|dscp| dscp << 2),
            NxField::Xreg(n) => registers(n.checked_mul(2)?, 2),
            NxField::Xxreg(n) => registers(n.checked_mul(4)?, 4),
            NxField::Unknown(_) => None,
        }
    }

    /// Sets the bits of a field. A frame that hasn't it stays as it is.
    pub fn write(&mut self, to: Subfield, value: u128) -> Result<(), Dead> {
        let mask = ones(to.bits) << to.offset;
        self.write_masked(to.field, value << to.offset & mask, mask)
    }

    fn write_masked(&mut self, field: NxField, value: u128, mask: u128) -> Result<(), Dead> {
        match field {
            NxField::Field(field) => self.set_field(field, value, mask),
            NxField::IpTos => self.set_field(Field::IpDscp, value >> 2, mask >> 2),
            NxField::VlanTci => self.write_tci(value, mask),
            NxField::Xreg(n) => self.write_registers(n.saturating_mul(2), 2, value, mask),
            NxField::Xxreg(n) => self.write_registers(n.saturating_mul(4), 4, value, mask),
            // Refused when the entry was added.
            NxField::InPort16 | NxField::Unknown(_) => Ok(()),
        }
    }

    fn write_registers(&mut self, first: u8, count: u8, value: u128, mask: u128) -> Result<(), Dead> {
        for n in 0..count {
            let shift = 32 * u32::from(count - 1 - n);
            if let Some(register) = Field::register(first.saturating_add(n)) {
                let bits = register.full_mask();
                self.set_field(register, value >> shift & bits, mask >> shift & bits)?;
            }
        }
        Ok(())
    }

    /// Bit 12 says whether there is a tag: it comes and goes with it.
    fn write_tci(&mut self, value: u128, mask: u128) -> Result<(), Dead> {
        let old = self.read_whole(NxField::VlanTci).unwrap_or(0);
        let new = old & !mask | value & mask;
        match (old & VLAN_PRESENT != 0, new & VLAN_PRESENT != 0) {
            (false, false) => return Ok(()),
            (true, false) => return self.edit(edit::pop_vlan),
            (false, true) => self.edit(|frame| edit::push_vlan(frame, 0x8100))?,
            (true, true) => {}
        }
        self.set_field(Field::VlanVid, new & 0x1fff, Field::VlanVid.full_mask())?;
        self.set_field(Field::VlanPcp, new >> 13, Field::VlanPcp.full_mask())
    }
}

/// So many ones.
fn ones(bits: u16) -> u128 {
    u128::MAX.checked_shr(128 - u32::from(bits)).unwrap_or(0)
}

impl Actor<'_> {
    /// Executes one of Nicira's actions.
    ///
    /// # Errors
    /// Why the frame must not go on.
    pub fn extension(&mut self, journey: &mut Journey<'_>, action: &Nicira) -> Result<(), Dead> {
        match action {
            Nicira::Resubmit { port, table } => self.resubmit(journey, *port, *table),
            Nicira::Load { to, value } => journey.write(*to, (*value).into()),
            Nicira::SetField { field, value, mask } => journey.write_masked(*field, *value, *mask),
            Nicira::Move { from, to } => match journey.read(*from) {
                Some(value) => journey.write(*to, value),
                None => Ok(()),
            },
            Nicira::Push(from) => {
                let value = journey.read(*from).unwrap_or(0);
                self.machine.aftermath().stack.push(value);
                Ok(())
            }
            Nicira::Pop(to) => match self.machine.aftermath().stack.pop() {
                Some(value) => journey.write(*to, value),
                None => Ok(()),
            },
            Nicira::PopQueue => {
                journey.set_queue(None);
                Ok(())
            }
            Nicira::OutputReg { from, max_len } => {
                let port = journey.read(*from).unwrap_or(PortNo::ANY.0.into());
                self.output(journey, port_of(port, from.bits), *max_len);
                Ok(())
            }
            Nicira::OutputTrunc { port, max_len } => {
                journey.truncate_to = *max_len as usize;
                self.output(journey, *port, u16::try_from(*max_len).unwrap_or(u16::MAX));
                journey.truncate_to = usize::MAX;
                Ok(())
            }
            Nicira::Controller(how) => {
                self.send_to_controller(journey, how);
                Ok(())
            }
            Nicira::DecTtlCntIds(_) => journey.edit(|f| edit::dec_ttl(f.bytes_mut())),
            Nicira::Learn(learn) => {
                if let Some(request) = learn::entry(learn, journey) {
                    self.machine.aftermath().learned.push(request);
                }
                Ok(())
            }
            Nicira::Multipath(how) => {
                let link = link(how, journey.key());
                journey.write(how.to, link.into())
            }
            Nicira::Bundle(how) => self.bundle(journey, how),
            Nicira::Exit => Err(Dead::Exit),
            // Comments, and what was refused when the entry was added.
            Nicira::Note(_) | Nicira::Conjunction { .. } | Nicira::FinTimeout { .. } => Ok(()),
        }
    }

    fn send_to_controller(&mut self, journey: &mut Journey<'_>, how: &SendToController) {
        let len = journey.bytes().len();
        let meter = how.meter_id.map(|id| self.machine.meters.measure(id, len, self.now));
        if meter != Some(Verdict::Drop) {
            let reason = PacketInReason::from_code(how.reason);
            self.punt_as(journey, Some(how.max_len), crate::act::Origin { reason, ..self.from }, Some(how));
        }
    }

    fn bundle(&mut self, journey: &mut Journey<'_>, how: &Bundle) -> Result<(), Dead> {
        let is_live = |port: &&PortNo| self.machine.ports.is_live(port.0);
        let mut live = how.members.iter().filter(is_live);
        let chosen = match how.choice {
            BundleChoice::ActiveBackup => live.next().copied(),
            BundleChoice::Hrw | BundleChoice::Unknown(_) => {
                let hash = hash(how.fields, how.basis, journey.key());
                live.copied().max_by_key(|port| mixed(hash ^ u64::from(port.0)))
            }
        };
        match (how.to, chosen) {
            (Some(to), chosen) => journey.write(to, chosen.unwrap_or(PortNo::ANY).0.into()),
            (None, Some(port)) => {
                self.output(journey, port, 0);
                Ok(())
            }
            (None, None) => Ok(()),
        }
    }
}

/// A port's number as a field of that width has it: in 16 bits, reserved ones as in 1.0.
fn port_of(value: u128, bits: u16) -> PortNo {
    if bits <= 16 { PortNo::from_u16(value as u16) } else { PortNo(value as u32) }
}

/// The link that a frame takes.
fn link(how: &Multipath, key: &FlowKey) -> u32 {
    let hash = hash(how.fields, how.basis, key);
    let links = how.links.max(1);
    match how.choice {
        LinkChoice::ModuloN => (hash % u64::from(links)) as u32,
        LinkChoice::HashThreshold => ((u128::from(hash) * u128::from(links)) >> 64) as u32,
        LinkChoice::Hrw | LinkChoice::IterHash | LinkChoice::Unknown(_) => {
            (0..links).max_by_key(|&link| mixed(hash ^ u64::from(link))).unwrap_or(0)
        }
    }
}

/// A hash of some fields of a frame.
fn hash(fields: HashFields, basis: u16, key: &FlowKey) -> u64 {
    let one = |field| key.get(field).map_or(0, |v| mixed(v as u64 ^ mixed((v >> 64) as u64)));
    // Added up, both directions are the same.
    let both = |pair: [Field; 2]| one(pair[0]).wrapping_add(one(pair[1]));
    let l3 = || both([Field::Ipv4Src, Field::Ipv4Dst]) ^ both([Field::Ipv6Src, Field::Ipv6Dst]);
    let tcp = || both([Field::TcpSrc, Field::TcpDst]);
    let udp = || both([Field::UdpSrc, Field::UdpDst]);
    let proto = || one(Field::IpProto);
    let bits = match fields {
        HashFields::EthSrc | HashFields::Unknown(_) => one(Field::EthSrc),
        HashFields::SymmetricL4 => {
            both([Field::EthSrc, Field::EthDst])
                ^ one(Field::VlanVid)
                ^ one(Field::EthType)
                ^ l3()
                ^ proto()
                ^ tcp()
        }
        HashFields::SymmetricL3L4 => l3() ^ proto() ^ tcp(),
        HashFields::SymmetricL3L4Udp => l3() ^ proto() ^ tcp() ^ udp(),
        HashFields::NwSrc => one(Field::Ipv4Src) ^ one(Field::Ipv6Src),
        HashFields::NwDst => one(Field::Ipv4Dst) ^ one(Field::Ipv6Dst),
        HashFields::SymmetricL3 => l3(),
    };
    mixed(bits ^ u64::from(basis))
}

impl Facts<'_> {
    /// Whether an entry may have one of Nicira's actions.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn extension(&self, action: &Nicira) -> Result<(), ErrorCode> {
        match action {
            Nicira::Resubmit { table: Some(table), .. } if usize::from(*table) >= self.tables => {
                Err(ErrorCode::BadTableId)
            }
            Nicira::Resubmit { .. } | Nicira::PopQueue | Nicira::Exit | Nicira::Note(_) => Ok(()),
            Nicira::DecTtlCntIds(_) => Ok(()),
            Nicira::Load { to, value } if u128::from(*value) & !ones(to.bits) != 0 => {
                Err(ErrorCode::ActionBadArgument)
            }
            Nicira::Load { to, .. } | Nicira::Pop(to) => writable(*to),
            Nicira::SetField { field, .. } => writable(Subfield::all(*field)),
            Nicira::Move { from, to } => {
                readable(*from)?;
                writable(*to)?;
                if from.bits == to.bits { Ok(()) } else { Err(ErrorCode::ActionBadArgument) }
            }
            Nicira::Push(from) | Nicira::OutputReg { from, .. } => readable(*from),
            Nicira::OutputTrunc { port, .. } => self.output(*port),
            Nicira::Controller(how) => match how.meter_id {
                _ if how.pause => Err(ErrorCode::ActionBadArgument),
                Some(id) if self.machine.meters.check(id).is_err() => Err(ErrorCode::MeterInvalid),
                Some(_) | None => Ok(()),
            },
            Nicira::Multipath(how) => {
                writable(how.to)?;
                let is_known =
                    HashFields::KNOWN.contains(&how.fields) && LinkChoice::KNOWN.contains(&how.choice);
                let fits = how.links > 0 && u128::from(how.links - 1) <= ones(how.to.bits);
                if is_known && fits { Ok(()) } else { Err(ErrorCode::ActionBadArgument) }
            }
            Nicira::Bundle(how) => {
                how.to.map_or(Ok(()), writable)?;
                how.members.iter().try_for_each(|&port| self.output(port))?;
                let is_known =
                    HashFields::KNOWN.contains(&how.fields) && BundleChoice::KNOWN.contains(&how.choice);
                if is_known { Ok(()) } else { Err(ErrorCode::ActionBadArgument) }
            }
            Nicira::Learn(learn) => self.learn(learn),
            Nicira::Conjunction { .. } | Nicira::FinTimeout { .. } => {
                Err(ErrorCode::ActionBadExperimenterType)
            }
        }
    }

    fn learn(&self, learn: &flowgauge_openflow::Learn) -> Result<(), ErrorCode> {
        let is_simple = learn.flags.0 & !LearnFlags::SEND_FLOW_REM.0 == 0
            && (learn.fin_idle_timeout, learn.fin_hard_timeout, learn.limit) == (0, 0, 0);
        if usize::from(learn.table_id) >= self.tables || !is_simple {
            return Err(ErrorCode::ActionBadArgument);
        }
        learn.specs.iter().try_for_each(|spec| {
            let (to, from) = match *spec {
                LearnSpec::Match { field, from } => {
                    readable(field)?;
                    (field, from)
                }
                LearnSpec::Load { to, from } => {
                    writable(to)?;
                    (to, from)
                }
                LearnSpec::Output(from) => return readable(from),
            };
            match from {
                LearnSource::Field { field, offset } => readable(Subfield { field, offset, bits: to.bits }),
                LearnSource::Value(value) if value & !ones(to.bits) != 0 => Err(ErrorCode::ActionBadArgument),
                LearnSource::Value(_) => Ok(()),
            }
        })
    }
}

/// Whether there are such bits.
fn readable(bits: Subfield) -> Result<(), ErrorCode> {
    let width = bits.field.bits().min(128);
    let is_there = match bits.field {
        NxField::Unknown(_) => return Err(ErrorCode::ActionBadSetType),
        NxField::Xreg(n) => n < 8,
        NxField::Xxreg(n) => n < 4,
        NxField::Field(_) | NxField::InPort16 | NxField::VlanTci | NxField::IpTos => true,
    };
    let fits = bits.bits > 0 && u32::from(bits.offset) + u32::from(bits.bits) <= width;
    if is_there && fits { Ok(()) } else { Err(ErrorCode::ActionBadArgument) }
}

/// Whether there are such bits and actions may set them.
fn writable(bits: Subfield) -> Result<(), ErrorCode> {
    readable(bits)?;
    let is_settable = match bits.field {
        NxField::Field(field) => crate::check::is_settable(field),
        NxField::InPort16 | NxField::Unknown(_) => false,
        NxField::VlanTci | NxField::IpTos | NxField::Xreg(_) | NxField::Xxreg(_) => true,
    };
    if is_settable { Ok(()) } else { Err(ErrorCode::ActionBadSetType) }
}

/// Whether an action looks frames up anew, or may send them to somebody who does.
pub fn needs_tables(action: &Action) -> bool {
    matches!(action, Action::Nicira(Nicira::Resubmit { .. }) | Action::Group(_))
}
