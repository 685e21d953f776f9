//! The ports at speed, for benchmarks beside other tools. Prints one JSON object.
//!
//! ```text
//! packet_bench tx PORT SECONDS         sends
//! packet_bench rx PORT SECONDS         counts every frame that arrives
//! packet_bench both PORT PORT SECONDS  sends out of each, and expects at the other one what it sends
//! packet_bench loop PORT PORT          the highest rate without loss from the first to the second, and the delay
//! packet_bench ring SECONDS            from one ring port to another; also with --delay-us and --loss-one-in
//!   --backend af_packet|af_xdp|dpdk|null   what PORT is: an interface, a DPDK device with its arguments, any word (default af_packet)
//!   --pps RATE [--poisson] [--skip]    a pace instead of as fast as possible; late frames are skipped instead of made up for
//!   --burst N                          the most frames that leave together, instead of 128
//!   --size BYTES  --flows N  --core N[,N]  --netns NAME  --bypass  --busy-poll-us N
//! ```
//! Every frame bears its own sequence number and time.

mod arguments;
mod backends;
mod null;
mod receive;

use flowgauge_clock::Nanos;
use flowgauge_measure::Distribution;
use flowgauge_ports::{Impaired, Impairment, Port, ring};
use flowgauge_traffic::loopback::{LoopbackOptions, measure};
use flowgauge_traffic::{Outcome, Sink, Stream, StreamOutcome, start_on};

use arguments::{Arguments, Result};

fn main() -> Result<()> {
    let arguments = Arguments::read()?;
    match arguments.word(0)? {
        "tx" => {
            let stream = arguments.stream(1, 0, arguments.seconds(2)?)?;
            transmit(&arguments, vec![arguments.open(1, false)?], vec![stream])
        }
        "rx" => receive::receive(&arguments),
        "both" => both(&arguments),
        "loop" => loopback(&arguments),
        "ring" => through_ring(&arguments),
        other => Err(format!("no mode {other:?}: tx, rx, both, loop or ring").into()),
    }
}

fn both(arguments: &Arguments) -> Result<()> {
    let ports = vec![arguments.open(1, true)?, arguments.open(2, true)?];
    let length = arguments.seconds(3)?;
    let mut streams = vec![arguments.stream(1, 0, length)?, arguments.stream(2, 1, length)?];
    (streams[0].sink, streams[1].sink) = (Sink::Port(1), Sink::Port(0));
    transmit(arguments, ports, streams)
}

fn through_ring(arguments: &Arguments) -> Result<()> {
    let (a, b) = ring::pair(1 << 13);
    let b: Box<dyn Port> = match arguments.delay_us {
        Some(us) => {
            let impairment = Impairment::new(Nanos::from_micros(us), arguments.loss_one_in);
            Box::new(Impaired::new(b, impairment))
        }
        None => Box::new(b),
    };
    let stream = arguments.stream(1, 0, arguments.seconds(1)?)?;
    transmit(arguments, vec![Box::new(a), b], vec![stream])
}

fn transmit(arguments: &Arguments, ports: Vec<Box<dyn Port>>, streams: Vec<Stream>) -> Result<()> {
    let cores: Vec<_> = arguments.cores.iter().copied().map(Some).collect();
    let finished = start_on(ports, streams, arguments.options(), &cores)?.finish();
    let mut outcome = finished.outcome;
    if let Some(error) = outcome.error.take() {
        return Err(error.into());
    }
    print(&outcome);
    Ok(())
}

fn print(outcome: &Outcome) {
    let sum = |count: fn(&StreamOutcome) -> u64| outcome.streams.iter().map(count).sum::<u64>();
    let seconds = (outcome.stop - outcome.start).as_secs_f64();
    let (mut gaps, mut delays) = (Distribution::new(), Distribution::new());
    for stream in &outcome.streams {
        gaps.merge(&stream.gap_errors.errors);
        delays.merge(stream.account.latency());
    }
    let percentile = |of: &Distribution, p| of.percentile_ns(p).map_or("null".into(), |ns| ns.to_string());
    let (sent, received) = (sum(|s| s.account.counters().sent), sum(|s| s.account.counters().received));
    println!(
        "{{\"frames\": {sent}, \"seconds\": {seconds:.6}, \"pps\": {:.1}, \"requested\": {}, \"received\": {received}, \"rx_pps\": {:.1}, \
         \"delay_p5_ns\": {}, \"delay_p50_ns\": {}, \"delay_p95_ns\": {}, \"gap_p50_ns\": {}, \"gap_p99_ns\": {}, \"gap_p999_ns\": {}, \"gap_max_ns\": {}, \"late_frames\": {}, \
         \"reordered\": {}, \"duplicated\": {}, \"corrupt\": {}, \"tx_errors\": {}, \"rx_dropped\": {}, \"stalls\": {}, \"longest_stall_ns\": {}}}",
        sent as f64 / seconds,
        sum(|s| s.requested),
        received as f64 / seconds,
        percentile(&delays, 5.0),
        percentile(&delays, 50.0),
        percentile(&delays, 95.0),
        percentile(&gaps, 50.0),
        percentile(&gaps, 99.0),
        percentile(&gaps, 99.9),
        percentile(&gaps, 100.0),
        sum(|s| s.gap_errors.late_frames),
        sum(|s| s.account.counters().reordered),
        sum(|s| s.account.counters().duplicated),
        sum(|s| s.account.counters().corrupt),
        outcome.tx_errors(),
        outcome.rx_dropped(),
        outcome.stalls.over_100us,
        outcome.stalls.longest.0,
    );
}

fn loopback(arguments: &Arguments) -> Result<()> {
    let ports = vec![arguments.open(1, true)?, arguments.open(2, true)?];
    let sizes = vec![arguments.size];
    let options = LoopbackOptions { sizes, run: arguments.options(), ..Default::default() };
    let found = measure(ports, &options).1?;
    println!(
        "{{\"max_pps\": {:.0}, \"delay_p5_ns\": {}, \"delay_ns\": {}, \"delay_p95_ns\": {}}}",
        found.max_pps[0].1, found.delay_p5_ns, found.delay_ns, found.delay_p95_ns
    );
    Ok(())
}
