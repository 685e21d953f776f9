//! Device models as the simulator judges them.

use flowgauge_simulator::Model;
use pyo3::prelude::*;

use crate::errors;

/// A device model, given as JSON, as JSON with every parameter. Raises ConfigError that names the key.
#[pyfunction]
pub fn check_model(json: &str) -> PyResult<String> {
    Model::from_json(json)
        .map(|model| model.to_json())
        .map_err(|error| errors::raise("config", &error.to_string(), None))
}
