//! What each parameter of the control path does, to the picosecond.

use flowgauge_channel::wire;
use flowgauge_openflow::{Body, Message, PacketOut, PortNo, Version, decode, encode, syntax};
use flowgauge_packet::FlowKey;

use super::*;
use crate::model::Model;

/// A control plane whose messages are timed.
struct Bench {
    plane: ControlPlane,
    now: Picos,
    /// When what was said came: its type, transaction id, time.
    said: Vec<(u8, u32, Picos)>,
    /// When frames left.
    left: Vec<Picos>,
}

impl Bench {
    fn new(toml_as_json: &str) -> Bench {
        let model = Model::from_json(toml_as_json).unwrap();
        let mut plane = ControlPlane::new(&model, 2, 1);
        plane.connect(Version::V1_3);
        Bench { plane, now: Picos::ZERO, said: Vec::new(), left: Vec::new() }
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
    for _ in 0..5 {
        let admits = bench.plane.admits_punt(bench.now);
        if admits {
            let key = FlowKey::parse(&[0; 60], 1);
            let (reason, bytes) = (PacketInReason::Action, vec![0; 60]);
            let punted = Punted { bytes, max_len: Some(0xffff), reason, table_id: 0, cookie: 0, key };
            bench.within(|plane, around| plane.punt(punted, around));
        }
    }
    bench.run();
    let came: Vec<Picos> = bench.said.iter().filter(|s| s.0 == wire::PACKET_IN).map(|s| s.2).collect();
    assert_eq!(came, [1 + 10 + 3, 1 + 20 + 3, 1 + 30 + 3].map(us));
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
    let ask = |body| Body::MultipartRequest(flowgauge_openflow::MultipartRequest::new(body));
    bench.run_until(us(1));
    bench.send(8, ask(flowgauge_openflow::RequestBody::Aggregate(Default::default())));
    bench.send(9, ask(flowgauge_openflow::RequestBody::Desc));
    bench.run();
    assert_eq!((bench.answered(8), bench.answered(9)), (us(8), us(8)));
}
