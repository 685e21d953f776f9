//! The simulated testbed: virtual time, and the transmissions and connections of a simulated switch.

use flowgauge_clock::Nanos;
use flowgauge_simulator::{Model, Testbed};
use flowgauge_traffic::Until;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::channel::version;
use crate::connection::Connection;
use crate::errors;
use crate::line::{Line, Simulated};
use crate::stream_spec::StreamSpec;
use crate::transmission::Transmission;

/// A frame that came: position of the port, arrival in ns, bytes.
type Arrival = (usize, u64, Py<PyBytes>);

/// A simulated switch with its tester. Virtual time moves only in calls that wait.
#[pyclass(module = "flowgauge._core")]
pub struct Simulation {
    inner: Simulated,
}

#[pymethods]
impl Simulation {
    /// `model`: a device model as JSON.
    #[new]
    fn new(model: &str, ports: usize, seed: u64) -> PyResult<Simulation> {
        let model = Model::from_json(model).map_err(|e| errors::simulation(&e.into()))?;
        let testbed = Testbed::new(model, ports, seed).map_err(|e| errors::simulation(&e))?;
        Ok(Simulation { inner: Simulated::new(testbed) })
    }

    /// Virtual time in ns.
    fn now(&self) -> u64 {
        self.inner.lock().now().0
    }

    /// Lets that time pass.
    fn sleep(&self, py: Python<'_>, ns: u64) {
        py.detach(|| self.inner.lock().sleep(Nanos(ns)));
    }

    /// Connects to the switch.
    fn connection(&self, version: &str) -> PyResult<Connection> {
        let version = self::version(version)?;
        self.inner.lock().connect(version);
        Connection::new(Line::Simulated(self.inner.clone()))
    }

    /// Starts streams.
    #[pyo3(signature = (streams, *, drain_ns, connection))]
    fn transmission(
        &self,
        streams: Vec<PyRef<'_, StreamSpec>>,
        drain_ns: Option<u64>,
        connection: Option<PyRef<'_, Connection>>,
    ) -> PyResult<Transmission> {
        Transmission::simulated(&self.inner, &streams, drain_ns, connection.as_deref())
    }

    /// Sends frames (position of the port, bytes) and gives those that come with `mark` in them; `limits`: frames, ns of silence,
    /// ns at most.
    fn exchange(
        &self,
        py: Python<'_>,
        frames: Vec<(usize, Vec<u8>)>,
        mark: Vec<u8>,
        limits: (usize, u64, u64),
    ) -> PyResult<Vec<Arrival>> {
        let until = Until { enough: limits.0, quiet: Nanos(limits.1), limit: Nanos(limits.2) };
        let ours = |frame: &[u8]| mark.is_empty() || frame.windows(mark.len()).any(|part| part == mark);
        let found = py.detach(|| self.inner.lock().simulation.exchange(&frames, until, ours));
        let found = found.map_err(|e| errors::simulation(&e))?;
        Ok(found.iter().map(|a| (a.port, a.at.0, PyBytes::new(py, &a.frame).unbind())).collect())
    }
}
