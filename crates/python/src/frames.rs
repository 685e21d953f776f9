//! Single frames as bytes: built from layers, taken apart, sent and received.

use flowgauge_clock::Nanos;
use flowgauge_packet::frame::{self, Layer, LayerError};
use flowgauge_traffic::Until;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{self, usage};
use crate::port::{Port, put_all, take_all};

/// A layer as Python has it: its name, and values by name.
type Named = (String, Vec<(String, u128)>);

/// When an exchange is over, as `flowgauge_traffic::Until` has it: frames, ns of silence, ns at most.
type Limits = (usize, u64, u64);

/// A frame that came: position of the port, arrival in ns, bytes.
type Arrival = (usize, u64, Py<PyBytes>);

/// The bytes of a frame with these layers, from the outside in, and this payload; without FCS and padding.
#[pyfunction]
pub fn build_frame<'py>(
    py: Python<'py>,
    layers: Vec<Named>,
    payload: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let layers: Vec<Layer> = layers.iter().map(layer).collect::<Result<_, LayerError>>().map_err(usage)?;
    Ok(PyBytes::new(py, &frame::build(&layers, payload)))
}

/// The layers of a frame, as far as they are known, and how many bytes lie behind them.
#[pyfunction]
pub fn frame_layers(frame: &[u8]) -> (Vec<Named>, usize) {
    let (layers, rest) = frame::dissect(frame);
    let named = |layer: &Layer| {
        let values = layer.values().map(|(name, value)| (name.to_owned(), value)).collect();
        (layer.kind().name().to_owned(), values)
    };
    (layers.iter().map(named).collect(), rest)
}

fn layer((name, values): &Named) -> Result<Layer, LayerError> {
    Layer::named(name, values.iter().map(|(name, value)| (name.as_str(), *value)))
}

/// Sends frames (position of the port, bytes) and gives those that come with `mark` in them.
#[pyfunction]
pub fn exchange(
    py: Python<'_>,
    ports: Vec<Py<Port>>,
    frames: Vec<(usize, Vec<u8>)>,
    mark: Vec<u8>,
    limits: Limits,
) -> PyResult<Vec<Arrival>> {
    let until = Until { enough: limits.0, quiet: Nanos(limits.1), limit: Nanos(limits.2) };
    let taken = take_all(py, &ports)?;
    let ours = |frame: &[u8]| mark.is_empty() || frame.windows(mark.len()).any(|part| part == mark);
    let (taken, found) = py.detach(|| {
        let mut taken = taken;
        let found = flowgauge_traffic::exchange(&mut taken, &frames, until, ours);
        (taken.into_handles(), found)
    });
    put_all(py, &ports, taken);
    let found = found.map_err(|e| errors::traffic(&e))?;
    Ok(found.iter().map(|a| (a.port, a.at.0, PyBytes::new(py, &a.frame).unbind())).collect())
}
