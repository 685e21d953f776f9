//! Transmissions: ports and streams go into the engine, and come back with an outcome.

use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use flowgauge_clock::Nanos;
use flowgauge_packet::FrameSource;
use flowgauge_traffic::{Options, Running, Sink, SpinPolicy, start_on};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::channel::seconds;
use crate::connection::Connection;
use crate::errors::{self, usage};
use crate::line::Simulated;
use crate::outcome;
use crate::port::{Port, put_all, take_all};
use crate::punts::Punts;
use crate::stream_spec::{StreamSpec, number, numbered};
use crate::traffic::Traffic;

/// Streams on their way.
#[pyclass(module = "flowgauge._core")]
pub struct Transmission {
    running: Mutex<Option<Traffic>>,
    ports: Vec<Py<Port>>,
    streams: Vec<(FrameSource, Sink)>,
    identity: (u16, Nanos),
    punts: Option<Punts>,
}

impl Transmission {
    /// Frames of a stream, and what its probes say: nonce, stream, origin.
    pub fn probes_of(&self, stream: usize) -> PyResult<(FrameSource, (u16, u16, Nanos))> {
        let (frames, _) =
            self.streams.get(stream).ok_or_else(|| usage("the transmission has no such stream"))?;
        let (nonce, origin) = self.identity;
        Ok((frames.clone(), (nonce, number(stream), origin)))
    }

    /// Starts streams in a simulation.
    pub fn simulated(
        simulated: &Simulated,
        specs: &[PyRef<'_, StreamSpec>],
        drain_ns: Option<u64>,
        connection: Option<&Connection>,
    ) -> PyResult<Transmission> {
        let (wanted, streams) = numbered(specs);
        let punts = connection.map(|c| Punts::begin(c.inner.clone()));
        let started = simulated.lock().start(wanted, drain_ns.map(Nanos));
        let (id, nonce, origin) = started.map_err(|e| errors::simulation(&e))?;
        Ok(Transmission {
            identity: (nonce, origin),
            running: Mutex::new(Some(Traffic::Simulated(simulated.clone(), id))),
            ports: Vec::new(),
            streams,
            punts,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Option<Traffic>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Transmission {
    #[new]
    #[pyo3(signature = (ports, streams, *, drain_ns, core, connection, cores=Vec::new(), burst=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
    fn new(
        py: Python<'_>,
        ports: Vec<Py<Port>>,
        streams: Vec<PyRef<'_, StreamSpec>>,
        drain_ns: Option<u64>,
        core: Option<usize>,
        connection: Option<PyRef<'_, Connection>>,
        cores: Vec<usize>,
        burst: Option<usize>,
    ) -> PyResult<Transmission> {
        let (wanted, sources) = numbered(&streams);
        let cores = if cores.is_empty() { vec![core] } else { cores.into_iter().map(Some).collect() };
        let spin = if cores[0].is_some() { SpinPolicy::Spin } else { SpinPolicy::SpinThenYield };
        let options =
            Options { drain: drain_ns.map(Nanos), nonce: nonce(), spin, burst, ..Options::default() };
        let punts = connection.map(|c| Punts::begin(c.inner.clone()));
        let taken = take_all(py, &ports)?;
        // Once Python holds it, PACKET_OUTs with its probes may be on their way at any moment.
        let begin = || start_on(taken, wanted, options, &cores).inspect(Running::wait_until_started);
        match py.detach(begin) {
            Ok(running) => Ok(Transmission {
                identity: (running.nonce(), running.origin()),
                running: Mutex::new(Some(Traffic::Live(running))),
                ports,
                streams: sources,
                punts,
            }),
            Err(failed) => {
                put_all(py, &ports, failed.ports);
                Err(errors::traffic(&failed.error))
            }
        }
    }

    /// Elapsed ns, sent and received per stream. PACKET_INs count for every stream that expects them.
    fn progress(&self) -> (u64, Vec<u64>, Vec<u64>) {
        let Some((elapsed, sent, received)) = self.lock().as_ref().map(Traffic::progress) else {
            return (0, Vec::new(), Vec::new());
        };
        let punted = self.punts.as_ref().map_or(0, Punts::received);
        let counts = received.iter().zip(&self.streams);
        let received =
            counts.map(|(n, (_, sink))| if *sink == Sink::Control { punted } else { *n }).collect();
        (elapsed, sent, received)
    }

    /// No more frames; drain.
    fn stop(&self) {
        if let Some(running) = self.lock().as_ref() {
            running.stop();
        }
    }

    /// Nothing is under way any more: end the drain as soon as it begins.
    fn cut_drain(&self) {
        if let Some(running) = self.lock().as_ref() {
            running.cut_drain();
        }
    }

    /// How many frames somebody else sent of a stream. That ends it.
    fn set_sent(&self, stream: usize, frames: u64) {
        if let Some(running) = self.lock().as_ref() {
            running.set_sent(stream, frames);
        }
    }

    /// Whether it has ended within that time.
    fn wait(&self, py: Python<'_>, timeout_s: f64) -> bool {
        py.detach(|| self.lock().as_ref().is_none_or(|running| running.wait(seconds(timeout_s))))
    }

    /// Waits for the end, puts the ports back, gives the outcome. The second call gives an empty one.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Some(running) = self.lock().take() else { return Ok(PyDict::new(py)) };
        let (ports, outcome, unlogged) = py.detach(|| {
            let (ports, mut outcome) = running.finish();
            let account = |outcome| self.punts.as_ref().map_or(0, |punts| punts.account(outcome));
            let unlogged = outcome.as_mut().map_or(0, account);
            (ports, outcome, unlogged)
        });
        put_all(py, &self.ports, ports);
        outcome.map_or_else(|| Ok(PyDict::new(py)), |outcome| outcome::to_python(py, &outcome, unlogged))
    }
}

/// A number for each trial, so that frames of an earlier one are recognised: also those of the process before us.
fn nonce() -> u16 {
    static NEXT: OnceLock<AtomicU16> = OnceLock::new();
    let seed = || AtomicU16::new((std::process::id() as u16).wrapping_mul(40_503));
    NEXT.get_or_init(seed).fetch_add(1, Ordering::Relaxed)
}
