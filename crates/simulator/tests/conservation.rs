//! Whatever the switch and the streams: sent = received + dropped + queued, at every instant.

mod common;

use common::*;
use flowgauge_openflow::{
    Action, Bucket, FlowMod, GroupMod, GroupModCommand, GroupType, Match, PortNo, Version,
};
use flowgauge_packet::Field;
use flowgauge_simulator::model::{
    Distribution, ForwardingModel, Kind, LinkModel, Mode, QueueModel, QueuesModel, SoftwareModel, Spread,
};
use flowgauge_simulator::{Model, Simulation};
use flowgauge_traffic::{Sink, Stop, Stream};
use proptest::prelude::*;

const PORTS: usize = 3;

fn times(most_ns: f64) -> impl Strategy<Value = Distribution> {
    let kind = prop_oneof![
        Just(Kind::Constant),
        Just(Kind::Normal),
        Just(Kind::Exponential),
        Just(Kind::Lognormal),
        Just(Kind::Uniform)
    ];
    let none = Just(Distribution::default());
    let some = (0.0..most_ns, 0.0..most_ns, kind).prop_map(|(mean_ns, std_ns, kind)| Distribution {
        mean_ns,
        std_ns,
        kind,
    });
    prop_oneof![none, some]
}

fn places() -> impl Strategy<Value = Option<u32>> {
    prop::option::of(0u32..20)
}

fn link() -> impl Strategy<Value = LinkModel> {
    let rate = prop_oneof![Just(0.0), Just(1000.0), Just(10_000.0)];
    (rate, 0.0..2000.0, 0u32..30, prop_oneof![Just(0.0), Just(0.1)]).prop_map(
        |(rate_mbps, propagation_ns, overhead_bytes, loss)| LinkModel {
            rate_mbps,
            propagation_ns,
            overhead_bytes,
            loss,
        },
    )
}

fn forwarding() -> impl Strategy<Value = ForwardingModel> {
    let mode = prop_oneof![Just(Mode::StoreAndForward), Just(Mode::CutThrough)];
    (
        mode,
        times(3000.0),
        times(5000.0),
        1u32..6,
        prop_oneof![Just(0.0), 0.0..5000.0],
        prop_oneof![Just(0.0), Just(0.05)],
    )
        .prop_map(|(mode, service, latency, batch_frames, batch_wait_ns, loss)| ForwardingModel {
            mode,
            service,
            latency,
            batch_frames,
            batch_wait_ns,
            batch_ns: batch_wait_ns / 10.0,
            per_word_ns: 3.0,
            per_table_ns: 7.0,
            loss,
            ..ForwardingModel::default()
        })
}

fn queues() -> impl Strategy<Value = QueuesModel> {
    let spread = prop_oneof![Just(Spread::Flow), Just(Spread::Port), Just(Spread::Frame)];
    let queue = (0u32..2, 1u32..4, prop_oneof![Just(0.0), Just(100.0)]);
    let output = prop::collection::vec(queue, 0..3).prop_map(|queues| {
        let numbered = (1..).zip(queues);
        let queue =
            |(id, (priority, weight, max_mbps))| QueueModel { id, priority, weight, max_mbps, min_mbps: 0.0 };
        numbered.map(queue).collect()
    });
    (places(), 1u32..4, spread, places(), output).prop_map(
        |(service_frames, parallel, spread, output_frames, output)| QueuesModel {
            service_frames,
            parallel,
            spread,
            output_frames,
            output,
        },
    )
}

fn software() -> impl Strategy<Value = SoftwareModel> {
    let matches = prop_oneof![Just(vec![]), Just(vec!["ipv4_dst".to_owned()])];
    (matches, prop_oneof![Just(0.0), Just(50_000.0)], places(), times(9000.0), times(9000.0)).prop_map(
        |(matches, limit_pps, frames, service, latency)| SoftwareModel {
            matches,
            limit_pps,
            frames,
            service,
            latency,
            ..SoftwareModel::default()
        },
    )
}

prop_compose! {
    fn model()(link in link(), forwarding in forwarding(), queues in queues(), software in software()) -> Model {
        Model { link, forwarding, queues, software, ..Model::default() }
    }
}

/// A few destinations each to a port, to all ports, nowhere, to the controller, to a port that isn't there.
fn entries(simulation: &mut Simulation, queues: &QueuesModel) {
    let queue = queues.output.first().map(|queue| Action::SetQueue(queue.id));
    simulation.with_control(|control, around| {
        let buckets =
            (2..=3).map(|port| Bucket::new(0, vec![Action::PushVlan(0x8100), output(port)])).collect();
        let group = GroupMod::new(GroupModCommand::Add, GroupType::All, 1, buckets);
        control.change(|p| p.group_mod(&group, around.now.nanos(), &mut ())).unwrap();
        let actions = [
            queue.into_iter().chain([output(2)]).collect(),
            vec![Action::Group(1)],
            vec![],
            vec![output(PortNo::CONTROLLER.0), output(3)],
            vec![output(77)],
            vec![output(PortNo::NORMAL.0)],
        ];
        for (i, actions) in actions.into_iter().enumerate() {
            let to = Match::any().with(Field::EthType, 0x800).with(Field::Ipv4Dst, 0x0a00_0001 + i as u128);
            let request = FlowMod::add(9, to, actions);
            control.change(|p| p.flow_mod(&request, Version::V1_3, around.now.nanos(), &mut ())).unwrap();
        }
    });
}

fn streams() -> impl Strategy<Value = Vec<Stream>> {
    let schedule = prop_oneof![
        (10_000u64..3_000_000).prop_map(cbr),
        (10_000u64..3_000_000, any::<u64>()).prop_map(|(pps, seed)| poisson(pps, seed)),
        (1u32..50).prop_map(|n| burst(n, flowgauge_clock::Nanos::from_micros(20))),
    ];
    let stop = prop_oneof![Just(Stop::After(MS(1))), (1u64..500).prop_map(Stop::Count)];
    let one = (0..PORTS, schedule, stop, 1u32..9, prop_oneof![Just(64usize), Just(1518)]);
    prop::collection::vec(one, 1..4).prop_map(|all| {
        let stream = |(id, (port, schedule, stop, flows, size))| Stream {
            sink: Sink::Any,
            ..Stream::new(id, Some(port), frames(flows, size), schedule, stop)
        };
        (0..).zip(all).map(stream).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn no_frame_is_lost_track_of(model in model(), streams in streams(), seed in any::<u64>()) {
        let mut simulation = Simulation::new(model.clone(), PORTS, seed).unwrap();
        entries(&mut simulation, &model.queues);
        let again = streams.clone();
        // (Each step checks the ledger.)
        let outcome = run(&mut simulation, streams);
        let sent: u64 = outcome.streams.iter().map(|s| s.account.counters().sent).sum();
        prop_assert_eq!(simulation.ledger().sent, sent);
        for stream in &outcome.streams {
            let counters = stream.account.counters();
            prop_assert_eq!(counters.sent, counters.received + counters.lost);
            prop_assert_eq!(counters.corrupt, 0);
        }
        let second = run(&mut simulation, again);
        let ledger = simulation.ledger();
        prop_assert!(ledger.balances());
        let more: u64 = second.streams.iter().map(|s| s.account.counters().sent).sum();
        prop_assert_eq!(ledger.sent, sent + more);
    }
}
