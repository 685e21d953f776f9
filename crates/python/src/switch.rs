//! The embedded software switch.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use flowgauge_channel::{Address, Tls, Versions};
use flowgauge_switch::{FailMode, Idle, Limits, PortConfig, QueueSetup, SwitchConfig, SwitchError};
use pyo3::prelude::*;

use crate::channel::{load, seconds, version, wire_version};
use crate::errors;
use crate::port::{Port, take_single};

/// Our software switch.
#[pyclass(module = "flowgauge._core")]
pub struct Switch {
    inner: Mutex<Option<flowgauge_switch::Switch>>,
    controls: Vec<Address>,
}

impl Switch {
    fn lock(&self) -> MutexGuard<'_, Option<flowgauge_switch::Switch>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a switch is to be, besides its ports, versions and datapath id.
#[pyclass(module = "flowgauge._core", frozen)]
pub struct SwitchOptions {
    numbers: Vec<u32>,
    names: Vec<String>,
    controls: Vec<Address>,
    fail_mode: FailMode,
    limits: Limits,
    buffers: u32,
    inactivity_probe: Option<Duration>,
    queues: Vec<QueueSetup>,
    tls: Option<Tls>,
    description: String,
    is_patient: bool,
}

/// A queue: number, guaranteed and highest rate in kb/s, priority.
type Queue = (u32, u64, Option<u64>, u32);

#[pymethods]
impl SwitchOptions {
    #[new]
    #[pyo3(signature = (
        *, numbers, names, controllers, standalone, tables, entries, buffers, probe_s, queues, tls, description,
        patient
    ))]
    #[expect(clippy::too_many_arguments, reason = "all are named")]
    fn new(
        numbers: Vec<u32>,
        names: Vec<String>,
        controllers: Vec<String>,
        standalone: bool,
        tables: usize,
        entries: usize,
        buffers: u32,
        probe_s: Option<f64>,
        queues: Vec<Queue>,
        tls: Option<(PathBuf, PathBuf, PathBuf)>,
        description: String,
        patient: bool,
    ) -> PyResult<SwitchOptions> {
        let address = |text: &String| text.parse::<Address>().map_err(errors::usage);
        let queue = |(id, min, max, priority): Queue| QueueSetup {
            id,
            min_rate: min.saturating_mul(1000),
            max_rate: max.map(|kbps| kbps.saturating_mul(1000)),
            priority,
            weight: 1,
        };
        Ok(SwitchOptions {
            numbers,
            names,
            controls: controllers.iter().map(address).collect::<PyResult<_>>()?,
            fail_mode: if standalone { FailMode::Standalone } else { FailMode::Secure },
            limits: Limits { tables, entries },
            buffers,
            inactivity_probe: probe_s.map(seconds),
            queues: queues.into_iter().map(queue).collect(),
            tls: tls.map(load).transpose()?,
            description,
            is_patient: patient,
        })
    }
}

impl SwitchOptions {
    fn apply(&self, config: &mut SwitchConfig) -> PyResult<()> {
        if self.numbers.len() != config.ports.len() || self.names.len() != config.ports.len() {
            return Err(errors::usage("each port needs a number and a name"));
        }
        for (port, (number, name)) in config.ports.iter_mut().zip(self.numbers.iter().zip(&self.names)) {
            (port.number, port.name) = (*number, name.clone());
            port.queues.clone_from(&self.queues);
        }
        config.controls.clone_from(&self.controls);
        config.fail_mode = self.fail_mode;
        config.limits = self.limits;
        config.buffers = self.buffers;
        config.inactivity_probe = self.inactivity_probe;
        config.tls.clone_from(&self.tls);
        config.description.clone_from(&self.description);
        if self.is_patient {
            config.idle = Idle::patient();
        }
        Ok(())
    }
}

#[pymethods]
impl Switch {
    /// Its OpenFlow ports are 1, 2, ... in the order given, and it listens on a free port of the loopback, unless the
    /// options say otherwise.
    #[new]
    #[pyo3(signature = (ports, *, versions, datapath_id, options=None))]
    fn new(
        py: Python<'_>,
        ports: Vec<Py<Port>>,
        versions: Vec<String>,
        datapath_id: u64,
        options: Option<&SwitchOptions>,
    ) -> PyResult<Switch> {
        let wire: Vec<u8> = versions.iter().map(|v| version(v).map(wire_version)).collect::<PyResult<_>>()?;
        let numbered = take_single(py, &ports)?.into_iter().zip(1..);
        let ports = numbered.map(|(port, n)| PortConfig::new(n, format!("port{n}"), port)).collect();
        let listen = Address::Listen((Ipv4Addr::LOCALHOST, 0).into());
        let mut config = SwitchConfig::new(datapath_id, ports, listen);
        config.versions =
            Versions::new(&wire).ok_or_else(|| errors::usage("no OpenFlow version was given"))?;
        options.map_or(Ok(()), |options| options.apply(&mut config))?;
        let started = py.detach(|| flowgauge_switch::Switch::start(config)).map_err(|e| failed(&e))?;
        let controls = started.controls().to_vec();
        Ok(Switch { inner: Mutex::new(Some(started)), controls })
    }

    /// Where it listens or connects to first: host and port.
    #[getter]
    fn address(&self) -> PyResult<(String, u16)> {
        let first = self.controls.first().ok_or_else(|| errors::usage("the switch has no controller"))?;
        Ok((first.at().ip().to_string(), first.at().port()))
    }

    /// Where it listens and connects to: `ptcp:6653:0.0.0.0`, `ssl:10.0.0.1:6653`.
    #[getter]
    fn controls(&self) -> Vec<String> {
        self.controls.iter().map(Address::to_string).collect()
    }

    /// What has happened since the last call, in one line each.
    fn events(&self) -> Vec<String> {
        let events = self.lock().as_ref().map(flowgauge_switch::Switch::events).unwrap_or_default();
        events.iter().map(ToString::to_string).collect()
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
