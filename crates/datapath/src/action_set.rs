//! The action set that a frame gathers on its way through the tables (OpenFlow 1.3.5, 5.10).

use flowgauge_openflow::{Action, Nicira};
use std::mem::discriminant;

/// At most one action of each kind, and one set-field per field, in the order of execution.
#[derive(Debug, Default)]
pub struct ActionSet {
    actions: Vec<Action>,
}

impl ActionSet {
    /// Whether nothing is to be done.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// Empties the set and keeps its memory.
    #[inline]
    pub fn clear(&mut self) {
        self.actions.clear();
    }

    /// Puts an action in its place; one of the same kind is overwritten.
    pub fn write(&mut self, action: &Action) {
        if let Some(old) = self.actions.iter_mut().find(|old| is_same_kind(old, action)) {
            old.clone_from(action);
            return;
        }
        let at = self.actions.partition_point(|a| rank(a) <= rank(action));
        self.actions.insert(at, action.clone());
    }

    /// The port that it sends to; `None` without one, and with a group, which then decides.
    pub fn output(&self) -> Option<u32> {
        self.in_order().find_map(|action| {
            let Action::Output { port, .. } = action else { return None };
            Some(port.0)
        })
    }

    /// The actions in the order of execution. With a group, the output is left out.
    pub fn in_order(&self) -> impl Iterator<Item = &Action> {
        let has_group = self.actions.iter().any(|a| matches!(a, Action::Group(_)));
        self.actions.iter().filter(move |a| !(has_group && matches!(a, Action::Output { .. })))
    }
}

fn is_same_kind(a: &Action, b: &Action) -> bool {
    match (a, b) {
        (Action::SetField { field: a, .. }, Action::SetField { field: b, .. }) => a == b,
        (Action::CopyField { dst: a, .. }, Action::CopyField { dst: b, .. }) => a == b,
        // Fields can be set in parts: all of them count.
        (Action::Nicira(_), Action::Nicira(_)) => false,
        (a, b) => discriminant(a) == discriminant(b),
    }
}

/// Nicira's actions: what changes fields goes with set-field, what sends goes last.
fn extension_rank(action: &Nicira) -> u8 {
    match action {
        Nicira::DecTtlCntIds(_) => 6,
        Nicira::Load { .. }
        | Nicira::SetField { .. }
        | Nicira::Move { .. }
        | Nicira::Push(_)
        | Nicira::Pop(_)
        | Nicira::Multipath(_)
        | Nicira::Note(_)
        | Nicira::Learn(_) => 7,
        Nicira::PopQueue => 8,
        Nicira::Resubmit { .. }
        | Nicira::OutputReg { .. }
        | Nicira::OutputTrunc { .. }
        | Nicira::Controller(_)
        | Nicira::Bundle(_)
        | Nicira::Conjunction { .. }
        | Nicira::Exit
        | Nicira::FinTimeout { .. } => 10,
    }
}

/// The place in the order of execution.
fn rank(action: &Action) -> u8 {
    match action {
        Action::CopyTtlIn => 0,
        Action::PopVlan | Action::PopMpls(_) | Action::PopPbb => 1,
        Action::PushMpls(_) => 2,
        Action::PushPbb(_) => 3,
        Action::PushVlan(_) => 4,
        Action::CopyTtlOut => 5,
        Action::DecNwTtl | Action::DecMplsTtl => 6,
        Action::SetField { .. }
        | Action::SetVlanVid(_)
        | Action::SetVlanPcp(_)
        | Action::SetTpSrc(_)
        | Action::SetTpDst(_)
        | Action::SetNwTtl(_)
        | Action::SetMplsTtl(_)
        | Action::CopyField { .. } => 7,
        Action::SetQueue(_) | Action::Meter(_) => 8,
        Action::Group(_) => 9,
        Action::Output { .. } | Action::Enqueue { .. } => 10,
        Action::Nicira(action) => extension_rank(action),
        // Refused before they get here.
        Action::Experimenter { .. } | Action::Unknown { .. } => 11,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowgauge_openflow::PortNo;
    use flowgauge_packet::Field;

    #[test]
    fn one_of_each_kind_in_the_order_of_the_specification() {
        let output = |port| Action::Output { port: PortNo(port), max_len: 0 };
        let mut set = ActionSet::default();
        for action in [
            output(1),
            Action::set(Field::VlanVid, 0x1001),
            Action::PushVlan(0x8100),
            Action::set(Field::EthDst, 5),
            Action::set(Field::VlanVid, 0x1002),
            Action::PopVlan,
            output(2),
        ] {
            set.write(&action);
        }
        let wanted = [
            Action::PopVlan,
            Action::PushVlan(0x8100),
            Action::set(Field::VlanVid, 0x1002),
            Action::set(Field::EthDst, 5),
            output(2),
        ];
        assert!(set.in_order().eq(wanted.iter()));
        set.write(&Action::Group(3));
        assert_eq!(set.in_order().last(), Some(&Action::Group(3)));
    }
}
