//! What 1.4 and 1.5 added: flow monitors, table configuration, controllers' status, forwarded requests, egress tables.

mod common;

use common::{Bench, Peer, SECOND, to_port, udp_frame};
use flowgauge_openflow::*;

const VERSIONS: [Version; 2] = [Version::V1_4, Version::V1_5];

fn monitor(peer: &Peer, command: FlowMonitorCommand, flags: u32) -> Result<Vec<FlowUpdate>, (u16, u16)> {
    let request = FlowMonitorRequest {
        monitor_id: 5,
        out_port: PortNo::ANY,
        out_group: GROUP_ANY,
        flags: FlowMonitorFlags(flags),
        table_id: TABLE_ALL,
        command,
        match_: Match::any(),
    };
    let body = RequestBody::FlowMonitor(vec![request]);
    match peer.ask(Body::MultipartRequest(MultipartRequest::new(body))) {
        Ok(replies) => Ok(updates(replies)),
        error => Err(common::refusal(error)),
    }
}

fn updates(messages: Vec<Body>) -> Vec<FlowUpdate> {
    let part = |body| match body {
        Body::MultipartReply(MultipartReply { body: ReplyBody::FlowMonitor(updates), .. }) => updates,
        other => panic!("{other:?}"),
    };
    messages.into_iter().flat_map(part).collect()
}

fn full(updates: Vec<FlowUpdate>) -> Vec<(FlowEvent, u16, usize)> {
    let short = |update| match update {
        FlowUpdate::Full(full) => (full.event, full.priority, full.instructions.len()),
        other => panic!("{other:?}"),
    };
    updates.into_iter().map(short).collect()
}

#[test]
fn a_monitor_tells_what_others_change() {
    for version in VERSIONS {
        let watcher = Bench::listening(version, |_| {});
        let other = watcher.join(Version::V1_3);
        other.flow(FlowMod { priority: 1, ..to_port(2) });
        let everything = 0b1_1111;
        let there = monitor(&watcher, FlowMonitorCommand::Add, everything).unwrap();
        assert_eq!(full(there), [(FlowEvent::Initial, 1, 1)], "{version}");
        assert_eq!(monitor(&watcher, FlowMonitorCommand::Add, everything), Err((16, 1)), "it is there");
        other.flow(FlowMod { priority: 2, ..to_port(3) });
        other.flow(FlowMod { command: FlowModCommand::Modify, ..to_port(1) });
        other.flow(FlowMod { command: FlowModCommand::DeleteStrict, priority: 1, ..to_port(1) });
        other.flow(FlowMod::delete_all());
        let told = full(updates(watcher.events()));
        let (added, modified, removed) = (FlowEvent::Added, FlowEvent::Modified, FlowEvent::Removed);
        let mut changed = told[1..3].to_vec();
        changed.sort_by_key(|c| c.1);
        assert_eq!(told[0], (added, 2, 1), "{version}");
        assert_eq!(changed, [(modified, 1, 1), (modified, 2, 1)]);
        assert_eq!(told[3..], [(removed, 1, 1), (removed, 2, 1)]);
        watcher.flow(to_port(2));
        assert!(matches!(updates(watcher.events())[..], [FlowUpdate::Abbreviated { .. }]));
        assert_eq!(monitor(&watcher, FlowMonitorCommand::Delete, 0), Ok(vec![]));
        assert_eq!(monitor(&watcher, FlowMonitorCommand::Delete, 0), Err((16, 3)), "it is gone");
        other.flow(FlowMod::delete_all());
        assert_eq!(watcher.events(), []);
    }
}

#[test]
fn tables_tell_that_they_fill_up_and_evict() {
    for version in VERSIONS {
        let bench = Bench::listening(version, |config| config.limits.entries = 10);
        let config = TableConfig::EVICTION | TableConfig::VACANCY_EVENTS;
        let vacancy = Some(Vacancy { down: 20, up: 50, current: 0 });
        bench
            .apply(Body::TableMod(TableMod { table_id: 0, config, vacancy, ..TableMod::default() }))
            .unwrap();
        let ReplyBody::TableDesc(tables) = bench.statistics(RequestBody::TableDesc).remove(0) else {
            panic!()
        };
        assert_eq!((tables[0].config, tables[1].config), (config, TableConfig::NONE), "{version}");
        for priority in 1..=12 {
            bench.flow(FlowMod { priority, flags: FlowModFlags::SEND_FLOW_REM, ..to_port(2) });
        }
        let told = bench.events();
        let reasons: Vec<_> = told
            .iter()
            .map(|body| match body {
                Body::TableStatus(status) => status.reason.code(),
                Body::FlowRemoved(removed) => removed.reason.code(),
                other => panic!("{other:?}"),
            })
            .collect();
        let (down, eviction) = (TableStatusReason::VacancyDown.code(), FlowRemovedReason::Eviction.code());
        assert_eq!(reasons, [down, eviction, eviction], "{version}");
        bench.flow(FlowMod { flags: FlowModFlags::NONE, ..FlowMod::delete_all() });
        let up = bench.events().into_iter().filter(|b| matches!(b, Body::TableStatus(_))).count();
        assert_eq!(up, 1, "{version}");
    }
}

#[test]
fn requests_are_forwarded_to_those_who_ask() {
    for version in VERSIONS {
        let first = Bench::listening(version, |_| {});
        let second = first.join(version);
        let group = |id| {
            let bucket_id = (version == Version::V1_5).then_some(0);
            let buckets = vec![Bucket { bucket_id, ..Bucket::new(0, vec![Action::output(PortNo(1))]) }];
            Body::GroupMod(GroupMod::new(GroupModCommand::Add, GroupType::Indirect, id, buckets))
        };
        second.apply(group(1)).unwrap();
        assert_eq!(first.events(), [], "not by default");
        let masks = AsyncMasks { request_forward: Some(0b01), ..AsyncMasks::default() };
        let wanted = AsyncConfig { primary: masks, ..AsyncConfig::default() };
        first.apply(Body::SetAsync(wanted)).unwrap();
        second.apply(group(2)).unwrap();
        let Body::RequestForward(told) = first.next_event() else { panic!() };
        assert_eq!(told.body, group(2), "{version}");
        first.apply(group(3)).unwrap();
        assert_eq!(first.events(), [], "its own are not");
    }
}

#[test]
fn egress_tables_are_a_controllers_choice() {
    let mut bench = Bench::listening(Version::V1_5, |config| config.limits.tables = 4);
    let tables = |bench: &Bench| -> Vec<TableFeatures> {
        let told = bench.statistics(RequestBody::TableFeatures(vec![]));
        let part = |body| match body {
            ReplyBody::TableFeatures(tables) => tables,
            other => panic!("{other:?}"),
        };
        told.into_iter().flat_map(part).collect()
    };
    let mut third = tables(&bench).remove(2);
    assert!(!third.features.contains(TableFeatureFlags::FIRST_EGRESS));
    third.features |= TableFeatureFlags::FIRST_EGRESS;
    third.command = TableFeaturesCommand::Modify;
    let request =
        |table| Body::MultipartRequest(MultipartRequest::new(RequestBody::TableFeatures(vec![table])));
    assert!(bench.ask(request(third.clone())).is_ok());
    let places: Vec<_> = tables(&bench).iter().map(|t| t.features).collect();
    let egress = TableFeatureFlags::EGRESS_TABLE;
    assert_eq!(places[2..], [egress | TableFeatureFlags::FIRST_EGRESS, egress]);
    bench.flow(to_port(2));
    let out = Match::any().with(flowgauge_packet::Field::ActsetOutput, 2);
    let again = vec![Instruction::ApplyActions(vec![Action::output(PortNo(3))])];
    bench.flow(FlowMod { table_id: 2, match_: out, instructions: again, ..to_port(2) });
    bench.inject(1, &udp_frame([10, 0, 0, 2], 1));
    assert!(bench.expect(3, SECOND).is_some() || bench.expect(2, SECOND).is_some());
    third.max_entries += 1;
    assert_eq!(common::refusal(bench.ask(request(third))), (13, 5), "nothing else can be chosen");
}

#[test]
fn controllers_hear_of_each_other_in_1_5() {
    let first = Bench::listening(Version::V1_5, |_| {});
    let masks = AsyncMasks { controller_status: Some(0x7f), ..AsyncMasks::default() };
    first.apply(Body::SetAsync(AsyncConfig { primary: masks, ..AsyncConfig::default() })).unwrap();
    let second = first.join(Version::V1_5);
    let Body::ControllerStatus(status) = first.next_event() else { panic!() };
    assert_eq!(
        (status.reason, status.channel_status),
        (ControllerStatusReason::ChannelStatus, ChannelStatus::Up)
    );
    let ReplyBody::ControllerStatus(all) = second.statistics(RequestBody::ControllerStatus).remove(0) else {
        panic!()
    };
    assert_eq!(all.len(), 2);
}

#[test]
fn unknown_types_are_refused_and_no_more() {
    for version in Version::ALL {
        let bench = Bench::listening(version, |_| {});
        for kind in [40, 99, 255] {
            let request = vec![version.wire(), kind, 0, 12, 0, 0, 0, 9, 1, 2, 3, 4];
            let result = bench.connection.apply_raw(&mut [request], SECOND);
            assert_eq!(common::refusal(result), (1, 1), "{version} {kind}");
        }
    }
}
