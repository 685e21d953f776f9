//! Errors of the core become the Python exceptions of the same stable name (`flowgauge/errors.py`).

use flowgauge_channel::ChannelError;
use flowgauge_openflow::{ErrorCode, Version};
use flowgauge_ports::PortError;
use flowgauge_simulator::SimulationError;
use flowgauge_traffic::TrafficError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

/// Stable names of the core's errors, and the Python classes that carry them.
const CLASSES: &[(&str, &str)] = &[
    ("config", "ConfigError"),
    ("setup", "SetupError"),
    ("port-busy", "PortBusyError"),
    ("permission-needed", "PermissionNeededError"),
    ("interface-missing", "InterfaceError"),
    ("interface-down", "InterfaceError"),
    ("namespace", "SetupError"),
    ("interface-busy", "InterfaceError"),
    ("too-few-queues", "TooFewQueuesError"),
    ("port-unsupported", "SetupError"),
    ("memory-limit", "SetupError"),
    ("dpdk-missing", "DpdkMissingError"),
    ("dpdk-start", "DpdkError"),
    ("dpdk-device", "DpdkError"),
    ("hugepages", "HugepagesError"),
    ("port-system", "SetupError"),
    ("frame-too-long", "UsageError"),
    ("no-such-port", "UsageError"),
    ("duplicate-stream", "UsageError"),
    ("thread", "SetupError"),
    ("never-connected", "NeverConnectedError"),
    ("version-mismatch", "VersionMismatchError"),
    ("garbage", "GarbageError"),
    ("tls", "TlsError"),
    ("tls-file", "TlsFileError"),
    ("channel-closed", "ChannelClosedError"),
    ("reply-timeout", "ReplyTimeoutError"),
    ("rejected", "RejectedError"),
    ("outbox-full", "ChannelError"),
    ("reply-too-long", "ChannelError"),
    ("encode", "ChannelError"),
    ("decode", "ChannelError"),
    ("usage", "UsageError"),
    ("capture-file", "CaptureFileError"),
    ("trial", "TrialError"),
    ("link-down", "LinkDownError"),
];

/// The core's stable names and the Python class of each, for the test that all classes exist.
#[pyfunction]
pub fn error_classes() -> Vec<(&'static str, &'static str)> {
    CLASSES.to_vec()
}

/// The exception for a stable name; a name that nobody listed is the base of all (a test sees to it that none is).
pub fn raise(name: &str, message: &str, advice: Option<&str>) -> PyErr {
    Python::attach(|py| build(py, name, message, advice).unwrap_or_else(|error| error))
}

fn build(py: Python<'_>, name: &str, message: &str, advice: Option<&str>) -> PyResult<PyErr> {
    let class = CLASSES.iter().find(|(known, _)| *known == name).map_or("FlowgaugeError", |(_, class)| class);
    let kwargs: Bound<'_, PyDict> = [("advice", advice)].into_py_dict(py)?;
    let class = py.import("flowgauge.errors")?.getattr(class)?;
    Ok(PyErr::from_value(class.call((message,), Some(&kwargs))?))
}

/// A wrong argument, as the command line or a benchmark gave it.
pub fn usage(message: impl ToString) -> PyErr {
    raise("usage", &message.to_string(), None)
}

/// An error of a port.
pub fn port(error: &PortError) -> PyErr {
    raise(error.name(), &error.to_string(), Some(&error.advice()))
}

/// An error of a channel.
pub fn channel(error: &ChannelError) -> PyErr {
    let holder;
    let advice = match error {
        ChannelError::PortBusy { advice, .. } => {
            holder = format!("`{advice}` names the process that holds it");
            Some(holder.as_str())
        }
        ChannelError::NeverConnected { .. } => {
            Some("check that the switch runs, the address on both sides, and that nothing filters the port")
        }
        ChannelError::VersionMismatch { .. } => Some("choose a version that the switch speaks: --openflow"),
        ChannelError::Garbage { .. } => Some("check that an OpenFlow switch is at the other end"),
        ChannelError::Tls { advice, .. } => Some(*advice),
        ChannelError::ClosedEarly => Some("if the switch expects TLS, use ssl: or pssl: here too"),
        ChannelError::TlsFile { .. } => {
            Some("PEM files, as `ovs-pki` makes them: docs/guide/tls.md tells how")
        }
        ChannelError::Setup { .. } => {
            Some("listen takes an address of this host (`ip address` shows them), connect one of the switch")
        }
        ChannelError::Closed { .. }
        | ChannelError::ClosedHere
        | ChannelError::Reset { .. }
        | ChannelError::OutboxFull { .. }
        | ChannelError::ReplyTooLong { .. }
        | ChannelError::Timeout { .. }
        | ChannelError::Rejected { .. }
        | ChannelError::Encode(_)
        | ChannelError::Decode(_) => None,
    };
    raise(error.name(), &error.to_string(), advice)
}

/// An error of a channel; of a refusal, with type, code and name in OpenFlow.
pub fn refused(error: &ChannelError, version: Version) -> PyErr {
    let ChannelError::Rejected { error_type, code, .. } = *error else { return channel(error) };
    let name = ErrorCode::from_wire(version, error_type, code).to_string();
    let raised = raise(error.name(), &format!("{error} ({name})"), None);
    Python::attach(|py| {
        let value = raised.value(py);
        let set = value.setattr("error_type", error_type).and_then(|()| value.setattr("code", code));
        set.and_then(|()| value.setattr("reason", name))
            .map_or_else(|failed| failed, |()| raised.clone_ref(py))
    })
}

/// An error of the simulated testbed.
pub fn simulation(error: &SimulationError) -> PyErr {
    match error {
        SimulationError::Model(error) => raise("config", &error.to_string(), None),
        SimulationError::Traffic(error) => traffic(error),
        SimulationError::Busy => usage(error),
    }
}

/// An error of the traffic engine.
pub fn traffic(error: &TrafficError) -> PyErr {
    match error {
        TrafficError::Port(error) => port(error),
        TrafficError::NoSuchPort { .. }
        | TrafficError::DuplicateStream { .. }
        | TrafficError::FrameTooLong { .. }
        | TrafficError::Thread(_) => raise(error.name(), &error.to_string(), None),
    }
}
