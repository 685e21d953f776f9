//! Tester ports as Python holds them: opaque, moved into the engine while frames move and back afterwards.

use flowgauge_ports::{Port as _, ring};
use pyo3::prelude::*;

use crate::errors::usage;

/// A port of any backend. Empty while a transmission or a switch has it.
#[pyclass(module = "flowgauge._core")]
pub struct Port {
    inner: std::sync::Mutex<Option<Box<dyn flowgauge_ports::Port>>>,
}

impl Port {
    /// Wraps a port.
    pub fn new(port: Box<dyn flowgauge_ports::Port>) -> Port {
        Port { inner: std::sync::Mutex::new(Some(port)) }
    }

    /// Takes the port out. An error when somebody else has it.
    pub fn take(&self) -> PyResult<Box<dyn flowgauge_ports::Port>> {
        self.lock().take().ok_or_else(|| usage("the port is in use by a transmission or a switch, or was closed"))
    }

    /// Puts the port back.
    pub fn put(&self, port: Box<dyn flowgauge_ports::Port>) {
        *self.lock() = Some(port);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Box<dyn flowgauge_ports::Port>>> {
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[pymethods]
impl Port {
    /// What it is: `ring`, `af_packet veth1`. Empty while it is in use.
    fn describe(&self) -> String {
        self.lock().as_ref().map_or_else(String::new, |port| port.describe().to_owned())
    }

    /// Speed of the link in Mbit/s, None for one that has none.
    fn link_mbps(&self) -> Option<u64> {
        self.lock().as_ref().and_then(|port| port.capabilities().link_mbps)
    }

    /// Closes it; harmless when it is closed or in use.
    fn close(&self) {
        drop(self.lock().take());
    }
}

/// Two in-process ports, connected to each other, each with room for `slots` frames.
#[pyfunction]
pub fn ring_pair(slots: usize) -> (Port, Port) {
    let (a, b) = ring::pair(slots);
    (Port::new(Box::new(a)), Port::new(Box::new(b)))
}
