//! Each parameter of the data path, and its effect in virtual time, exactly.

mod common;

use common::*;
use flowgauge_clock::Nanos;
use flowgauge_measure::Schedule;
use flowgauge_openflow::{Action, FlowMod, Instruction, Match};
use flowgauge_packet::Field;
use flowgauge_simulator::model::{
    Distribution, ForwardingModel, Kind, LinkModel, Mode, QueueModel, QueuesModel, SoftwareModel, Spread,
};
use flowgauge_simulator::{Cause, Model};
use flowgauge_traffic::{Sink, Stop, Stream};

fn linked(link: LinkModel) -> Model {
    Model { link, ..instant() }
}

fn forwarding(forwarding: ForwardingModel) -> Model {
    Model { forwarding, ..instant() }
}

fn queued(service_ns: f64, queues: QueuesModel) -> Model {
    Model { queues, ..served(service_ns) }
}

fn served(service_ns: f64) -> Model {
    forwarding(ForwardingModel { service: constant(service_ns), ..ForwardingModel::default() })
}

#[test]
fn a_link_without_rate_and_an_ideal_switch_take_no_time() {
    assert_eq!(delay_of(instant(), 1518), 0);
}

#[test]
fn rate_mbps_is_a_frames_time_on_the_cable() {
    // Stored once: 1250 bytes at 1 Gbit/s.
    let link = LinkModel { rate_mbps: 1000.0, ..LinkModel::default() };
    assert_eq!(delay_of(linked(link.clone()), 1250), 10_000);
    // Back to back, the k-th frame of a burst leaves k * (1250 + 20) bytes later, and is due at once.
    let stream = Stream { record: 9, ..sized(1250, burst(9, MS(1)), Stop::Count(9)) };
    let outcome = one(linked(link), stream);
    let left = outcome.account.departures().to_vec();
    assert!(left.windows(2).all(|pair| pair[1] - pair[0] == 10_160), "{left:?}");
    assert_eq!(outcome.gap_errors.errors.max_ns(), Some(8 * 10_160));
}

#[test]
fn propagation_ns_counts_for_both_cables() {
    let link = LinkModel { propagation_ns: 123.0, rate_mbps: 0.0, ..LinkModel::default() };
    assert_eq!(delay_of(linked(link), 64), 246);
}

#[test]
fn overhead_bytes_limit_the_rate() {
    for (overhead_bytes, rate) in [(20, 14_880_952), (0, 19_531_250)] {
        let link = LinkModel { overhead_bytes, ..LinkModel::default() };
        let outcome = one(linked(link), stream(1, Schedule::Max, Stop::After(MS(10))));
        let sent = outcome.account.counters().sent;
        assert_eq!(sent, (rate as u64).div_ceil(100), "{overhead_bytes}");
    }
}

#[test]
fn loss_of_a_link_strikes_on_both_cables() {
    let link = LinkModel { loss: 0.5, rate_mbps: 0.0, ..LinkModel::default() };
    let mut testbed = testbed(linked(link));
    let outcome = run(&mut testbed, vec![stream(1, cbr(100_000), Stop::Count(10_000))]);
    let received = outcome.streams[0].account.counters().received;
    assert!((2300..2700).contains(&received), "{received}");
    assert_eq!(testbed.ledger().dropped_by(Cause::Link), 10_000 - received);
}

#[test]
fn cut_through_waits_for_header_bytes_only() {
    let model = |mode, header_bytes| Model {
        link: LinkModel::default(),
        ..forwarding(ForwardingModel { mode, header_bytes, ..ForwardingModel::default() })
    };
    assert_eq!(delay_of(model(Mode::StoreAndForward, 64), 1500), 1200);
    assert_eq!(delay_of(model(Mode::CutThrough, 64), 1500), 51);
    assert_eq!(delay_of(model(Mode::CutThrough, 125), 1500), 100);
    assert_eq!(delay_of(model(Mode::CutThrough, 125), 100), 80, "all of a short frame");
}

#[test]
fn service_occupies_the_server() {
    assert_eq!(delay_of(served(700.0), 64), 700);
    assert_eq!(delays_of_burst(served(700.0), 4), [700, 1400, 2100, 2800]);
}

#[test]
fn pipeline_pps_is_the_least_time_between_frames() {
    let model = |service_ns| {
        let service = constant(service_ns);
        forwarding(ForwardingModel { pipeline_pps: 2e6, service, ..ForwardingModel::default() })
    };
    assert_eq!(delays_of_burst(model(100.0), 3), [500, 1000, 1500]);
    assert_eq!(delays_of_burst(model(800.0), 3), [800, 1600, 2400]);
}

#[test]
fn costs_by_size_come_in_bytes_words_and_lines() {
    let by = |edit: fn(&mut ForwardingModel)| {
        let mut model = ForwardingModel::default();
        edit(&mut model);
        forwarding(model)
    };
    let bytes = by(|f| f.per_byte_ns = 2.0);
    assert_eq!((delay_of(bytes.clone(), 64), delay_of(bytes, 65)), (128, 130));
    let words = by(|f| (f.per_word_ns, f.word_bytes) = (10.0, 4));
    assert_eq!([64, 65, 68, 69].map(|size| delay_of(words.clone(), size)), [160, 170, 170, 180]);
    let words = by(|f| f.per_word_ns = 10.0);
    assert_eq!([64, 65, 72, 73].map(|size| delay_of(words.clone(), size)), [80, 90, 90, 100]);
    let lines = by(|f| f.per_cache_line_ns = 30.0);
    assert_eq!([64, 65, 128, 129].map(|size| delay_of(lines.clone(), size)), [30, 60, 60, 90]);
    let wide = by(|f| (f.per_cache_line_ns, f.cache_line_bytes) = (30.0, 128));
    assert_eq!([128, 129].map(|size| delay_of(wide.clone(), size)), [30, 60]);
}

#[test]
fn per_table_ns_counts_the_tables_after_the_first() {
    let model = forwarding(ForwardingModel { per_table_ns: 40.0, ..ForwardingModel::default() });
    assert_eq!([1, 2, 5].map(|n| delay_through(&mut deep(model.clone(), n), 64)), [0, 40, 160]);
}

#[test]
fn latency_delays_and_does_not_hold_up() {
    let model = forwarding(ForwardingModel { latency: constant(5000.0), ..ForwardingModel::default() });
    assert_eq!(delays_of_burst(model, 4), [5000; 4]);
}

#[test]
fn jitter_of_latency_keeps_frames_in_order() {
    let latency = Distribution { mean_ns: 5000.0, std_ns: 2000.0, kind: Kind::Uniform };
    let model = forwarding(ForwardingModel { latency, ..ForwardingModel::default() });
    let outcome = one(model, stream(1, cbr(1_000_000), Stop::Count(20_000)));
    let counters = outcome.account.counters();
    assert_eq!((counters.received, counters.reordered), (20_000, 0));
    let std = outcome.account.latency().std_ns().unwrap();
    assert!((1000.0..2100.0).contains(&std), "{std}");
}

#[test]
fn loss_of_the_switch_is_counted_as_such() {
    let mut testbed = testbed(forwarding(ForwardingModel { loss: 0.1, ..ForwardingModel::default() }));
    let outcome = run(&mut testbed, vec![stream(1, cbr(100_000), Stop::Count(10_000))]);
    let lost = outcome.streams[0].account.counters().lost;
    assert!((900..1100).contains(&lost), "{lost}");
    assert_eq!(testbed.ledger().dropped_by(Cause::Loss), lost);
}

#[test]
fn batches_leave_together() {
    let model = |batch_frames, batch_ns| {
        let service = constant(100.0);
        forwarding(ForwardingModel { batch_frames, batch_ns, service, ..ForwardingModel::default() })
    };
    // The first frame finds an idle server and goes alone.
    assert_eq!(delays_of_burst(model(3, 0.0), 7), [100, 400, 400, 400, 700, 700, 700]);
    assert_eq!(delays_of_burst(model(3, 50.0), 7), [150, 500, 500, 500, 850, 850, 850]);
}

#[test]
fn batch_wait_ns_lets_a_batch_fill() {
    let model = |batch_wait_ns| {
        let service = constant(100.0);
        forwarding(ForwardingModel { batch_frames: 3, batch_wait_ns, service, ..ForwardingModel::default() })
    };
    assert_eq!(delays_of_burst(model(2000.0), 5), [300, 300, 300, 500, 500]);
    assert_eq!(delay_of(model(2000.0), 64), 2100, "nobody else came");
}

#[test]
fn service_frames_is_waiting_places_without_the_frame_in_service() {
    for k in [0, 1, 5] {
        let queues = QueuesModel { service_frames: Some(k), ..QueuesModel::default() };
        let delays = delays_of_burst(queued(1000.0, queues), 20);
        assert_eq!(delays, (1..=u64::from(k) + 1).map(|i| i * 1000).collect::<Vec<_>>());
    }
}

#[test]
fn parallel_servers_share_by_frame_port_or_flow() {
    let model = |parallel, spread| queued(1000.0, QueuesModel { parallel, spread, ..QueuesModel::default() });
    assert_eq!(delays_of_burst(model(2, Spread::Frame), 5), [1000, 1000, 2000, 2000, 3000]);
    assert_eq!(delays_of_burst(model(2, Spread::Flow), 3), [1000, 2000, 3000], "one flow, one server");
    assert_eq!(delays_of_burst(model(2, Spread::Port), 3), [1000, 2000, 3000], "one port, one server");
    let many = Stream { frames: frames(64, 64), record: 64, ..stream(1, burst(64, MS(1)), Stop::Count(64)) };
    let last = *delays(&one(model(2, Spread::Flow), many)).last().unwrap();
    assert!((33_000..45_000).contains(&last), "{last}");
}

/// Two full cables into one.
fn overload(queues: QueuesModel, queue_ids: [Option<u32>; 2]) -> (Vec<u64>, u64) {
    let mut simulation = empty(Model { queues, ..Model::default() }, 3);
    for (in_port, queue) in (1..).zip(queue_ids) {
        let to_queue = queue.map(Action::SetQueue).into_iter().chain([output(3)]).collect();
        add(&mut simulation, &FlowMod::add(1, Match::any().with(Field::InPort, in_port), to_queue));
    }
    let source = |id: u16| Stream {
        tx_port: Some(usize::from(id)),
        sink: Sink::Port(2),
        ..sized(980, Schedule::Max, Stop::After(MS(20)))
    };
    let streams = vec![Stream { id: 0, ..source(0) }, Stream { id: 1, ..source(1) }];
    let outcome = run(&mut simulation, streams);
    let received = outcome.streams.iter().map(|s| s.account.counters().received).collect();
    (received, simulation.ledger().dropped_by(Cause::OutputQueue))
}

#[test]
fn output_frames_limit_what_waits_for_a_port() {
    let (received, dropped) =
        overload(QueuesModel { output_frames: Some(50), ..QueuesModel::default() }, [None, None]);
    // 25 000 frames from each; as many leave as the cable takes in that time, and 50 after it.
    let sent = 2 * 25_000;
    assert_eq!(received.iter().sum::<u64>() + dropped, sent);
    assert!((25_000..=25_051).contains(&received.iter().sum::<u64>()), "{received:?}");
}

#[test]
fn output_queues_have_priorities_weights_and_rates() {
    let queues = |first, second| QueuesModel {
        output: vec![QueueModel { id: 1, ..first }, QueueModel { id: 2, ..second }],
        output_frames: Some(10),
        ..QueuesModel::default()
    };
    let share = |first: QueueModel, second: QueueModel| {
        let received = overload(queues(first, second), [Some(1), Some(2)]).0;
        received[0] as f64 / received.iter().sum::<u64>() as f64
    };
    let plain = QueueModel::default;
    assert!(share(QueueModel { priority: 1, ..plain() }, plain()) > 0.999);
    assert!((share(QueueModel { weight: 3, ..plain() }, plain()) - 0.75).abs() < 0.001);
    // A hundredth of a second's worth may leave at once: half as much again as 20 ms of it.
    let limited = share(QueueModel { max_mbps: 980.0, ..plain() }, plain());
    assert!((limited - 0.15).abs() < 0.002, "{limited}");
    // Half of the cable, and a hundredth of a second's worth of that at once: 10 ms of all, then half.
    let promised = share(QueueModel { min_mbps: 4880.0, ..plain() }, plain());
    assert!((promised - 0.75).abs() < 0.002, "{promised}");
}

/// Port 1 to port 2, matched by destination: software's.
fn in_software(software: SoftwareModel) -> flowgauge_simulator::Simulation {
    let mut simulation = testbed(Model { software, ..instant() });
    let to = Match::any().with(Field::EthType, 0x800).with(Field::Ipv4Dst, 0x0a00_0001);
    add(&mut simulation, &FlowMod::add(9, to, vec![output(2)]));
    simulation
}

fn slow() -> SoftwareModel {
    SoftwareModel { matches: vec!["ipv4_dst".into()], ..SoftwareModel::default() }
}

fn software_delays(software: SoftwareModel) -> Vec<u64> {
    let stream = Stream { record: 6, ..stream(1, burst(6, MS(1)), Stop::Count(6)) };
    delays(&run(&mut in_software(software), vec![stream]).streams[0])
}

#[test]
fn software_takes_what_it_matches_and_no_more() {
    let model = || SoftwareModel { service: constant(1000.0), latency: constant(300.0), ..slow() };
    assert_eq!(software_delays(model()), [1300, 2300, 3300, 4300, 5300, 6300]);
    let elsewhere = SoftwareModel { matches: vec!["ipv6_dst".into()], ..model() };
    assert_eq!(software_delays(elsewhere), [0; 6]);
    let small = SoftwareModel { frames: Some(2), ..model() };
    assert_eq!(software_delays(small), [1300, 2300, 3300]);
}

#[test]
fn set_fields_makes_an_action_softwares() {
    let software = SoftwareModel {
        set_fields: vec!["ipv4_dst".into()],
        service: constant(1000.0),
        ..SoftwareModel::default()
    };
    let mut simulation = testbed(Model { software, ..instant() });
    assert_eq!(delay_through(&mut simulation, 64), 0);
    let actions = vec![Action::set(Field::Ipv4Dst, 7), output(2)];
    let to = Match::any().with(Field::EthType, 0x800);
    let request =
        FlowMod { instructions: vec![Instruction::WriteActions(actions)], ..FlowMod::add(9, to, vec![]) };
    add(&mut simulation, &request);
    assert_eq!(delay_through(&mut simulation, 64), 1000);
}

#[test]
fn limit_pps_polices_the_software_path() {
    let software = SoftwareModel { limit_pps: 1000.0, limit_burst: 5, ..slow() };
    let mut simulation = in_software(software);
    let outcome = run(&mut simulation, vec![stream(1, cbr(10_000), Stop::After(Nanos::from_secs(1)))]);
    let counters = outcome.streams[0].account.counters();
    assert_eq!(counters.received, 1004, "5 at once, then one every millisecond until the last frame's time");
    assert_eq!(simulation.ledger().dropped_by(Cause::SoftwareLimit), counters.lost);
    let single = SoftwareModel { limit_pps: 1000.0, ..slow() };
    let outcome = run(&mut in_software(single), vec![stream(1, cbr(10_000), Stop::After(MS(100)))]);
    assert_eq!(outcome.streams[0].account.counters().received, 100);
}
