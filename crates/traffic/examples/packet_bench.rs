//! The ports at speed, for benchmarks beside other tools. Prints one JSON object.
//!
//! ```text
//! packet_bench tx INTERFACE SECONDS [--pps RATE] [--size BYTES] [--flows N] [--core N] [--netns NAME] [--bypass]
//! packet_bench rx INTERFACE SECONDS [--core N] [--netns NAME]        counts every frame that arrives
//! packet_bench loop INTERFACE INTERFACE [--size BYTES] [--core N] [--netns NAME]
//! packet_bench ring SECONDS [--pps RATE] [--size BYTES] [--flows N] [--core N] [--delay-us N] [--loss-one-in N]
//! ```
//! All but `ring` take `--backend af_packet` (if not said otherwise) or `--backend af_xdp`.
//! Without `--pps` frames leave as fast as possible. Every frame bears its own sequence number and time.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flowgauge_clock::{Clock, Nanos};
use flowgauge_measure::{Rate, Schedule};
use flowgauge_packet::field::Field;
use flowgauge_packet::{FlowSet, FrameTemplate, Pattern, Payload};
use flowgauge_ports::{Burst, Impaired, Impairment, Port, af_packet, af_xdp, ring};
use flowgauge_traffic::loopback::{LoopbackOptions, measure};
use flowgauge_traffic::{Options, Outcome, SpinPolicy, Stop, Stream, start};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

struct Arguments {
    backend: String,
    words: Vec<String>,
    pps: Option<f64>,
    size: usize,
    flows: u32,
    core: Option<usize>,
    netns: Option<PathBuf>,
    bypass: bool,
    delay_us: Option<u64>,
    loss_one_in: u64,
}

impl Arguments {
    fn read() -> Result<Arguments> {
        let mut found = Arguments {
            backend: "af_packet".into(),
            words: vec![],
            pps: None,
            size: 64,
            flows: 1,
            core: None,
            netns: None,
            bypass: false,
            delay_us: None,
            loss_one_in: 0,
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--backend" => found.backend = value()?,
                "--pps" => found.pps = Some(value()?.parse()?),
                "--size" => found.size = value()?.parse()?,
                "--flows" => found.flows = value()?.parse()?,
                "--core" => found.core = Some(value()?.parse()?),
                "--delay-us" => found.delay_us = Some(value()?.parse()?),
                "--loss-one-in" => found.loss_one_in = value()?.parse()?,
                "--bypass" => found.bypass = true,
                "--netns" => found.netns = Some(value()?.into()),
                _ => found.words.push(word),
            }
        }
        Ok(found)
    }

    fn word(&self, i: usize) -> Result<&str> {
        self.words.get(i).map(String::as_str).ok_or("too few arguments: see the head of this example".into())
    }

    fn seconds(&self, i: usize) -> Result<Nanos> {
        Ok(Nanos::from_secs_f64(self.word(i)?.parse()?))
    }

    fn open(&self, i: usize, receive: bool) -> Result<Box<dyn Port>> {
        let (interface, netns) = (self.word(i)?, self.netns.as_deref());
        match self.backend.as_str() {
            "af_packet" => {
                let options =
                    af_packet::AfPacketOptions { receive, qdisc_bypass: self.bypass, ..Default::default() };
                Ok(Box::new(af_packet::open(interface, netns, options)?))
            }
            "af_xdp" => {
                let options = af_xdp::AfXdpOptions { receive, ..Default::default() };
                Ok(Box::new(af_xdp::open(interface, netns, options)?))
            }
            other => Err(format!("no backend {other:?}: af_packet or af_xdp").into()),
        }
    }

    fn options(&self) -> Options {
        let spin = SpinPolicy::Spin;
        Options {
            nonce: 77,
            core: self.core,
            spin,
            drain: Some(Nanos::from_millis(50)),
            ..Default::default()
        }
    }

    fn stream(&self, length: Nanos) -> Result<Stream> {
        let destinations = Pattern::Increment { start: 0x0a00_0001, step: 1, mask: 0xffff };
        let flows = FlowSet::new(self.flows, vec![(Field::Ipv4Dst, destinations)])?;
        let template = Arc::new(FrameTemplate::new(&flows, self.size, Payload::Zero)?);
        let schedule = match self.pps {
            Some(pps) => Schedule::Cbr { rate: Rate::from_f64(pps)? },
            None => Schedule::Max,
        };
        Ok(Stream::new(1, Some(0), template, schedule, Stop::After(length)))
    }
}

fn main() -> Result<()> {
    let arguments = Arguments::read()?;
    match arguments.word(0)? {
        "tx" => transmit(&arguments, vec![arguments.open(1, false)?], arguments.seconds(2)?),
        "rx" => receive(&arguments),
        "loop" => loopback(&arguments),
        "ring" => {
            let (a, b) = ring::pair(1 << 13);
            let b: Box<dyn Port> = match arguments.delay_us {
                Some(us) => {
                    let impairment = Impairment::new(Nanos::from_micros(us), arguments.loss_one_in);
                    Box::new(Impaired::new(b, impairment))
                }
                None => Box::new(b),
            };
            transmit(&arguments, vec![Box::new(a), b], arguments.seconds(1)?)
        }
        other => Err(format!("no mode {other:?}: tx, rx, loop or ring").into()),
    }
}

fn transmit(arguments: &Arguments, ports: Vec<Box<dyn Port>>, length: Nanos) -> Result<()> {
    let finished = start(ports, vec![arguments.stream(length)?], arguments.options())?.finish();
    let mut outcome = finished.outcome;
    if let Some(error) = outcome.error.take() {
        return Err(error.into());
    }
    print(&outcome);
    Ok(())
}

fn print(outcome: &Outcome) {
    let stream = &outcome.streams[0];
    let (counters, seconds) = (stream.account.counters(), stream.elapsed().as_secs_f64());
    let gap = |p| stream.gap_errors.errors.percentile_ns(p).map_or("null".into(), |ns| ns.to_string());
    let delay = |p| stream.account.latency().percentile_ns(p).map_or("null".into(), |ns| ns.to_string());
    println!(
        "{{\"frames\": {}, \"seconds\": {seconds:.6}, \"pps\": {:.1}, \"requested\": {}, \"received\": {}, \
         \"delay_p5_ns\": {}, \"delay_p50_ns\": {}, \"delay_p95_ns\": {}, \"gap_p50_ns\": {}, \"gap_p99_ns\": {}, \"gap_p999_ns\": {}, \"gap_max_ns\": {}, \"late_frames\": {}, \
         \"tx_errors\": {}, \"rx_dropped\": {}, \"stalls\": {}, \"longest_stall_ns\": {}}}",
        counters.sent,
        counters.sent as f64 / seconds,
        stream.requested,
        counters.received,
        delay(5.0),
        delay(50.0),
        delay(95.0),
        gap(50.0),
        gap(99.0),
        gap(99.9),
        gap(100.0),
        stream.gap_errors.late_frames,
        outcome.tx_errors(),
        outcome.rx_dropped(),
        outcome.stalls.over_100us,
        outcome.stalls.longest.0,
    );
}

static ENDED: AtomicBool = AtomicBool::new(false);

extern "C" fn ended(_: libc::c_int) {
    ENDED.store(true, Ordering::Relaxed);
}

/// With the accounting of a trial: probes of any nonce count as ours, so that any sender of them will do.
fn receive(arguments: &Arguments) -> Result<()> {
    let mut port = arguments.open(1, true)?;
    let length = arguments.seconds(2)?;
    // SAFETY: the handler only stores a flag.
    unsafe { libc::signal(libc::SIGTERM, ended as *const () as libc::sighandler_t) };
    let mut counter = account::Counter::new(arguments.core);
    let (mut burst, begun) = (Burst::new(), Clock.now());
    let before = port.stats();
    let end = begun + length;
    let mut turns = 0u32;
    loop {
        let n = port.rx(&mut burst, 64)?;
        let now = Clock.now();
        burst.iter().for_each(|slot| counter.frame(slot.bytes(), slot.stamp().unwrap_or(now)));
        port.free(&mut burst);
        turns = turns.wrapping_add(1);
        if n == 0 {
            // The ring lasts a thousand times longer; the sender needs the machine more.
            std::thread::sleep(std::time::Duration::from_micros(200));
        }
        if (n == 0 || turns % 64 == 0) && (Clock.now() >= end || ENDED.load(Ordering::Relaxed)) {
            break;
        }
    }
    let stats = port.stats().since(before);
    println!(
        "{{\"received\": {}, \"dropped\": {}, \"seconds\": {:.6}, {}}}",
        stats.rx_frames,
        stats.rx_dropped,
        (Clock.now() - begun).as_secs_f64(),
        counter.json()
    );
    Ok(())
}

mod account {
    //! Full accounting of whatever probes arrive.

    use flowgauge_clock::Nanos;
    use flowgauge_measure::{Account, AccountOptions, Probe};

    pub struct Counter {
        account: Account,
        foreign: u64,
        first: Option<(Nanos, Nanos)>,
    }

    impl Counter {
        pub fn new(core: Option<usize>) -> Counter {
            if let Some(core) = core {
                // SAFETY: all zeros is an empty set, which outlives the call.
                unsafe {
                    let mut set: libc::cpu_set_t = std::mem::zeroed();
                    libc::CPU_SET(core, &mut set);
                    libc::sched_setaffinity(0, size_of_val(&set), &set);
                }
            }
            let options = AccountOptions { expected: 1 << 24, sent_here: false, ..Default::default() };
            Counter { account: Account::new(options), foreign: 0, first: None }
        }

        /// Delays are counted from the first frame's, as the sender's origin is not known here.
        #[inline]
        pub fn frame(&mut self, frame: &[u8], at: Nanos) {
            match frame.get(42..).map(Probe::read) {
                Some(Ok(probe)) => {
                    let (left, arrived) = *self.first.get_or_insert((probe.time, at));
                    let left = arrived + Nanos::from_millis(1) + (probe.time - left);
                    self.account.arrived(probe.seq, left, at + Nanos::from_millis(1));
                }
                Some(Err(_)) | None => self.foreign += 1,
            }
        }

        pub fn json(&mut self) -> String {
            self.account.set_sent(0);
            let c = self.account.counters();
            format!(
                "\"probes\": {}, \"lost\": {}, \"duplicated\": {}, \"reordered\": {}, \"foreign\": {}",
                c.received, c.lost, c.duplicated, c.reordered, self.foreign
            )
        }
    }
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
