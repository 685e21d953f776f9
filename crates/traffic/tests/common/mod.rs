//! Streams over ring ports, with a device in the middle that tests can bend.
#![allow(dead_code, reason = "each test file uses its part")]

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use flowgauge_clock::Nanos;
use flowgauge_measure::{Rate, Schedule};
use flowgauge_packet::field::Field;
use flowgauge_packet::{FlowSet, FrameTemplate, Pattern, Payload};
use flowgauge_ports::ring::RingPort;
use flowgauge_ports::{Burst, Port, PortError, forward};
use flowgauge_traffic::{Finished, Options, Stop, Stream, start};

/// Loops that spin disturb each other: one test at a time.
pub fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Frames of 64 bytes to `flows` destinations.
pub fn template(flows: u32) -> Arc<FrameTemplate> {
    let destinations = Pattern::Increment { start: 0x0a00_0001, step: 1, mask: 0xffff_ffff };
    let flows = FlowSet::new(flows, vec![(Field::Ipv4Dst, destinations)]).unwrap();
    Arc::new(FrameTemplate::new(&flows, 64, Payload::Zero).unwrap())
}

pub fn cbr(pps: u64) -> Schedule {
    Schedule::Cbr { rate: Rate::new(pps as u128, 1).unwrap() }
}

/// A stream from port 0.
pub fn stream(id: u16, schedule: Schedule, stop: Stop) -> Stream {
    Stream::new(id, Some(0), template(1), schedule, stop)
}

pub fn options() -> Options {
    Options { nonce: 0x1234, ..Options::default() }
}

/// Runs streams to their end.
pub fn run(ports: Vec<Box<dyn Port>>, streams: Vec<Stream>, options: Options) -> Finished {
    start(ports, streams, options).unwrap().finish()
}

pub fn boxed(ports: Vec<RingPort>) -> Vec<Box<dyn Port>> {
    ports.into_iter().map(|port| Box::new(port) as Box<dyn Port>).collect()
}

/// What a device does with a frame: how many copies leave at which port.
pub type Rule = Box<dyn FnMut(u64, &mut Vec<u8>) -> Vec<usize> + Send>;

/// A device between ports, on a thread of its own. The rule is asked for each frame, numbered from 0.
pub struct Device {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Device {
    pub fn new(mut ports: Vec<RingPort>, mut rule: Rule) -> Device {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let (mut received, mut frame, mut n) = (Burst::new(), Vec::new(), 0);
            while !stopped.load(Ordering::Relaxed) {
                let mut idle = true;
                for from in 0..ports.len() {
                    ports[from].rx(&mut received, 64).unwrap();
                    idle &= received.is_empty();
                    for slot in received.iter() {
                        frame.clear();
                        frame.extend_from_slice(slot.bytes());
                        for to in rule(n, &mut frame) {
                            send(&mut ports[to], &frame);
                        }
                        n += 1;
                    }
                    ports[from].free(&mut received);
                }
                if idle {
                    std::thread::yield_now();
                }
            }
        });
        Device { stop, thread }
    }

    pub fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
    }
}

/// A port that keeps the loop for a while when so many frames have left, as a host does that takes it off its core.
pub struct Holding {
    pub inner: RingPort,
    pub at: u64,
    pub pause: Duration,
}

impl Port for Holding {
    forward!(self, self.inner; describe capabilities alloc rx free stats);

    fn tx(&mut self, burst: &mut Burst) -> Result<usize, PortError> {
        if self.inner.stats().tx_frames >= self.at {
            std::thread::sleep(std::mem::take(&mut self.pause));
        }
        self.inner.tx(burst)
    }
}

/// Sends one frame.
pub fn send(port: &mut dyn Port, frame: &[u8]) {
    let mut burst = Burst::new();
    port.alloc(&mut burst, 1);
    burst[0].set_len(frame.len());
    burst[0].bytes_mut().copy_from_slice(frame);
    let _ = port.tx(&mut burst);
    port.free(&mut burst);
}

pub const MS: fn(u64) -> Nanos = Nanos::from_millis;

/// A namespace with a veth pair `va`, `vb` in it, both up; removed at the end.
pub struct Lab(String);

impl Lab {
    /// `None`, with the reason printed, when this process may not. `test` is unique within the process.
    pub fn new(test: &str) -> Option<Lab> {
        // SAFETY: no memory is involved.
        if unsafe { libc::geteuid() } != 0 {
            eprintln!("skipped: {test} makes a network namespace, which needs root");
            return None;
        }
        let lab = Lab(format!("fg-tr-{}-{test}", std::process::id()));
        if !Command::new("ip").args(["netns", "add", &lab.0]).status().is_ok_and(|status| status.success()) {
            eprintln!("skipped: {test} could not make a network namespace with `ip netns add`");
            return None;
        }
        for command in ["link add name va type veth peer name vb", "link set va up", "link set vb up"] {
            lab.ip(command);
        }
        Some(lab)
    }

    /// `ip` inside of it.
    pub fn ip(&self, arguments: &str) {
        let status = Command::new("ip").args(["-n", &self.0]).args(arguments.split(' ')).status().unwrap();
        assert!(status.success(), "ip {arguments}");
    }

    /// The namespace.
    pub fn netns(&self) -> &Path {
        Path::new(&self.0)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "del", &self.0]).status();
    }
}
