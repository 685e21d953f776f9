//! What actions work with: ports, groups, meters, and room to change frames in.

use crate::action_set::ActionSet;
use crate::group::Groups;
use crate::journey::Workbench;
use crate::learning::Learning;
use crate::meter::Meters;
use crate::ports::Ports;
use crate::trace::Trace;
use flowgauge_openflow::FlowMod;

/// What Nicira's actions on one frame leave for each other, and for when it is through.
#[derive(Debug, Default)]
pub struct Aftermath {
    /// Entries that it has made.
    pub learned: Vec<FlowMod>,
    /// How often it was looked up again.
    pub resubmits: u32,
    /// What was pushed.
    pub stack: Vec<u128>,
}

/// Everything that actions need, but for the tables.
#[derive(Debug)]
pub struct Machine {
    pub ports: Ports,
    pub groups: Groups,
    pub meters: Meters,
    pub learning: Learning,
    /// The first of the egress tables, if there are any (1.5).
    pub first_egress: Option<u8>,
    /// Workbenches that nobody is at: one for each frame copy at a time.
    benches: Vec<Workbench>,
    /// Whether the frame that is on its way leaves something to clear up.
    pub has_aftermath: bool,
    aftermath: Aftermath,
    /// What the frame on its way touches, while somebody wants to know.
    pub trace: Option<Trace>,
    /// The action set of egress tables, kept for its memory.
    pub egress_set: ActionSet,
}

impl Machine {
    pub fn new(ports: Ports) -> Machine {
        Machine {
            ports,
            groups: Groups::default(),
            meters: Meters::default(),
            learning: Learning::default(),
            first_egress: None,
            benches: Vec::new(),
            has_aftermath: false,
            aftermath: Aftermath::default(),
            trace: None,
            egress_set: ActionSet::default(),
        }
    }

    /// What the frame leaves, to be added to.
    pub fn aftermath(&mut self) -> &mut Aftermath {
        self.has_aftermath = true;
        self.varies();
        &mut self.aftermath
    }

    /// Equal frames may fare otherwise from here on.
    pub fn varies(&mut self) {
        if let Some(trace) = &mut self.trace {
            trace.varies = true;
        }
    }

    /// Clears up after a frame; gives the entries that it has made.
    pub fn clear_up(&mut self) -> Vec<FlowMod> {
        self.has_aftermath = false;
        self.aftermath.stack.clear();
        self.aftermath.resubmits = 0;
        std::mem::take(&mut self.aftermath.learned)
    }

    /// A workbench, to be given back.
    pub fn take_bench(&mut self) -> Workbench {
        self.benches.pop().unwrap_or_default()
    }

    /// Takes a workbench back.
    pub fn return_bench(&mut self, bench: Workbench) {
        self.benches.push(bench);
    }
}
