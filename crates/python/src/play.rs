//! Plays of control messages.

use std::sync::{Arc, Mutex, PoisonError};

use flowgauge_measure::GapErrors;
use flowgauge_openflow::{ErrorCode, Version};
use flowgauge_traffic::play::PlayResult;
use numpy::{PyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::channel::seconds;
use crate::line::Playing;

/// Control messages on their way.
#[pyclass(module = "flowgauge._core")]
pub struct Play {
    inner: Mutex<Option<Playing>>,
    result: Mutex<Option<Arc<PlayResult>>>,
    version: Version,
}

impl Play {
    /// Wraps a play that was started on a connection of that version.
    pub fn new(inner: Playing, version: Version) -> Play {
        Play { inner: Mutex::new(Some(inner)), result: Mutex::new(None), version }
    }

    fn ended(&self, result: Arc<PlayResult>) -> Arc<PlayResult> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).take();
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(result.clone());
        result
    }

    fn stopped(&self) -> Option<Arc<PlayResult>> {
        if let Some(result) = self.result.lock().unwrap_or_else(PoisonError::into_inner).clone() {
            return Some(result);
        }
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let result = inner.as_ref().and_then(Playing::stop);
        drop(inner);
        result.map(|result| self.ended(result))
    }
}

#[pymethods]
impl Play {
    /// Whether all are sent and answered, or the channel ended, within that time.
    fn wait(&self, py: Python<'_>, timeout_s: f64) -> bool {
        let result = py.detach(|| {
            let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            inner.as_ref().map(|inner| inner.wait(seconds(timeout_s)))
        });
        match result {
            None => true,
            Some(None) => false,
            Some(Some(result)) => {
                self.ended(result);
                true
            }
        }
    }

    /// Sends no more.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.stopped());
    }

    /// What was done, as the fields of `PlayResult`.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let Some(result) = py.detach(|| self.stopped()) else { return Ok(dict) };
        dict.set_item("requested", result.requested)?;
        dict.set_item("sent", result.sent)?;
        dict.set_item("acknowledged", result.acknowledged)?;
        dict.set_item("sent_ns", result.sent_ns.to_pyarray(py))?;
        dict.set_item("reply_ns", result.reply_ns.to_pyarray(py))?;
        dict.set_item("payload_intact", PyArray1::from_slice(py, &result.payload_intact))?;
        let errors = result.errors.iter().map(|e| {
            let text = ErrorCode::from_wire(self.version, e.error_type, e.code).to_string();
            (e.index, e.error_type, e.code, text)
        });
        dict.set_item("errors", errors.collect::<Vec<_>>())?;
        dict.set_item("closed", result.closed.as_ref().map(ToString::to_string))?;
        dict.set_item("first_byte_ns", result.first_byte.map(|t| t.0))?;
        dict.set_item("barrier_ns", result.barrier.map(|t| t.0))?;
        dict.set_item("gap_error_ns", gap_errors(py, &result.gap_errors)?)?;
        Ok(dict)
    }
}

/// Percentiles of departures against their schedule; empty when there was none.
pub fn gap_errors<'py>(py: Python<'py>, gaps: &GapErrors) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, p) in [("p50", 50.0), ("p99", 99.0), ("p999", 99.9), ("max", 100.0)] {
        if let Some(value) = gaps.errors.percentile_ns(p) {
            dict.set_item(name, value as f64)?;
        }
    }
    if let Some(max) = gaps.errors.max_ns() {
        dict.set_item("max", max as f64)?;
        dict.set_item("late_frames", gaps.late_frames as f64)?;
    }
    Ok(dict)
}
