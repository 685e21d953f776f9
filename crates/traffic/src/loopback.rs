//! What the tester itself can do on two ports that are connected to each other, without a device between them.
//!
//! A figure that is no better than this says more about the tester than about the device.

use std::sync::Arc;

use flowgauge_clock::Nanos;
use flowgauge_measure::{Rate, Schedule};
use flowgauge_packet::{FlowSet, FrameTemplate, Payload, TemplateError};
use flowgauge_ports::Port;

use crate::{Options, Outcome, Ports, Sink, Stop, Stream, TrafficError, start};

/// How the tester is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopbackOptions {
    /// Frame sizes in bytes, FCS included.
    pub sizes: Vec<usize>,
    /// Length of a trial of the search.
    pub trial: Nanos,
    /// Trials per size after the first, each of which halves the interval.
    pub steps: u32,
    /// Rate in frames per second at which the delay is measured.
    pub delay_pps: u64,
    /// Length of the trial in which it is measured.
    pub delay_trial: Nanos,
    /// How the loop runs; its nonce is that of the first trial, later ones count up.
    pub run: Options,
}

impl Default for LoopbackOptions {
    /// 64 and 1518 bytes, 7 trials of 100 ms each; the delay at 10 000 frames per second for 200 ms.
    fn default() -> Self {
        LoopbackOptions {
            sizes: vec![64, 1518],
            trial: Nanos::from_millis(100),
            steps: 6,
            delay_pps: 10_000,
            delay_trial: Nanos::from_millis(200),
            run: Options::default(),
        }
    }
}

/// What the tester can do.
#[derive(Clone, Debug, PartialEq)]
pub struct Loopback {
    /// Frame size in bytes, FCS included, and the highest rate in frames per second at which it lost nothing; 0 when it
    /// lost frames at each rate that was tried.
    pub max_pps: Vec<(usize, f64)>,
    /// Median of its own delay, in ns.
    pub delay_ns: f64,
    /// 5th percentile of its own delay, in ns.
    pub delay_p5_ns: f64,
    /// 95th percentile of its own delay, in ns.
    pub delay_p95_ns: f64,
    /// Frames of which the delay was taken.
    pub delay_count: u64,
}

impl Loopback {
    /// Half-width of the 5..95 % range of the delay: the stated error of delays.
    pub fn spread_ns(&self) -> f64 {
        (self.delay_p95_ns - self.delay_p5_ns) / 2.0
    }
}

/// Why the tester could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum LoopbackError {
    /// A frame size that can't be.
    #[error(transparent)]
    Size(#[from] TemplateError),
    /// A transmission did not start or broke.
    #[error(transparent)]
    Traffic(#[from] TrafficError),
    /// Nothing came from the one port to the other.
    #[error("nothing came back: the two ports are not connected to each other")]
    NotConnected,
}

impl LoopbackError {
    /// The error's stable name.
    pub fn name(&self) -> &'static str {
        match self {
            LoopbackError::Size(_) => "frame-size",
            LoopbackError::Traffic(error) => error.name(),
            LoopbackError::NotConnected => "not-connected",
        }
    }
}

/// Measures the tester on two connected ports, from the first to the second; gives their handles back.
pub fn measure(
    ports: impl Into<Ports>,
    options: &LoopbackOptions,
) -> (Vec<Box<dyn Port>>, Result<Loopback, LoopbackError>) {
    let ports = ports.into();
    let (queues, nonce) = (ports.queues(), options.run.nonce);
    let mut bench = Bench { ports: ports.into_handles(), queues, nonce, run: options.run };
    let result = bench.measure(options);
    (bench.ports, result)
}

struct Bench {
    ports: Vec<Box<dyn Port>>,
    queues: Vec<usize>,
    nonce: u16,
    run: Options,
}

impl Bench {
    fn measure(&mut self, options: &LoopbackOptions) -> Result<Loopback, LoopbackError> {
        let flows = FlowSet::new(1, Vec::new()).expect("a set of one flow without patterns");
        let template = |size| FrameTemplate::new(&flows, size, Payload::Zero).map(Arc::new);
        let smallest = template(FrameTemplate::smallest(&flows))?;
        let paced = Schedule::Cbr { rate: rate(options.delay_pps as f64) };
        let slow = self.trial(&smallest, paced, options.delay_trial)?;
        let latency = slow.streams[0].account.latency();
        let percentile = |p| latency.percentile_ns(p).map(|ns| ns as f64).ok_or(LoopbackError::NotConnected);
        let (delay_ns, delay_p5_ns, delay_p95_ns) = (percentile(50.0)?, percentile(5.0)?, percentile(95.0)?);
        let delay_count = latency.count();
        let mut max_pps = Vec::new();
        for &size in &options.sizes {
            max_pps.push((size, self.highest(&template(size)?, options)?));
        }
        Ok(Loopback { max_pps, delay_ns, delay_p5_ns, delay_p95_ns, delay_count })
    }

    /// The highest rate without loss, between 0 and what is sent as fast as possible.
    fn highest(
        &mut self,
        template: &Arc<FrameTemplate>,
        options: &LoopbackOptions,
    ) -> Result<f64, LoopbackError> {
        let greedy = self.trial(template, Schedule::Max, options.trial)?;
        let (sent, lossless) = offered(&greedy);
        if lossless {
            return Ok(sent);
        }
        let (mut low, mut high) = (0.0, sent);
        for step in 0..options.steps {
            // What arrived of an overload is a good first guess.
            let guess = arrived(&greedy).clamp(0.1 * high, 0.95 * high);
            let middle = if step == 0 { guess } else { (low + high) / 2.0 };
            let outcome = self.trial(template, Schedule::Cbr { rate: rate(middle) }, options.trial)?;
            let (sent, lossless) = offered(&outcome);
            if lossless && sent >= 0.999 * middle { low = sent } else { high = middle }
        }
        Ok(low)
    }

    fn trial(
        &mut self,
        template: &Arc<FrameTemplate>,
        schedule: Schedule,
        length: Nanos,
    ) -> Result<Outcome, LoopbackError> {
        let mut stream = Stream::new(0, Some(0), Arc::clone(template), schedule, Stop::After(length));
        stream.sink = Sink::Port(1);
        self.nonce = self.nonce.wrapping_add(1);
        let drain = Some(Nanos::from_millis(30));
        let run = Options { nonce: self.nonce, drain, ..self.run };
        let ports = Ports::with_queues(std::mem::take(&mut self.ports), &self.queues);
        let finished = match start(ports, vec![stream], run) {
            Ok(running) => running.finish(),
            Err(failed) => {
                self.ports = failed.ports;
                return Err(failed.error.into());
            }
        };
        self.ports = finished.ports;
        let mut outcome = finished.outcome;
        match outcome.error.take() {
            Some(error) => Err(error.into()),
            None => Ok(outcome),
        }
    }
}

fn rate(pps: f64) -> Rate {
    Rate::new(pps.max(1.0) as u128, 1).expect("at least one frame per second")
}

/// Frames sent per second, and whether all arrived.
fn offered(outcome: &Outcome) -> (f64, bool) {
    let stream = &outcome.streams[0];
    let counters = stream.account.counters();
    (counters.sent as f64 / stream.elapsed().as_secs_f64(), counters.lost == 0)
}

fn arrived(outcome: &Outcome) -> f64 {
    let stream = &outcome.streams[0];
    stream.account.counters().received as f64 / stream.elapsed().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use flowgauge_ports::{Impaired, Impairment, ring};

    use super::*;

    fn short() -> LoopbackOptions {
        let ms = Nanos::from_millis;
        LoopbackOptions {
            sizes: vec![64],
            trial: ms(10),
            steps: 3,
            delay_trial: ms(20),
            ..Default::default()
        }
    }

    fn two(a: impl Port + 'static, b: impl Port + 'static) -> Vec<Box<dyn Port>> {
        vec![Box::new(a), Box::new(b)]
    }

    #[test]
    fn measures_rate_and_delay_of_a_pair() {
        let (a, b) = ring::pair(1 << 12);
        let (ports, result) = measure(two(a, b), &short());
        let found = result.unwrap();
        assert_eq!((ports.len(), found.delay_count), (2, 200));
        assert!(found.max_pps[0].1 > 10_000.0, "{found:?}");
        assert!(
            found.delay_p5_ns <= found.delay_ns
                && found.delay_ns <= found.delay_p95_ns
                && found.spread_ns() >= 0.0
        );
    }

    #[test]
    fn a_port_that_always_loses_has_no_rate() {
        let (a, b) = ring::pair(1 << 12);
        let b = Impaired::new(b, Impairment::new(Nanos::from_micros(500), 20));
        let (_, result) = measure(two(a, b), &short());
        let found = result.unwrap();
        assert_eq!(found.max_pps, [(64, 0.0)]);
        assert!(found.delay_ns >= 500_000.0);
    }

    #[test]
    fn ports_that_are_not_connected_are_an_error() {
        let ((a, _b), (_c, d)) = (ring::pair(64), ring::pair(64));
        let (ports, result) = measure(two(a, d), &short());
        assert_eq!((ports.len(), result.unwrap_err().name()), (2, "not-connected"));
    }
}
