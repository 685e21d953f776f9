//! What an entry does with frames, shared by all entries that do the same.
//!
//! A million entries that send to one port hold one program between them.

use crate::extensions::needs_tables;
use flowgauge_openflow::{Action, GROUP_ANY, Instruction, PortNo};
use std::collections::HashSet;
use std::sync::Arc;

/// An entry's instructions, in the order in which they are executed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Program {
    instructions: Box<[Instruction]>,
    needs_tables: bool,
}

impl Program {
    /// Sorts `instructions` into the order of execution (OpenFlow 1.3.5, 5.9).
    pub fn new(mut instructions: Vec<Instruction>) -> Program {
        instructions.sort_by_key(Instruction::rank);
        let mut program = Program { instructions: instructions.into_boxed_slice(), needs_tables: false };
        let needs_tables = program.actions().any(needs_tables);
        program.needs_tables = needs_tables;
        program
    }

    /// The instructions in the order of execution.
    #[inline]
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// Whether its actions may look frames up anew.
    #[inline]
    pub fn needs_tables(&self) -> bool {
        self.needs_tables
    }

    /// Whether it has an action that sends to `port`, and one that sends to `group`; ANY asks for none.
    pub fn sends_to(&self, port: PortNo, group: u32) -> bool {
        let has = |wanted: &dyn Fn(&Action) -> bool| self.actions().any(wanted);
        (port == PortNo::ANY
            || has(
                &|a| matches!(a, Action::Output { port: p, .. } | Action::Enqueue { port: p, .. } if *p == port),
            ))
            && (group == GROUP_ANY || has(&|a| matches!(a, Action::Group(g) if *g == group)))
    }

    /// The groups that it sends to, each once. Allocates only if there are any.
    pub fn groups(&self) -> Vec<u32> {
        each_once(self.actions().filter_map(|action| {
            let Action::Group(id) = action else { return None };
            Some(*id)
        }))
    }

    /// The meters that it uses, each once. Allocates only if there are any.
    pub fn meters(&self) -> Vec<u32> {
        let instructions = self.instructions.iter().filter_map(|instruction| {
            let Instruction::Meter(id) = instruction else { return None };
            Some(*id)
        });
        let actions = self.actions().filter_map(|action| {
            let Action::Meter(id) = action else { return None };
            Some(*id)
        });
        each_once(instructions.chain(actions))
    }

    fn actions(&self) -> impl Iterator<Item = &Action> {
        self.instructions.iter().flat_map(|i| match i {
            Instruction::ApplyActions(actions) | Instruction::WriteActions(actions) => actions.as_slice(),
            Instruction::Meter(_)
            | Instruction::ClearActions
            | Instruction::WriteMetadata { .. }
            | Instruction::GotoTable(_)
            | Instruction::StatTrigger { .. }
            | Instruction::Experimenter { .. }
            | Instruction::Unknown { .. } => &[],
        })
    }
}

fn each_once(ids: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut ids: Vec<u32> = ids.collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// All programs in use, each once.
#[derive(Debug, Default)]
pub struct Programs {
    known: HashSet<Arc<Program>>,
}

impl Programs {
    /// The shared program with these instructions.
    pub fn share(&mut self, instructions: &[Instruction]) -> Arc<Program> {
        let program = Program::new(instructions.to_vec());
        if let Some(known) = self.known.get(&program) {
            return Arc::clone(known);
        }
        let program = Arc::new(program);
        self.known.insert(Arc::clone(&program));
        program
    }

    /// Gives a program back; the last one to do so frees it.
    pub fn release(&mut self, program: Arc<Program>) {
        // One count is the set's, one is ours.
        if Arc::strong_count(&program) == 2 {
            self.known.remove(&program);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_programs_are_one_until_the_last_user_is_gone() {
        let mut programs = Programs::default();
        let actions = [Instruction::ApplyActions(vec![Action::output(PortNo(1))])];
        let (first, second) = (programs.share(&actions), programs.share(&actions));
        assert!(Arc::ptr_eq(&first, &second));
        programs.release(first);
        assert_eq!(programs.known.len(), 1);
        programs.release(second);
        assert!(programs.known.is_empty());
    }
}
