//! Groups held against a naive model: random groups that send to each other, random ports that are down.

mod common;

use common::{Memory, udp_frame};
use flowgauge_clock::Nanos;
use flowgauge_datapath::{Datapath, Frame, Limits, Pipeline, PortRule};
use flowgauge_openflow::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

const PORTS: u32 = 4;
const GROUPS: u32 = 6;

/// What a bucket does: send to a port or to a group, and what it watches.
#[derive(Clone, Debug)]
struct Way {
    port: u32,
    group: Option<u32>,
    watch_port: Option<u32>,
    watch_group: Option<u32>,
    weight: u16,
}

#[derive(Clone, Debug)]
enum Step {
    Set(u32, GroupType, Vec<Way>),
    Delete(u32),
    Link(u32, bool),
    Send(u16),
}

fn way() -> impl Strategy<Value = Way> {
    let some_port = || prop::option::of(1..=PORTS);
    let some_group = || prop::option::weighted(0.3, 0..GROUPS);
    (1..=PORTS, some_group(), some_port(), some_group(), 0u16..4).prop_map(
        |(port, group, watch_port, watch_group, weight)| Way { port, group, watch_port, watch_group, weight },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let kinds = [GroupType::All, GroupType::Select, GroupType::Indirect, GroupType::FastFailover];
    prop_oneof![
        4 => (0..GROUPS, prop::sample::select(kinds.to_vec()), prop::collection::vec(way(), 0..4))
            .prop_map(|(id, kind, ways)| Step::Set(id, kind, ways)),
        1 => (0..GROUPS).prop_map(Step::Delete),
        1 => (1..=PORTS, any::<bool>()).prop_map(|(port, live)| Step::Link(port, live)),
        4 => (0u16..50).prop_map(Step::Send),
    ]
}

#[derive(Default)]
struct Model {
    groups: BTreeMap<u32, (GroupType, Vec<Way>)>,
    down: Vec<u32>,
}

impl Model {
    /// What is wrong with a group, in the order in which a switch may find it: any of these.
    fn refusals(&self, id: u32, kind: GroupType, ways: &[Way]) -> Vec<ErrorCode> {
        let mut wrong = vec![];
        if kind == GroupType::Indirect && ways.len() != 1 {
            wrong.push(ErrorCode::GroupInvalid);
        }
        for way in ways {
            let watches = way.watch_port.is_some() || way.watch_group.is_some();
            if way.weight > 0 && kind != GroupType::Select || kind == GroupType::FastFailover && !watches {
                wrong.push(ErrorCode::GroupInvalid);
            }
            if watches && matches!(kind, GroupType::All | GroupType::Indirect) {
                wrong.push(ErrorCode::GroupWatchUnsupported);
            }
            // A group that is only being added isn't there for others to watch or to send to.
            if way.watch_group.is_some_and(|g| !self.groups.contains_key(&g)) {
                wrong.push(ErrorCode::GroupBadWatch);
            }
            if way.group.is_some_and(|g| !self.groups.contains_key(&g)) {
                wrong.push(ErrorCode::ActionBadOutGroup);
            }
        }
        if self.reaches(ways, id, 0) {
            wrong.push(ErrorCode::GroupLoop);
        }
        wrong
    }

    fn reaches(&self, ways: &[Way], id: u32, depth: u32) -> bool {
        let next = ways.iter().flat_map(|w| [w.group, w.watch_group]).flatten();
        depth <= GROUPS
            && next.into_iter().any(|g| {
                g == id || self.groups.get(&g).is_some_and(|(_, ways)| self.reaches(ways, id, depth + 1))
            })
    }

    fn is_live(&self, way: &Way) -> bool {
        let port = way.watch_port.map(|p| !self.down.contains(&p));
        let group = way
            .watch_group
            .map(|g| self.groups.get(&g).is_some_and(|(_, ways)| ways.iter().any(|way| self.is_live(way))));
        match (port, group) {
            (None, None) => true,
            (port, group) => port == Some(true) || group == Some(true),
        }
    }

    /// The ports that a frame may leave by, each a list in order: select groups may take any live bucket with a
    /// weight.
    fn outcomes(&self, id: u32) -> Vec<Vec<u32>> {
        let Some((kind, ways)) = self.groups.get(&id) else { return vec![vec![]] };
        let of = |way: &Way| match way.group {
            Some(group) => self.outcomes(group),
            None => vec![vec![way.port]],
        };
        match kind {
            GroupType::All | GroupType::Indirect => ways.iter().fold(vec![vec![]], |before, way| {
                let after = of(way);
                let pairs = before.iter().flat_map(|b| after.iter().map(move |a| (b, a)));
                pairs.map(|(b, a)| [b.as_slice(), a].concat()).collect()
            }),
            GroupType::FastFailover => ways.iter().find(|way| self.is_live(way)).map_or(vec![vec![]], of),
            GroupType::Select => {
                let is_even = ways.iter().all(|w| w.weight == 0);
                let may = |w: &&Way| (is_even || w.weight > 0) && self.is_live(w);
                let live: Vec<_> = ways.iter().filter(may).flat_map(of).collect();
                if live.is_empty() { vec![vec![]] } else { live }
            }
            GroupType::Unknown(_) => unreachable!("not made here"),
        }
    }

    /// How often groups send to a group, counting each group once, and the entries that do.
    fn references(&self, id: u32) -> u32 {
        let sends = |ways: &[Way]| ways.iter().any(|w| w.group == Some(id));
        self.groups.values().filter(|(_, ways)| sends(ways)).count() as u32
    }
}

fn bucket(way: &Way) -> Bucket {
    let action = way.group.map_or(Action::output(PortNo(way.port)), Action::Group);
    Bucket {
        watch_port: way.watch_port.map_or(PortNo::ANY, PortNo),
        watch_group: way.watch_group.unwrap_or(GROUP_ANY),
        ..Bucket::new(way.weight, vec![action])
    }
}

fn check(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let limits = Limits { tables: 1, entries: 20 };
    let mut ours = Pipeline::new(limits, (1..=PORTS).map(PortRule::new).collect());
    let (mut model, now) = (Model::default(), Nanos::ZERO);
    for step in steps {
        match step {
            Step::Set(id, kind, ways) => {
                let known = model.groups.contains_key(&id);
                let command = if known { GroupModCommand::Modify } else { GroupModCommand::Add };
                let request = GroupMod::new(command, kind, id, ways.iter().map(bucket).collect());
                let wrong = model.refusals(id, kind, &ways);
                match ours.group_mod(&request, now, &mut ()) {
                    Ok(()) => {
                        prop_assert!(wrong.is_empty(), "{request:?} should be refused: {wrong:?}");
                        model.groups.insert(id, (kind, ways));
                    }
                    Err(code) => prop_assert!(wrong.contains(&code), "{request:?}: {code}, not {wrong:?}"),
                }
            }
            Step::Delete(id) => {
                let request = GroupMod::new(GroupModCommand::Delete, GroupType::All, id, vec![]);
                let is_used = model.references(id) > 0 && model.groups.contains_key(&id);
                let wanted = if is_used { Err(ErrorCode::GroupChained) } else { Ok(()) };
                prop_assert_eq!(ours.group_mod(&request, now, &mut ()), wanted);
                if wanted.is_ok() {
                    model.groups.remove(&id);
                }
            }
            Step::Link(port, live) => {
                ours.set_port(PortRule { live, ..PortRule::new(port) });
                model.down.retain(|&p| p != port);
                model.down.extend((!live).then_some(port));
            }
            Step::Send(flow) => {
                for &id in model.groups.keys() {
                    let mut memory = Memory::default();
                    let actions = [Action::Group(id)];
                    let frame = udp_frame(1, flow);
                    let frame = Frame { bytes: &frame, in_port: PortNo::CONTROLLER.0 };
                    let before = ours.group_stats(id, now)[0].packet_count;
                    ours.packet_out(frame, &actions, now, &mut memory);
                    let got = memory.take_ports();
                    let may = model.outcomes(id);
                    prop_assert!(may.contains(&got), "group {id}: {got:?}, not one of {may:?}");
                    prop_assert!(ours.group_stats(id, now)[0].packet_count > before);
                    ours.packet_out(frame, &actions, now, &mut memory);
                    prop_assert_eq!(memory.take_ports(), got, "the same flow goes the same way");
                }
            }
        }
        for (&id, _) in &model.groups {
            prop_assert_eq!(ours.group_stats(id, now)[0].ref_count, model.references(id));
        }
        prop_assert_eq!(ours.group_desc(GROUP_ALL).len(), model.groups.len());
    }
    ours.process(&[], now, &mut ());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn agrees_with_the_model(steps in prop::collection::vec(step(), 1..40)) {
        check(steps)?;
    }
}
