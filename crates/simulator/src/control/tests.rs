//! What each parameter of the control path does, to the picosecond.

use flowgauge_channel::wire;
use flowgauge_datapath::{Datapath, Frame};
use flowgauge_openflow::{
    Body, FlowMod, FlowModCommand, Message, MultipartRequest, PacketOut, PortNo, ReplyBody, RequestBody,
    Version, decode, encode, syntax,
};
use flowgauge_packet::FlowKey;

use super::*;
use crate::model::Model;

/// A control plane whose messages are timed.
struct Bench {
    plane: ControlPlane,
    now: Picos,
    /// When what was said came: its type, transaction id, time.
    said: Vec<(u8, u32, Picos)>,
    /// The same: its transaction id, and what it says.
    bodies: Vec<(u32, Body)>,
    /// When frames left.
    left: Vec<Picos>,
}

impl Bench {
    fn new(toml_as_json: &str) -> Bench {
        let model = Model::from_json(toml_as_json).unwrap();
        let mut plane = ControlPlane::new(&model, 2, 1);
        plane.connect(Version::V1_3);
        Bench { plane, now: Picos::ZERO, said: Vec::new(), bodies: Vec::new(), left: Vec::new() }
    }

    fn within<R>(&mut self, work: impl FnOnce(&mut ControlPlane, &mut Surroundings<'_>) -> R) -> R {
        let mut emissions = Vec::new();
        let queues = |_: u32, _: Picos| Vec::new();
        let mut around =
            Surroundings { now: self.now, ports: &[], queues: &queues, emissions: &mut emissions };
        let result = work(&mut self.plane, &mut around);
        self.left.extend(emissions.iter().map(|_| self.now));
        for Delivered { at, bytes } in self.plane.take_delivered() {
            let (_, message) = decode(&bytes).unwrap();
            self.said.push((bytes[1], message.xid, at));
            self.bodies.push((message.xid, message.body));
        }
        result
    }

    fn send(&mut self, xid: u32, body: Body) -> usize {
        let mut bytes = Vec::new();
        encode(&Message::new(xid, body), Version::V1_3, &mut bytes).unwrap();
        self.within(|plane, around| plane.message_in(&bytes, around));
        bytes.len()
    }

    fn add(&mut self, xid: u32, text: &str) {
        self.send(xid, Body::FlowMod(syntax::parse_flow(text).unwrap()));
    }

    fn run_until(&mut self, at: Picos) {
        while self.plane.next_event() <= at {
            self.now = self.plane.next_event().max(self.now);
            self.within(|plane, around| plane.run(around));
        }
        self.now = at;
    }

    fn run(&mut self) {
        self.run_until(Picos::from_secs(100));
    }

    /// A frame is to go to the controller, if there is room.
    fn punt(&mut self) {
        if self.plane.admits_punt(self.now) {
            let key = FlowKey::parse(&[0; 60], 1);
            let (reason, bytes) = (PacketInReason::Action, vec![0; 60]);
            let punted = Punted { bytes, max_len: Some(0xffff), reason, table_id: 0, cookie: 0, key };
            self.within(|plane, around| plane.punt(punted, around));
        }
    }

    fn punts_came(&self) -> Vec<Picos> {
        self.said.iter().filter(|said| said.0 == wire::PACKET_IN).map(|said| said.2).collect()
    }

    /// When the answer with that transaction id came.
    fn answered(&self, xid: u32) -> Picos {
        self.said.iter().find(|said| said.1 == xid).expect("it was answered").2
    }

    fn entries(&mut self) -> usize {
        self.plane.pipeline().tables()[0].len()
    }
}

const fn us(n: u64) -> Picos {
    Picos::from_micros(n)
}

#[test]
fn the_channel_delays_and_has_a_speed_in_both_directions() {
    let mut bench = Bench::new(r#"{"control": {"delay": {"mean_ns": 5000}, "rate_mbps": 8}}"#);
    // 16 bytes up and down at 1 byte per us.
    assert_eq!(bench.send(1, Body::EchoRequest(vec![0; 8])), 16);
    bench.send(2, Body::EchoRequest(vec![0; 8]));
    bench.run();
    assert_eq!((bench.answered(1), bench.answered(2)), (us(2 * (16 + 5)), us(16 + 2 * (16 + 5))));
}

#[test]
fn the_processor_takes_its_time_for_each_message_in_turn() {
    let mut bench = Bench::new(
        r#"{"control": {"message": {"mean_ns": 1000}, "echo": {"mean_ns": 2000}, "flow_mod": {"mean_ns": 4000}}}"#,
    );
    bench.send(1, Body::EchoRequest(vec![]));
    bench.add(2, "in_port=1,actions=output:2");
    bench.send(3, Body::BarrierRequest);
    bench.run();
    assert_eq!((bench.answered(1), bench.answered(3)), (us(3), us(3 + 5 + 1)));
}

#[test]
fn a_write_takes_longer_the_more_the_table_holds_and_the_more_it_moves() {
    let model = r#"{"table": {"write": {"mean_ns": 10000}, "per_entry_ns": 1000, "shift_ns": 100000}}"#;
    let mut bench = Bench::new(model);
    for (n, priority) in [(1, 5), (2, 4), (3, 6)] {
        bench.add(n, &format!("priority={priority},tcp,tp_dst={n},actions=drop"));
        bench.send(10 + n, Body::BarrierRequest);
    }
    bench.run();
    // The second moves nothing, the third both.
    let expected = [10, 10 + 11, 10 + 11 + 12 + 200].map(us);
    assert_eq!([11, 12, 13].map(|xid| bench.answered(xid)), expected);
}

#[test]
fn a_write_counts_entries_that_are_written_and_not_yet_active() {
    let times = |lag: u64, copies: bool| {
        let mut bench = Bench::new(&format!(
            r#"{{"table": {{"write": {{"mean_ns": 10000}}, "per_entry_ns": 1000, "lag": {{"mean_ns": {lag}}}, "double_buffered": {copies}}}}}"#
        ));
        for n in 1..=4 {
            bench.add(n, &format!("tcp,tp_dst={n},actions=drop"));
        }
        // What waits for the tables adds no entry.
        bench.send(5, Body::BarrierRequest);
        bench.run();
        bench.answered(5)
    };
    let writes = 10 + 11 + 12 + 13;
    assert_eq!(times(0, false), us(writes));
    // Later than all writes, between two writes, shorter than one.
    assert_eq!(
        [5_000_000, 15_000, 3_000].map(|lag| times(lag, false)),
        [5000, 15, 3].map(|lag| us(writes + lag))
    );
    assert_eq!(times(5_000_000, true), us(writes + 5000));
}

#[test]
fn a_delete_counts_for_the_writes_behind_it() {
    let model =
        r#"{"table": {"write": {"mean_ns": 10000}, "per_entry_ns": 1000, "lag": {"mean_ns": 1000000}}}"#;
    let mut bench = Bench::new(model);
    for n in 1..=3 {
        bench.add(n, &format!("tcp,tp_dst={n},actions=drop"));
    }
    bench.run_until(Picos::from_millis(10));
    for n in 1..=3 {
        let command = FlowModCommand::DeleteStrict;
        let request =
            FlowMod { command, ..syntax::parse_flow(&format!("tcp,tp_dst={n},actions=drop")).unwrap() };
        bench.send(3 + n, Body::FlowMod(request));
    }
    bench.send(7, Body::BarrierRequest);
    bench.run();
    assert_eq!(bench.answered(7), Picos::from_millis(11) + us(13 + 12 + 11));
}

#[test]
fn an_honest_barrier_waits_for_the_hardware_and_a_premature_one_does_not() {
    for (barrier, expected) in [("honest", us(10 + 500)), ("premature", us(0))] {
        let mut bench = Bench::new(&format!(
            r#"{{"table": {{"write": {{"mean_ns": 10000}}, "lag": {{"mean_ns": 500000}}}}, "control": {{"barrier": "{barrier}"}}}}"#
        ));
        bench.add(1, "in_port=1,actions=output:2");
        bench.send(2, Body::BarrierRequest);
        bench.run_until(us(509));
        assert_eq!(bench.entries(), 0, "{barrier}");
        bench.run_until(us(510));
        assert_eq!((bench.entries(), bench.answered(2)), (1, expected), "{barrier}");
    }
}

#[test]
fn two_copies_take_over_together_and_double_the_work() {
    let mut bench = Bench::new(r#"{"table": {"write": {"mean_ns": 10000}, "double_buffered": true}}"#);
    for n in 1..=3 {
        bench.add(n, &format!("tcp,tp_dst={n},actions=drop"));
    }
    bench.run_until(us(29));
    assert_eq!(bench.entries(), 0);
    bench.run_until(us(30));
    assert_eq!(bench.entries(), 3);
    // The other copy is written until 60 us; then this one.
    bench.add(4, "tcp,tp_dst=4,actions=drop");
    bench.send(5, Body::BarrierRequest);
    bench.run();
    assert_eq!(bench.answered(5), us(70));
}

#[test]
fn full_tables_refuse_or_evict_and_wide_matches_take_more_places() {
    let errors = |json: &str, texts: &[&str]| {
        let mut bench = Bench::new(json);
        for (xid, text) in (1..).zip(texts) {
            bench.add(xid, text);
        }
        bench.run();
        let refused: Vec<u32> = bench.said.iter().filter(|s| s.0 == wire::ERROR).map(|s| s.1).collect();
        (refused, bench.entries())
    };
    let narrow = ["in_port=1,actions=drop", "in_port=2,actions=drop", "in_port=3,actions=drop"];
    assert_eq!(errors(r#"{"table": {"entries": 2}}"#, &narrow), (vec![3], 2));
    assert_eq!(errors(r#"{"table": {"entries": 2, "evicts": true}}"#, &narrow), (vec![], 2));
    // 48 bits take two places of 40, 32 take one; what replaces an entry takes none.
    let wide = [
        "dl_src=02:00:00:00:00:01,actions=drop",
        "in_port=1,actions=drop",
        "in_port=1,actions=output:2",
        "in_port=2,actions=drop",
    ];
    assert_eq!(errors(r#"{"table": {"entries": 3, "place_bits": 40}}"#, &wide), (vec![4], 2));
}

#[test]
fn packet_outs_have_a_queue_that_holds_up_the_channel_or_loses_them() {
    let path = r#""packet_out": {"messages": 1, "service": {"mean_ns": 10000}, "per_byte_ns": 1000, "latency": {"mean_ns": 3000}"#;
    for (lossy, expected) in [(false, 4), (true, 2)] {
        let mut bench = Bench::new(&format!(r#"{{"control": {{{path}, "lossy": {lossy}}}}}}}"#));
        let mut length = 0;
        for xid in 1..=4 {
            let out = PacketOut::to_port(PortNo(2), vec![0; 60]);
            length = bench.send(xid, Body::PacketOut(out)) as u64;
        }
        bench.run();
        let service = 10 + length;
        let times: Vec<Picos> = (1..=expected).map(|n| us(n * service + 3)).collect();
        assert_eq!(bench.left, times, "lossy {lossy}");
    }
}

#[test]
fn packet_ins_have_a_queue_and_are_lost_when_it_is_full() {
    let mut bench = Bench::new(
        r#"{"control": {"packet_in": {"messages": 2, "service": {"mean_ns": 10000}, "latency": {"mean_ns": 3000}}}}"#,
    );
    bench.add(1, "priority=0,actions=CONTROLLER:65535");
    bench.run_until(us(1));
    (0..5).for_each(|_| bench.punt());
    bench.run();
    assert_eq!(bench.punts_came(), [1 + 10 + 3, 1 + 20 + 3, 1 + 30 + 3].map(us));
    assert_eq!(bench.plane.packet_ins_lost(), 2);
}

#[test]
fn the_window_closes_while_messages_wait_and_a_restart_forgets_everything() {
    let mut bench = Bench::new(
        r#"{"control": {"window_bytes": 100, "message": {"mean_ns": 1000000}, "delay": {"mean_ns": 1000}, "restart_s": 0.5}}"#,
    );
    assert_eq!((bench.plane.window(), bench.plane.acknowledged()), (100, 0));
    bench.send(1, Body::EchoRequest(vec![0; 72]));
    assert_eq!((bench.plane.window(), bench.plane.acknowledged(), bench.plane.written()), (20, 0, 80));
    bench.run_until(us(1));
    assert_eq!((bench.plane.window(), bench.plane.acknowledged()), (20, 80));
    bench.run_until(us(1001));
    assert_eq!(bench.plane.window(), 100);
    bench.add(2, "in_port=1,actions=drop");
    bench.run_until(us(10_000));
    assert_eq!(bench.entries(), 1);
    bench.run();
    assert_eq!((bench.entries(), bench.plane.restarted()), (0, Some(Picos::from_millis(500))));
}

#[test]
fn statistics_take_time_by_entry() {
    let mut bench = Bench::new(r#"{"statistics": {"per_entry_ns": 1000}}"#);
    for n in 1..=7 {
        bench.add(n, &format!("tcp,tp_dst={n},actions=drop"));
    }
    let ask = |body| Body::MultipartRequest(MultipartRequest::new(body));
    bench.run_until(us(1));
    bench.send(8, ask(RequestBody::Aggregate(Default::default())));
    bench.send(9, ask(RequestBody::Desc));
    bench.run();
    assert_eq!((bench.answered(8), bench.answered(9)), (us(8), us(8)));
}

#[test]
fn packet_ins_share_the_processor_with_writes() {
    let mut bench = Bench::new(
        r#"{"table": {"write": {"mean_ns": 1000000}}, "control": {"packet_in_share": 0.25, "packet_in": {"service": {"mean_ns": 10000}}}}"#,
    );
    bench.add(1, "in_port=1,actions=output:2");
    bench.send(99, Body::BarrierRequest);
    bench.run_until(us(100));
    // Served for 10 us, in their way for 40 us each.
    (0..3).for_each(|_| bench.punt());
    bench.run_until(us(2000));
    assert_eq!(bench.punts_came(), [110, 150, 190].map(us));
    assert_eq!(bench.answered(99), us(1000 + 3 * 10));
    // While nothing is written they have it for themselves.
    (0..2).for_each(|_| bench.punt());
    bench.run();
    assert_eq!(bench.punts_came()[3..], [2010, 2020].map(us));
}

#[test]
fn packet_outs_wait_for_buffers_and_for_room() {
    // A message of 100 bytes: 40 of its own, 60 of the frame.
    let buffers = r#""buffers": 2, "buffer_hold_ns": 1000000"#;
    let room = r#""bytes": 150, "bytes_overhead": 50, "service": {"mean_ns": 1000}"#;
    for (path, expected) in [(buffers, [0, 0, 1000, 1000, 2000]), (room, [1, 2, 3, 4, 5])] {
        let mut bench = Bench::new(&format!(r#"{{"control": {{"packet_out": {{{path}}}}}}}"#));
        for xid in 1..=5 {
            assert_eq!(bench.send(xid, Body::PacketOut(PacketOut::to_port(PortNo(2), vec![0; 60]))), 100);
        }
        bench.run();
        assert_eq!(bench.left, expected.map(us), "{path}");
    }
}

#[test]
fn counters_are_told_as_last_read_and_in_their_resolution() {
    let told = |statistics: &str, at: Picos| {
        let mut bench = Bench::new(&format!(r#"{{"statistics": {{{statistics}}}}}"#));
        bench.add(1, "in_port=1,actions=output:2");
        bench.run_until(us(100));
        for _ in 0..3 {
            let frame = Frame { bytes: &[0; 60], in_port: 1 };
            bench.plane.pipeline().process(&[frame], bench.now.nanos(), &mut ());
        }
        bench.run_until(at);
        let ask = |body| Body::MultipartRequest(MultipartRequest::new(body));
        bench.send(2, ask(RequestBody::Flow(Default::default())));
        bench.send(3, ask(RequestBody::Aggregate(Default::default())));
        bench.run_until(at);
        let counts = |xid| match bench.bodies.iter().find(|(of, _)| *of == xid).map(|(_, body)| body) {
            Some(Body::MultipartReply(reply)) => match &reply.body {
                ReplyBody::Flow(entries) => (entries[0].packet_count, entries[0].byte_count),
                ReplyBody::Aggregate(sum) => (sum.packet_count, sum.byte_count),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        };
        assert_eq!(counts(2), counts(3), "{statistics}");
        counts(2)
    };
    assert_eq!(told("", us(500)), (3, 180));
    assert_eq!(told(r#""resolution": "bytes""#, us(500)), (0, 180));
    assert_eq!(told(r#""resolution": "packets""#, us(500)), (3, 0));
    let before = Picos(us(1000).0 - 1);
    assert_eq!([before, us(1000)].map(|at| told(r#""refresh_ms": 1"#, at)), [(0, 0), (3, 180)]);
    assert_eq!(told(r#""refresh_ms": 1, "resolution": "bytes""#, us(1000)), (0, 180));
}
