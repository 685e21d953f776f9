//! Streams as Python describes them.

use std::sync::Arc;

use flowgauge_clock::Nanos;
use flowgauge_measure::FlowOrder;
use flowgauge_packet::{FrameSource, FrameTemplate, Payload};
use flowgauge_traffic::{LatePolicy, Sink, Stop, Stream};
use pyo3::prelude::*;

use crate::errors::usage;
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
                        flow_order=None, late_ns=None, weight=1))]
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
        late_ns: Option<u64>,
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
        stream.late = late_ns.map_or(LatePolicy::CatchUp, |ns| LatePolicy::Within(Nanos(ns)));
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

/// Streams with their numbers; their frames, and where they are expected.
pub fn numbered(specs: &[PyRef<'_, StreamSpec>]) -> (Vec<Stream>, Vec<(FrameSource, Sink)>) {
    let stream = |(i, spec): (usize, &PyRef<'_, StreamSpec>)| Stream { id: number(i), ..spec.stream.clone() };
    let sources = specs.iter().map(|spec| (spec.stream.frames.clone(), spec.stream.sink));
    (specs.iter().enumerate().map(stream).collect(), sources.collect())
}

/// The number of the stream at a position, in its probes.
pub fn number(position: usize) -> u16 {
    position as u16
}
