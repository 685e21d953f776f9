//! The flow table held against a naive model under random sequences of FLOW_MODs, frames and time.

mod common;

use common::{Memory, udp_frame};
use flowgauge_clock::Nanos;
use flowgauge_datapath::rule::Rule;
use flowgauge_datapath::{Cursor, Datapath, Frame, Limits, Pipeline};
use flowgauge_openflow::*;
use flowgauge_packet::{Field, FlowKey};
use proptest::prelude::*;

const CAPACITY: usize = 12;
const DST: u128 = 0x0a00_0000;

/// An entry as the specification describes it.
#[derive(Clone, Debug, PartialEq)]
struct ModelEntry {
    stats: FlowStats,
    rule: Rule,
    created: Nanos,
    used: Nanos,
}

#[derive(Default)]
struct Model {
    /// In the order in which they were added.
    entries: Vec<ModelEntry>,
    evicts: bool,
    capacity: usize,
    removed: Vec<FlowRemoved>,
}

impl Model {
    fn flow_mod(&mut self, m: &FlowMod, version: Version, now: Nanos) -> Result<(), ErrorCode> {
        let rule = Rule::from(&m.match_);
        let is_old = version == Version::V1_0;
        let is_meant = |e: &ModelEntry, deletes: bool, strict: bool| {
            let s = &e.stats;
            (deletes && m.table_id == TABLE_ALL || m.table_id == s.table_id)
                && if strict { e.rule == rule && s.priority == m.priority } else { rule.covers(&e.rule) }
                && (is_old || (s.cookie ^ m.cookie) & m.cookie_mask == 0)
                && (!deletes || m.out_port == PortNo::ANY || sends_to(s, m.out_port))
        };
        match m.command {
            FlowModCommand::Add => self.add(m, version, now),
            FlowModCommand::Modify | FlowModCommand::ModifyStrict => {
                let strict = m.command == FlowModCommand::ModifyStrict;
                let mut found = false;
                for e in self.entries.iter_mut().filter(|e| is_meant(e, false, strict)) {
                    found = true;
                    e.stats.instructions = m.instructions.clone();
                    if is_old {
                        e.stats.cookie = m.cookie;
                    } else if m.flags.contains(FlowModFlags::RESET_COUNTS) {
                        (e.stats.packet_count, e.stats.byte_count) = (0, 0);
                    }
                }
                if !found && is_old { self.add(m, version, now) } else { Ok(()) }
            }
            FlowModCommand::Delete | FlowModCommand::DeleteStrict => {
                let strict = m.command == FlowModCommand::DeleteStrict;
                self.remove_if(now, |e| is_meant(e, true, strict).then_some(FlowRemovedReason::Delete));
                Ok(())
            }
            FlowModCommand::Unknown(_) => Err(ErrorCode::FlowModBadCommand),
        }
    }

    fn add(&mut self, m: &FlowMod, version: Version, now: Nanos) -> Result<(), ErrorCode> {
        let rule = Rule::from(&m.match_);
        let in_table = |e: &&ModelEntry| e.stats.table_id == m.table_id;
        let rivals = |e: &ModelEntry| e.stats.priority == m.priority && e.rule.overlaps(&rule);
        if m.flags.contains(FlowModFlags::CHECK_OVERLAP) && self.entries.iter().filter(in_table).any(rivals) {
            return Err(ErrorCode::FlowModOverlap);
        }
        let is_same = |e: &ModelEntry| in_table(&e) && e.stats.priority == m.priority && e.rule == rule;
        let old = self.entries.iter().position(is_same).map(|at| self.entries.remove(at));
        if old.is_none() && self.entries.iter().filter(in_table).count() >= self.capacity {
            self.make_room(m, now)?;
        }
        let keeps = version != Version::V1_0 && !m.flags.contains(FlowModFlags::RESET_COUNTS);
        let counts = old.filter(|_| keeps).map_or((0, 0), |o| (o.stats.packet_count, o.stats.byte_count));
        let stats = FlowStats {
            table_id: m.table_id,
            duration_sec: 0,
            duration_nsec: 0,
            priority: m.priority,
            idle_timeout: m.idle_timeout,
            hard_timeout: m.hard_timeout,
            flags: m.flags,
            importance: m.importance,
            cookie: m.cookie,
            packet_count: counts.0,
            byte_count: counts.1,
            idle_time: None,
            match_: m.match_.canonical(),
            instructions: m.instructions.clone(),
            unknown_stats: vec![],
        };
        self.entries.push(ModelEntry { stats, rule, created: now, used: now });
        Ok(())
    }

    /// Evicts the entry of least importance, least time left and least age, if it matters no more than the new.
    fn make_room(&mut self, m: &FlowMod, now: Nanos) -> Result<(), ErrorCode> {
        let time_left = |e: &ModelEntry| {
            let after = |since: Nanos, s: u16| (s > 0).then(|| since + Nanos::from_secs(s.into()));
            let ends = [after(e.created, e.stats.hard_timeout), after(e.used, e.stats.idle_timeout)];
            ends.into_iter().flatten().min().unwrap_or(Nanos(u64::MAX))
        };
        let rivals = self.entries.iter().filter(|e| e.stats.table_id == m.table_id);
        let least = rivals.min_by_key(|e| (e.stats.importance, time_left(e))).expect("the table is full");
        if !self.evicts || least.stats.importance > m.importance {
            return Err(ErrorCode::FlowModTableFull);
        }
        let victim = least.clone();
        self.remove_if(now, |e| (*e == victim).then_some(FlowRemovedReason::Eviction));
        Ok(())
    }

    fn expire(&mut self, now: Nanos) {
        self.remove_if(now, |e| {
            let over = |since: Nanos, timeout: u16| {
                Some(since + Nanos::from_secs(timeout.into())).filter(|&at| timeout > 0 && at <= now)
            };
            let hard = over(e.created, e.stats.hard_timeout).map(|at| (at, FlowRemovedReason::HardTimeout));
            let idle = over(e.used, e.stats.idle_timeout).map(|at| (at, FlowRemovedReason::IdleTimeout));
            [hard, idle].into_iter().flatten().min_by_key(|x| x.0).map(|x| x.1)
        });
    }

    fn remove_if(&mut self, now: Nanos, why: impl Fn(&ModelEntry) -> Option<FlowRemovedReason>) {
        let removed = &mut self.removed;
        self.entries.retain(|e| {
            let Some(reason) = why(e) else { return true };
            if e.stats.flags.contains(FlowModFlags::SEND_FLOW_REM) {
                let age = now - e.created;
                removed.push(FlowRemoved {
                    cookie: e.stats.cookie,
                    priority: e.stats.priority,
                    reason,
                    table_id: e.stats.table_id,
                    duration_sec: (age.0 / 1_000_000_000) as u32,
                    duration_nsec: (age.0 % 1_000_000_000) as u32,
                    idle_timeout: e.stats.idle_timeout,
                    hard_timeout: e.stats.hard_timeout,
                    packet_count: e.stats.packet_count,
                    byte_count: e.stats.byte_count,
                    idle_time: Some(told(now - e.used)),
                    match_: e.stats.match_.clone(),
                    unknown_stats: vec![],
                });
            }
            false
        });
    }

    /// The entries that may win a frame.
    fn candidates(&self, key: &FlowKey) -> Vec<usize> {
        let matching = |e: &ModelEntry| e.stats.table_id == 0 && e.rule.matches(key);
        let best = self.entries.iter().filter(|e| matching(e)).map(|e| e.stats.priority).max();
        let wins = |e: &ModelEntry| matching(e) && Some(e.stats.priority) == best;
        (0..self.entries.len()).filter(|&i| wins(&self.entries[i])).collect()
    }
}

fn told(duration: Nanos) -> Age {
    Age { sec: (duration.0 / 1_000_000_000) as u32, nsec: (duration.0 % 1_000_000_000) as u32 }
}

fn sends_to(stats: &FlowStats, port: PortNo) -> bool {
    stats.instructions.iter().any(|i| match i {
        Instruction::ApplyActions(actions) => actions.contains(&Action::output(port)),
        _ => false,
    })
}

fn some_match() -> impl Strategy<Value = Match> {
    let dst = prop::option::of((0u128..3, prop::sample::select(vec![0xffff_ffffu128, 0xffff_fffe])));
    (dst, prop::option::of(0u128..2), prop::option::of(1u128..3)).prop_map(|(dst, udp, in_port)| {
        let mut m = Match::any();
        if dst.is_some() || udp.is_some() {
            m = m.with(Field::EthType, 0x800);
        }
        if udp.is_some() {
            m = m.with(Field::IpProto, 17);
        }
        m = dst.map_or(m.clone(), |(host, mask)| m.with_masked(Field::Ipv4Dst, (DST + host) & mask, mask));
        m = udp.map_or(m.clone(), |port| m.with(Field::UdpDst, port));
        in_port.map_or(m.clone(), |port| m.with(Field::InPort, port))
    })
}

fn flow_mod() -> impl Strategy<Value = FlowMod> {
    let command = prop_oneof![
        5 => Just(FlowModCommand::Add),
        1 => Just(FlowModCommand::Modify),
        1 => Just(FlowModCommand::ModifyStrict),
        1 => Just(FlowModCommand::Delete),
        1 => Just(FlowModCommand::DeleteStrict),
    ];
    let out_port = prop_oneof![3 => Just(PortNo::ANY), 1 => (1u32..3).prop_map(PortNo)];
    let timeout = || prop_oneof![2 => Just(0u16), 1 => 1u16..4];
    let cookies = (0u64..4, prop_oneof![Just(0u64), Just(1), Just(u64::MAX)]);
    let first = (command, 0u8..2, cookies, timeout(), timeout());
    let second = (0u16..3, out_port, 0u32..8, 1u32..3, some_match(), 0u16..3);
    (first, second).prop_map(|((command, table_id, cookies, idle_timeout, hard_timeout), rest)| {
        let (priority, out_port, flags, port, match_, importance) = rest;
        FlowMod {
            command,
            table_id,
            cookie: cookies.0,
            cookie_mask: cookies.1,
            idle_timeout,
            hard_timeout,
            priority,
            out_port,
            importance,
            flags: FlowModFlags(flags),
            match_,
            instructions: vec![Instruction::ApplyActions(vec![Action::output(PortNo(port))])],
            ..FlowMod::default()
        }
    })
}

#[derive(Clone, Debug)]
enum Step {
    Change(FlowMod),
    Frame(u32, u16, u32),
    Pass(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => flow_mod().prop_map(Step::Change),
        4 => (0u32..3, 0u16..2, 1u32..3).prop_map(|(host, udp, port)| Step::Frame(host, udp, port)),
        1 => (1u64..2500).prop_map(Step::Pass),
    ]
}

/// All entries, sorted, durations against `now`.
fn dump(pipeline: &Pipeline, now: Nanos) -> Vec<FlowStats> {
    let query = pipeline.flow_query(&FlowStatsRequest::default(), Version::V1_3).unwrap();
    let (mut all, mut at) = (Vec::new(), Some(Cursor::default()));
    while let Some(from) = at {
        at = pipeline.walk(&query, from, 500, |v| {
            all.push(v.stats(now));
            true
        });
    }
    sorted(all)
}

fn sorted<T: std::fmt::Debug>(mut all: Vec<T>) -> Vec<T> {
    all.sort_by_key(|x| format!("{x:?}"));
    all
}

fn wanted(model: &Model, now: Nanos) -> Vec<FlowStats> {
    let aged = model.entries.iter().map(|e| {
        let age = now - e.created;
        let (duration_sec, duration_nsec) = ((age.0 / 1_000_000_000) as u32, (age.0 % 1_000_000_000) as u32);
        FlowStats { duration_sec, duration_nsec, idle_time: Some(told(now - e.used)), ..e.stats.clone() }
    });
    sorted(aged.collect())
}

fn check(steps: Vec<Step>, version: Version, capacity: usize) -> Result<(), TestCaseError> {
    let mut ours = Pipeline::new(Limits { tables: 2, entries: capacity }, vec![]);
    let (mut sink, mut now) = (Memory::default(), Nanos::from_secs(5));
    let evicts = version == Version::V1_4;
    let mut model = Model { evicts, capacity, ..Model::default() };
    if evicts {
        let request = TableMod { table_id: TABLE_ALL, config: TableConfig::EVICTION, ..TableMod::default() };
        prop_assert_eq!(ours.table_mod(&request, version), Ok(()));
    }
    for step in steps {
        match step {
            Step::Change(mut m) => {
                if version == Version::V1_0 {
                    m.table_id = 0;
                    m.flags.0 &= 3;
                }
                let result = ours.flow_mod(&m, version, now, &mut sink);
                prop_assert_eq!(result, model.flow_mod(&m, version, now), "{:?}", m);
            }
            Step::Frame(host, udp, in_port) => {
                let bytes = udp_frame(DST as u32 + host, udp);
                let before = dump(&ours, now);
                ours.process(&[Frame { bytes: &bytes, in_port }], now, &mut sink);
                let after = dump(&ours, now);
                let winners = model.candidates(&FlowKey::parse(&bytes, in_port));
                let hit = after.iter().find(|s| !before.contains(s));
                prop_assert_eq!(hit.is_some(), !winners.is_empty());
                let is_hit = |s: &FlowStats| {
                    hit.is_some_and(|h| s.priority == h.priority && s.match_ == h.match_ && h.table_id == 0)
                };
                if let Some(&winner) = winners.iter().find(|&&i| is_hit(&model.entries[i].stats)) {
                    let e = &mut model.entries[winner];
                    e.used = now;
                    e.stats.packet_count += 1;
                    e.stats.byte_count += bytes.len() as u64;
                }
            }
            Step::Pass(ms) => {
                now += Nanos::from_millis(ms);
                while ours.expire(now, 3, &mut sink) {}
                model.expire(now);
            }
        }
        prop_assert_eq!(dump(&ours, now), wanted(&model, now));
        let removed = std::mem::take(&mut sink.removed);
        prop_assert_eq!(sorted(removed), sorted(std::mem::take(&mut model.removed)));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn agrees_with_the_model_in_1_3(steps in prop::collection::vec(step(), 1..60)) {
        check(steps, Version::V1_3, CAPACITY)?;
    }

    #[test]
    fn agrees_with_the_model_when_full_tables_evict(steps in prop::collection::vec(step(), 1..60)) {
        check(steps, Version::V1_4, 3)?;
    }

    #[test]
    fn agrees_with_the_model_in_1_0(steps in prop::collection::vec(step(), 1..60)) {
        check(steps, Version::V1_0, CAPACITY)?;
    }
}
