//! Python bindings of Flowgauge's packet side: `flowgauge._core`. No logic lives here.

mod errors;
mod port;
mod values;

use pyo3::prelude::*;

/// The tester's clock: nanoseconds since an arbitrary epoch.
#[pyfunction]
fn now() -> u64 {
    flowgauge_clock::Clock.now().0
}

/// The Rust half of Flowgauge.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<port::Port>()?;
    module.add_function(wrap_pyfunction!(now, module)?)?;
    module.add_function(wrap_pyfunction!(port::ring_pair, module)?)?;
    module.add_function(wrap_pyfunction!(values::flow_values, module)?)
}
