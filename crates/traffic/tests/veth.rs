//! Transmissions over a veth pair in a namespace of its own. Skipped, saying so, without root.

mod common;

use std::time::Duration;

use common::*;
use flowgauge_clock::Nanos;
use flowgauge_measure::Schedule;
use flowgauge_ports::Port;
use flowgauge_ports::af_packet::{AfPacketOptions, open};
use flowgauge_traffic::{Options, Sink, Stop, start};

fn ports(lab: &Lab) -> Vec<Box<dyn Port>> {
    let options = AfPacketOptions { blocks: 16, ..Default::default() };
    let open = |name| Box::new(open(name, Some(lab.netns()), options.clone()).unwrap()) as Box<dyn Port>;
    vec![open("va"), open("vb")]
}

#[test]
fn both_directions_at_once_lose_nothing() {
    let _alone = alone();
    let Some(lab) = Lab::new("both") else { return };
    let mut back = stream(2, cbr(20_000), Stop::After(MS(200)));
    back.tx_port = Some(1);
    back.sink = Sink::Port(0);
    let mut forth = stream(1, cbr(20_000), Stop::After(MS(200)));
    forth.sink = Sink::Port(1);
    let outcome = run(ports(&lab), vec![forth, back], options()).outcome;
    assert!(outcome.error.is_none());
    for stream in &outcome.streams {
        let counters = stream.account.counters();
        assert_eq!((counters.sent, counters.received, stream.misrouted), (4000, 4000, 0));
        let shortest = stream.account.latency().min_ns().unwrap();
        assert!((1..200_000).contains(&shortest), "{shortest}");
    }
    assert_eq!((outcome.rx_dropped(), outcome.tx_errors()), (0, 0));
    assert_eq!(outcome.timestamps(), "user transmit (kernel samples), kernel receive");
    assert!(outcome.ring().unwrap() > MS(100));
}

#[test]
fn as_fast_as_possible_and_the_next_trial_is_clean() {
    let _alone = alone();
    let Some(lab) = Lab::new("fast") else { return };
    let first = run(
        ports(&lab),
        vec![stream(1, Schedule::Max, Stop::After(MS(100)))],
        Options { nonce: 1, ..options() },
    );
    let counters = first.outcome.streams[0].account.counters();
    assert_eq!(counters.received + first.outcome.rx_dropped(), counters.sent);
    let second =
        run(first.ports, vec![stream(1, cbr(1000), Stop::Count(50))], Options { nonce: 2, ..options() });
    let counters = second.outcome.streams[0].account.counters();
    assert_eq!((counters.sent, counters.received, counters.corrupt), (50, 50, 0));
}

#[test]
fn an_interface_that_goes_down_in_the_middle_ends_it_with_the_reason() {
    let _alone = alone();
    for (victim, expected) in [("va", "taken down"), ("vb", "carrier")] {
        let Some(lab) = Lab::new("down") else { return };
        let mut ports = ports(&lab);
        ports.truncate(1);
        let running = start(ports, vec![stream(1, cbr(1000), Stop::UntilStopped)], options()).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        assert!(!running.is_finished());
        lab.ip(&format!("link set {victim} down"));
        assert!(running.wait(Some(Duration::from_secs(2))), "it ends by itself");
        let outcome = running.finish().outcome;
        let error = outcome.error.unwrap();
        assert_eq!(error.name(), "link-down");
        assert!(error.to_string().contains(expected), "{error}");
        assert!(outcome.streams[0].account.counters().sent > 10);
        assert!(outcome.stop > outcome.start && outcome.end - outcome.stop < Nanos::from_millis(100));
    }
}
