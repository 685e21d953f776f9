//! Which entries are the software path's.

use flowgauge_datapath::{Pipeline, Trace};
use flowgauge_openflow::Instruction;
use flowgauge_packet::Field;

use crate::model::SoftwareModel;

/// Which entries the fast path can't do.
#[derive(Debug)]
pub struct Slow {
    matches: Vec<Field>,
    set_fields: Vec<Field>,
}

impl Slow {
    pub fn new(model: &SoftwareModel) -> Slow {
        let fields = |names: &[String]| names.iter().filter_map(|name| Field::from_name(name)).collect();
        Slow { matches: fields(&model.matches), set_fields: fields(&model.set_fields) }
    }

    /// Whether any entry on the way is one of them.
    pub fn takes(&self, trace: &Trace, pipeline: &Pipeline) -> bool {
        if self.matches.is_empty() && self.set_fields.is_empty() {
            return false;
        }
        trace.lookups.iter().any(|lookup| {
            let table = &pipeline.tables()[usize::from(lookup.table)];
            let Some(id) = lookup.entry else { return false };
            let matches =
                || table.rule(id).is_some_and(|rule| self.matches.iter().any(|&f| rule.term(f).is_some()));
            matches() || table.entry(id).is_some_and(|entry| self.sets(entry.program.instructions()))
        })
    }

    fn sets(&self, instructions: &[Instruction]) -> bool {
        use flowgauge_openflow::Action;
        instructions.iter().any(|instruction| match instruction {
            Instruction::ApplyActions(actions) | Instruction::WriteActions(actions) => {
                actions.iter().any(|action| match action {
                    Action::SetField { field, .. } => self.set_fields.contains(field),
                    _ => false,
                })
            }
            _ => false,
        })
    }
}
