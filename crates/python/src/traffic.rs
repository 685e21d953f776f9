//! A transmission on its way: on ports, or in a simulation. Both offer the same.

use std::time::Duration;

use flowgauge_ports::Port;
use flowgauge_simulator::TransmissionId;
use flowgauge_traffic::{Finished, Outcome, Running};

use crate::line::Simulated;

/// What moves the frames.
pub enum Traffic {
    /// The engine, on ports.
    Live(Running),
    /// A simulation.
    Simulated(Simulated, TransmissionId),
}

impl Traffic {
    /// Elapsed ns, sent and received per stream.
    pub fn progress(&self) -> (u64, Vec<u64>, Vec<u64>) {
        match self {
            Traffic::Live(running) => {
                let progress = running.progress();
                (progress.elapsed.0, progress.sent, progress.received)
            }
            Traffic::Simulated(simulated, id) => {
                let simulation = &simulated.lock().simulation;
                let counts = simulation.progress(*id);
                let sent = counts.iter().map(|stream| stream.sent).collect();
                (simulation.elapsed(*id).0, sent, counts.iter().map(|stream| stream.received).collect())
            }
        }
    }

    /// No more frames; drain.
    pub fn stop(&self) {
        match self {
            Traffic::Live(running) => running.stop(),
            Traffic::Simulated(simulated, id) => simulated.lock().simulation.stop(*id),
        }
    }

    /// Ends the drain as soon as it begins.
    pub fn cut_drain(&self) {
        match self {
            Traffic::Live(running) => running.cut_drain(),
            Traffic::Simulated(simulated, id) => simulated.lock().simulation.cut_drain(*id),
        }
    }

    /// How many frames somebody else sent of a stream.
    pub fn set_sent(&self, stream: usize, frames: u64) {
        match self {
            Traffic::Live(running) => running.set_sent(stream, frames),
            Traffic::Simulated(simulated, id) => simulated.lock().simulation.set_sent(*id, stream, frames),
        }
    }

    /// Whether it has ended within that time.
    pub fn wait(&self, timeout: Duration) -> bool {
        match self {
            Traffic::Live(running) => running.wait(Some(timeout)),
            Traffic::Simulated(simulated, id) => simulated.lock().wait(*id, timeout),
        }
    }

    /// The end: ports and outcome.
    pub fn finish(self) -> (Vec<Box<dyn Port>>, Option<Outcome>) {
        match self {
            Traffic::Live(running) => {
                let Finished { ports, outcome } = running.finish();
                (ports, Some(outcome))
            }
            Traffic::Simulated(simulated, id) => {
                let mut testbed = simulated.lock();
                testbed.wait(id, Duration::MAX);
                (Vec::new(), testbed.simulation.finish(id))
            }
        }
    }
}
