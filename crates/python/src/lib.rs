//! Python bindings of Flowgauge's packet side: `flowgauge._core`. No logic lives here.

use pyo3::prelude::*;

/// The Rust half of Flowgauge.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
