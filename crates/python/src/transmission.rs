//! Transmissions: ports and streams go into the engine, and come back with an outcome.

use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use flowgauge_channel::wire;
use flowgauge_clock::Nanos;
use flowgauge_measure::FlowOrder;
use flowgauge_openflow::{Body, decode};
use flowgauge_packet::{FrameSource, FrameTemplate, Payload};
use flowgauge_traffic::{
    Finished, Options, Outcome, PacketIn, Running, Sink, SpinPolicy, Stop, Stream, start_on,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::channel::seconds;
use crate::connection::Connection;
use crate::errors::{self, usage};
use crate::outcome;
use crate::port::{Port, put_all, take_all};
use crate::recording::raw_frames;
use crate::schedule;
use crate::values::flow_set;

/// As `rx_port` of a stream: any port, or PACKET_INs.
const ANY_PORT: i64 = -1;
const PACKET_IN: i64 = -2;

/// One stream of a transmission, without its number.
#[pyclass(module = "flowgauge._core")]
pub struct StreamSpec {
    stream: Stream,
}

#[pymethods]
impl StreamSpec {
    #[new]
    #[pyo3(signature = (flows, frame_size, schedule, tx_port, rx_port, duration_ns, record, count=None, *,
                        flow_order=None, late="catch_up", weight=1))]
    #[expect(clippy::too_many_arguments, reason = "the fields of a stream")]
    fn new(
        flows: &Bound<'_, PyAny>,
        frame_size: usize,
        schedule: &Bound<'_, PyAny>,
        tx_port: Option<usize>,
        rx_port: i64,
        duration_ns: Option<u64>,
        record: usize,
        count: Option<u64>,
        flow_order: Option<&Bound<'_, PyAny>>,
        late: &str,
        weight: u32,
    ) -> PyResult<StreamSpec> {
        let stop = match (duration_ns, count) {
            (None, None) => Stop::UntilStopped,
            (Some(ns), None) => Stop::After(Nanos(ns)),
            (None, Some(count)) => Stop::Count(count),
            (Some(_), Some(_)) => return Err(usage("a stream ends after a time or after a count, not both")),
        };
        let frames = frame_source(flows, frame_size)?;
        let mut stream = Stream::new(0, tx_port, frames, schedule::schedule(schedule)?, stop);
        stream.record = record;
        stream.flow_order = flow_order.map_or(Ok(FlowOrder::Sequential), schedule::flow_order)?;
        stream.late = schedule::late_policy(late)?;
        stream.weight = match weight {
            0 => return Err(usage("a stream's weight is at least 1")),
            weight => weight,
        };
        stream.sink = match rx_port {
            ANY_PORT => Sink::Any,
            PACKET_IN => Sink::Control,
            port => Sink::Port(usize::try_from(port).map_err(|_| usage("there is no such port"))?),
        };
        Ok(StreamSpec { stream })
    }
}

/// The frames of a Python `FlowSet` or `Frames`.
fn frame_source(flows: &Bound<'_, PyAny>, frame_size: usize) -> PyResult<FrameSource> {
    if flows.hasattr("frames")? {
        return Ok(Arc::new(raw_frames(flows)?).into());
    }
    let template = FrameTemplate::new(&flow_set(flows)?, frame_size, Payload::Zero).map_err(usage)?;
    Ok(Arc::new(template).into())
}

/// The channel whose PACKET_INs are accounted for, and what it had counted before the start.
struct Punts {
    connection: flowgauge_channel::Connection,
    received_before: u64,
    dropped_before: u64,
}

impl Punts {
    fn begin(connection: flowgauge_channel::Connection) -> Punts {
        // What came before is of no trial of ours.
        drop(connection.take_log());
        let received_before = connection.received(wire::PACKET_IN);
        let dropped_before = connection.log_dropped();
        Punts { connection, received_before, dropped_before }
    }

    fn received(&self) -> u64 {
        self.connection.received(wire::PACKET_IN) - self.received_before
    }

    /// Accounts for what came; gives the number of messages that the log had no room for.
    fn account(&self, outcome: &mut Outcome) -> u64 {
        for message in self.connection.take_log().iter() {
            if message.frame.get(1) != Some(&wire::PACKET_IN) {
                continue;
            }
            if let Ok((_, decoded)) = decode(message.frame) {
                if let Body::PacketIn(punt) = decoded.body {
                    let buffered = punt.buffer_id.is_some();
                    outcome.account_packet_ins([PacketIn { frame: &punt.data, at: message.stamp, buffered }]);
                }
            }
        }
        self.connection.log_dropped() - self.dropped_before
    }
}

/// Streams on their way.
#[pyclass(module = "flowgauge._core")]
pub struct Transmission {
    running: Mutex<Option<Running>>,
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

    fn lock(&self) -> MutexGuard<'_, Option<Running>> {
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
        let numbered =
            |(i, spec): (usize, &PyRef<'_, StreamSpec>)| Stream { id: number(i), ..spec.stream.clone() };
        let wanted: Vec<Stream> = streams.iter().enumerate().map(numbered).collect();
        let sources = streams.iter().map(|spec| (spec.stream.frames.clone(), spec.stream.sink)).collect();
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
                running: Mutex::new(Some(running)),
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
        let Some(progress) = self.lock().as_ref().map(Running::progress) else {
            return (0, Vec::new(), Vec::new());
        };
        let punted = self.punts.as_ref().map_or(0, Punts::received);
        let counts = progress.received.iter().zip(&self.streams);
        let received =
            counts.map(|(n, (_, sink))| if *sink == Sink::Control { punted } else { *n }).collect();
        (progress.elapsed.0, progress.sent, received)
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
        py.detach(|| self.lock().as_ref().is_none_or(|running| running.wait(Some(seconds(timeout_s)))))
    }

    /// Waits for the end, puts the ports back, gives the outcome. The second call gives an empty one.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Some(running) = self.lock().take() else { return Ok(PyDict::new(py)) };
        let (ports, outcome, unlogged) = py.detach(|| {
            let Finished { ports, mut outcome } = running.finish();
            let unlogged = self.punts.as_ref().map_or(0, |punts| punts.account(&mut outcome));
            (ports, outcome, unlogged)
        });
        put_all(py, &self.ports, ports);
        outcome::to_python(py, &outcome, unlogged)
    }
}

/// The number of the stream at a position, in its probes.
fn number(position: usize) -> u16 {
    position as u16
}

/// A number for each trial, so that frames of an earlier one are recognised: also those of the process before us.
fn nonce() -> u16 {
    static NEXT: OnceLock<AtomicU16> = OnceLock::new();
    let seed = || AtomicU16::new((std::process::id() as u16).wrapping_mul(40_503));
    NEXT.get_or_init(seed).fetch_add(1, Ordering::Relaxed)
}
