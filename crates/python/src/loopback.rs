//! The tester measured on two joined ports.

use flowgauge_clock::Nanos;
use flowgauge_traffic::loopback::{LoopbackError, LoopbackOptions, measure};
use flowgauge_traffic::{Options, SpinPolicy};
use pyo3::prelude::*;

use crate::errors;
use crate::port::{Port, put_all, take_all};

/// What the tester does from the first to the second of two joined ports: frames per second without loss by frame size,
/// median of its own delay, and half-width of that delay's 5..95 % range, both in ns.
#[pyfunction]
#[pyo3(signature = (ports, sizes, *, core, trial_ns))]
#[allow(clippy::type_complexity)] // a tuple of three for Python
pub fn measure_loopback(
    py: Python<'_>,
    ports: Vec<Py<Port>>,
    sizes: Vec<usize>,
    core: Option<usize>,
    trial_ns: u64,
) -> PyResult<(Vec<(usize, f64)>, f64, f64)> {
    let spin = if core.is_some() { SpinPolicy::Spin } else { SpinPolicy::SpinThenYield };
    let run = Options { spin, core, ..Options::default() };
    let options = LoopbackOptions { sizes, trial: Nanos(trial_ns), run, ..LoopbackOptions::default() };
    let taken = take_all(py, &ports)?;
    let (taken, result) = py.detach(|| measure(taken, &options));
    put_all(py, &ports, taken);
    let found = result.map_err(|e| failed(&e))?;
    let spread = found.spread_ns();
    Ok((found.max_pps, found.delay_ns, spread))
}

fn failed(error: &LoopbackError) -> PyErr {
    match error {
        LoopbackError::Traffic(error) => errors::traffic(error),
        LoopbackError::Size(_) => errors::usage(error),
        LoopbackError::NotConnected => errors::raise("setup", &error.to_string(), None),
    }
}
