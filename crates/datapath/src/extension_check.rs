//! Which of Nicira's actions an entry may have.

use crate::check::{Facts, is_settable};
use crate::extensions::ones;
use flowgauge_openflow::{
    BundleChoice, ErrorCode, HashFields, Learn, LearnFlags, LearnSource, LearnSpec, LinkChoice, Nicira,
    NxField, Subfield,
};

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

    fn learn(&self, learn: &Learn) -> Result<(), ErrorCode> {
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
        NxField::Field(field) => is_settable(field),
        NxField::InPort16 | NxField::Unknown(_) => false,
        NxField::VlanTci | NxField::IpTos | NxField::Xreg(_) | NxField::Xxreg(_) => true,
    };
    if is_settable { Ok(()) } else { Err(ErrorCode::ActionBadSetType) }
}
