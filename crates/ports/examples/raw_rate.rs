//! A backend on its own, without the engine: frames per second that it sends, or receives without loss.
//!
//! `raw_rate tx|rx INTERFACE [--backend af_xdp|af_packet] [--netns NAME] [--seconds 3] [--size 64] [--pps 0] [--rx-frames 32768]`
//!
//! Each frame carries a sequence number, which the receiver checks. `--pps 0` sends as fast as it goes. Prints one line of
//! JSON; `per_cpu_second` is what a core of one's own would have done, on a machine that others use too.

use std::path::PathBuf;

use flowgauge_clock::{Clock, Nanos};
use flowgauge_ports::{BURST, Burst, Port, PortError, PortStats, af_packet, af_xdp};

/// Where the sequence number lies, behind an Ethernet header with a type for experiments.
const SEQUENCE: std::ops::Range<usize> = 14..22;
const HEADER: [u8; 14] = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 0x88, 0xb5];

struct Arguments {
    sends: bool,
    interface: String,
    backend: String,
    netns: Option<PathBuf>,
    seconds: f64,
    size: usize,
    pps: u64,
    rx_frames: u32,
}

fn main() {
    let result =
        arguments().and_then(|arguments| run(&arguments).map_err(|e| format!("{e}; {}", e.advice())));
    if let Err(reason) = result {
        eprintln!("{reason}");
        std::process::exit(1);
    }
}

fn arguments() -> Result<Arguments, String> {
    let mut words = std::env::args().skip(1);
    let usage = "usage: raw_rate tx|rx INTERFACE [--OPTION VALUE]...";
    let sends = match words.next().as_deref() {
        Some("tx") => true,
        Some("rx") => false,
        _ => return Err(usage.into()),
    };
    let mut arguments = Arguments {
        sends,
        interface: words.next().ok_or(usage)?,
        backend: "af_xdp".into(),
        netns: None,
        seconds: 3.0,
        size: 64,
        pps: 0,
        rx_frames: 1 << 15,
    };
    while let Some(option) = words.next() {
        let value = words.next().ok_or(usage)?;
        let bad = |_| format!("{option} does not take {value:?}");
        match option.as_str() {
            "--backend" => arguments.backend = value,
            "--netns" => arguments.netns = Some(value.into()),
            "--seconds" => arguments.seconds = value.parse().map_err(|_| bad(()))?,
            "--size" => arguments.size = value.parse::<usize>().map_err(|_| bad(()))?.max(64),
            "--pps" => arguments.pps = value.parse().map_err(|_| bad(()))?,
            "--rx-frames" => arguments.rx_frames = value.parse().map_err(|_| bad(()))?,
            _ => return Err(usage.into()),
        }
    }
    Ok(arguments)
}

fn open(arguments: &Arguments) -> Result<Box<dyn Port>, PortError> {
    let (interface, netns) = (&arguments.interface, arguments.netns.as_deref());
    let receive = !arguments.sends;
    if arguments.backend == "af_packet" {
        let options = af_packet::AfPacketOptions { receive, ..Default::default() };
        return Ok(Box::new(af_packet::open(interface, netns, options)?));
    }
    let options = af_xdp::AfXdpOptions { receive, rx_frames: arguments.rx_frames, ..Default::default() };
    Ok(Box::new(af_xdp::open(interface, netns, options)?))
}

fn run(arguments: &Arguments) -> Result<(), PortError> {
    let mut port = open(arguments)?;
    let lasts = Nanos::from_secs_f64(arguments.seconds);
    let before = cpu_seconds();
    let (elapsed, gaps) = if arguments.sends {
        (send(&mut *port, lasts, arguments)?, None)
    } else {
        let (elapsed, gaps) = receive(&mut *port, lasts)?;
        (elapsed, Some(gaps))
    };
    let cpu = cpu_seconds() - before;
    let PortStats { tx_frames, tx_errors, rx_frames, rx_dropped, .. } = port.stats();
    let frames = tx_frames + rx_frames;
    let rate = frames as f64 / elapsed.as_secs_f64().max(1e-9);
    let gaps = gaps.map_or("null".into(), |gaps| gaps.to_string());
    println!(
        "{{\"port\": \"{}\", \"frames\": {frames}, \"pps\": {rate:.0}, \"per_cpu_second\": {:.0}, \
         \"tx_errors\": {tx_errors}, \"dropped\": {rx_dropped}, \"missing\": {gaps}}}",
        port.describe(),
        frames as f64 / cpu,
    );
    Ok(())
}

/// Seconds of processor time that this process has had.
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills `time`.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Sends for that long; how long it took.
fn send(port: &mut dyn Port, lasts: Nanos, arguments: &Arguments) -> Result<Nanos, PortError> {
    let (clock, len) = (Clock, arguments.size - 4);
    let (start, mut burst) = (clock.now(), Burst::new());
    let mut next = 0u64;
    loop {
        let elapsed = clock.now() - start;
        if elapsed >= lasts {
            return Ok(elapsed);
        }
        let due = match arguments.pps {
            0 => u64::MAX,
            pps => (elapsed.0 as u128 * pps as u128 / 1_000_000_000) as u64,
        };
        let wanted = (due.saturating_sub(next)).min((BURST - burst.len()) as u64) as usize;
        let from = burst.len();
        port.alloc(&mut burst, wanted);
        for slot in &mut burst[from..] {
            slot.set_len(len);
            slot.bytes_mut()[..14].copy_from_slice(&HEADER);
            slot.bytes_mut()[SEQUENCE].copy_from_slice(&next.to_be_bytes());
            next += 1;
        }
        port.tx(&mut burst)?;
        port.flush()?;
    }
}

/// Receives for that long, or until half a second after the last frame; how long the frames came for, and how many were
/// missing from the sequence.
fn receive(port: &mut dyn Port, lasts: Nanos) -> Result<(Nanos, u64), PortError> {
    let (clock, mut burst) = (Clock, Burst::new());
    let (start, mut first, mut last) = (clock.now(), None, Nanos::ZERO);
    let (mut next, mut missing) = (0u64, 0u64);
    loop {
        let now = clock.now();
        if now - start >= lasts || (first.is_some() && now - last > Nanos::from_millis(500)) {
            return Ok((last - first.unwrap_or(last), missing));
        }
        if port.rx(&mut burst, BURST)? == 0 {
            continue;
        }
        for slot in burst.iter().filter(|slot| slot.bytes().starts_with(&HEADER)) {
            let bytes = slot.bytes()[SEQUENCE].try_into().expect("eight bytes");
            let sequence = u64::from_be_bytes(bytes);
            missing += sequence.saturating_sub(next);
            next = sequence + 1;
        }
        first.get_or_insert(now);
        last = now;
        port.free(&mut burst);
    }
}
