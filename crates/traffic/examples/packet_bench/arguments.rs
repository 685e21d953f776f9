//! The command line.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use flowgauge_clock::Nanos;
use flowgauge_measure::{Rate, Schedule};
use flowgauge_packet::field::Field;
use flowgauge_packet::{FlowSet, FrameTemplate, Pattern, Payload};
use flowgauge_ports::Port;
use flowgauge_traffic::{LatePolicy, Options, SpinPolicy, Stop, Stream};

use crate::backends;

pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

pub struct Arguments {
    pub backend: String,
    pub words: Vec<String>,
    pub pps: Option<f64>,
    pub poisson: bool,
    pub size: usize,
    pub flows: u32,
    pub cores: Vec<usize>,
    pub netns: Option<PathBuf>,
    pub bypass: bool,
    pub busy_poll_us: Option<u32>,
    pub skip: bool,
    pub burst: Option<usize>,
    pub delay_us: Option<u64>,
    pub loss_one_in: u64,
}

impl Arguments {
    pub fn read() -> Result<Arguments> {
        let mut found = Arguments {
            backend: "af_packet".into(),
            words: vec![],
            pps: None,
            poisson: false,
            size: 64,
            flows: 1,
            cores: vec![],
            netns: None,
            bypass: false,
            busy_poll_us: None,
            skip: false,
            burst: None,
            delay_us: None,
            loss_one_in: 0,
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--backend" => found.backend = value()?,
                "--pps" => found.pps = Some(value()?.parse()?),
                "--poisson" => found.poisson = true,
                "--size" => found.size = value()?.parse()?,
                "--flows" => found.flows = value()?.parse()?,
                "--core" => {
                    found.cores =
                        value()?.split(',').map(str::parse).collect::<std::result::Result<_, _>>()?
                }
                "--delay-us" => found.delay_us = Some(value()?.parse()?),
                "--loss-one-in" => found.loss_one_in = value()?.parse()?,
                "--bypass" => found.bypass = true,
                "--busy-poll-us" => found.busy_poll_us = Some(value()?.parse()?),
                "--burst" => found.burst = Some(value()?.parse()?),
                "--skip" => found.skip = true,
                "--netns" => found.netns = Some(value()?.into()),
                _ => found.words.push(word),
            }
        }
        Ok(found)
    }

    pub fn word(&self, i: usize) -> Result<&str> {
        self.words.get(i).map(String::as_str).ok_or("too few arguments: see the head of this example".into())
    }

    pub fn seconds(&self, i: usize) -> Result<Nanos> {
        Ok(Nanos::from_secs_f64(self.word(i)?.parse()?))
    }

    /// The port that word `i` names.
    pub fn open(&self, i: usize, receive: bool) -> Result<Box<dyn Port>> {
        backends::open(self, self.word(i)?, receive)
    }

    pub fn options(&self) -> Options {
        Options {
            nonce: 77,
            core: self.cores.first().copied(),
            spin: SpinPolicy::Spin,
            drain: Some(Nanos::from_millis(50)),
            burst: self.burst,
            ..Default::default()
        }
    }

    /// Stream `id` out of the port at a position.
    pub fn stream(&self, id: u16, port: usize, length: Nanos) -> Result<Stream> {
        let destinations = Pattern::Increment { start: 0x0a00_0001, step: 1, mask: 0xffff };
        let flows = FlowSet::new(self.flows, vec![(Field::Ipv4Dst, destinations)])?;
        let template = Arc::new(FrameTemplate::new(&flows, self.size, Payload::Zero)?);
        let schedule = match self.pps.map(Rate::from_f64).transpose()? {
            Some(rate) if self.poisson => Schedule::Poisson { rate, seed: 1 },
            Some(rate) => Schedule::Cbr { rate },
            None => Schedule::Max,
        };
        let mut stream = Stream::new(id, Some(port), template, schedule, Stop::After(length));
        stream.late = if self.skip { LatePolicy::SKIP } else { LatePolicy::CatchUp };
        Ok(stream)
    }
}
