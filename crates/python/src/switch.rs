//! The embedded software switch.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};

use flowgauge_channel::{Address, Versions};
use flowgauge_switch::{PortConfig, SwitchConfig, SwitchError};
use pyo3::prelude::*;

use crate::channel::{version, wire_version};
use crate::errors;
use crate::port::{Port, take_all};

/// Our software switch; it listens for controllers on a free port of the loopback.
#[pyclass(module = "flowgauge._core")]
pub struct Switch {
    inner: Mutex<Option<flowgauge_switch::Switch>>,
    address: SocketAddr,
}

impl Switch {
    fn lock(&self) -> MutexGuard<'_, Option<flowgauge_switch::Switch>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Switch {
    /// Its OpenFlow ports are 1, 2, ... in the order given.
    #[new]
    #[pyo3(signature = (ports, *, versions, datapath_id))]
    fn new(
        py: Python<'_>,
        ports: Vec<Py<Port>>,
        versions: Vec<String>,
        datapath_id: u64,
    ) -> PyResult<Switch> {
        let wire: Vec<u8> = versions.iter().map(|v| version(v).map(wire_version)).collect::<PyResult<_>>()?;
        let numbered = take_all(py, &ports)?.into_iter().zip(1..);
        let ports = numbered.map(|(port, n)| PortConfig::new(n, format!("port{n}"), port)).collect();
        let listen = Address::Listen((Ipv4Addr::LOCALHOST, 0).into());
        let mut config = SwitchConfig::new(datapath_id, ports, listen);
        config.versions =
            Versions::new(&wire).ok_or_else(|| errors::usage("no OpenFlow version was given"))?;
        let started = py.detach(|| flowgauge_switch::Switch::start(config)).map_err(|e| failed(&e))?;
        let address = started.control().at();
        Ok(Switch { inner: Mutex::new(Some(started)), address })
    }

    /// Where it listens.
    #[getter]
    fn address(&self) -> (String, u16) {
        (self.address.ip().to_string(), self.address.port())
    }

    /// Whether its thread runs.
    fn alive(&self) -> bool {
        self.lock().as_ref().is_some_and(flowgauge_switch::Switch::is_alive)
    }

    /// Ends it; its ports are closed.
    fn stop(&self, py: Python<'_>) {
        let switch = self.lock().take();
        py.detach(|| drop(switch));
    }
}

fn failed(error: &SwitchError) -> PyErr {
    match error {
        SwitchError::Control(error) => errors::channel(error),
        SwitchError::PortNumber { .. } | SwitchError::Thread(_) => {
            errors::raise("setup", &error.to_string(), None)
        }
    }
}
