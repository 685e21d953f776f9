//! Captures: ports go to a reader, and come back with what was counted.

use std::fs::File;
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use flowgauge_capture::Recording;
use flowgauge_clock::{Clock, Nanos};
use flowgauge_ports::pcap::Format;
use flowgauge_traffic::capture::{
    CaptureOptions, CaptureProgress, Captured, Capturing, Judge, ProbeStream, capture,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::channel::seconds;
use crate::errors::{self, usage};
use crate::outcome::latency;
use crate::port::{Port, put_all, take_all};
use crate::recording;

/// A capture under way.
#[pyclass(module = "flowgauge._core")]
pub struct Capture {
    running: Mutex<Option<Capturing>>,
    ports: Vec<Py<Port>>,
}

impl Capture {
    fn lock(&self) -> MutexGuard<'_, Option<Capturing>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Capture {
    /// `file`: a descriptor that is open for writing and becomes ours; None: frames are counted only. `form`: "pcap" or "pcapng".
    #[new]
    #[pyo3(signature = (ports, file, *, form, snaplen, count, duration_ns, probes, core, queue_bytes))]
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    fn new(
        py: Python<'_>,
        ports: Vec<Py<Port>>,
        file: Option<i32>,
        form: &str,
        snaplen: u32,
        count: Option<u64>,
        duration_ns: Option<u64>,
        probes: bool,
        core: Option<usize>,
        queue_bytes: usize,
    ) -> PyResult<Capture> {
        let format = match form {
            "pcap" => Format::Pcap,
            "pcapng" => Format::Pcapng,
            other => return Err(usage(format!("no format is called {other:?}; there are: pcap, pcapng"))),
        };
        // SAFETY: the caller gives the descriptor away.
        let file = file.map(|fd| (File::from(unsafe { OwnedFd::from_raw_fd(fd) }), format));
        let duration = duration_ns.map(Nanos);
        let options = CaptureOptions { snaplen, count, duration, probes, core, queue: queue_bytes };
        let taken = take_all(py, &ports)?;
        match py.detach(|| capture(taken, file, options)) {
            Ok(running) => Ok(Capture { running: Mutex::new(Some(running)), ports }),
            Err(error) => Err(errors::traffic(&error)),
        }
    }

    /// Counters so far: elapsed_ns, frames, bytes, lost, dropped, written.
    fn progress<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        progress(py, &self.lock().as_ref().map(Capturing::progress).unwrap_or_default())
    }

    /// Ends it: what has arrived is still written.
    fn stop(&self) {
        if let Some(running) = self.lock().as_ref() {
            running.stop();
        }
    }

    /// Whether it has ended within that time.
    fn wait(&self, py: Python<'_>, timeout_s: f64) -> bool {
        py.detach(|| self.lock().as_ref().is_none_or(|running| running.wait(seconds(timeout_s))))
    }

    /// Waits for the end, puts the ports back, gives what was counted. The second call gives an empty one.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Some(running) = self.lock().take() else { return Ok(PyDict::new(py)) };
        let Captured { ports, outcome } = py.detach(|| running.finish());
        put_all(py, &self.ports, ports);
        let dict = progress(py, &outcome.progress)?;
        dict.set_item("ports", outcome.ports)?;
        let stamps: Vec<_> = outcome.stamps.iter().map(|source| source.name()).collect();
        dict.set_item("stamps", stamps)?;
        dict.set_item("probes", probe_streams(py, &outcome.probes)?)?;
        dict.set_item("error", outcome.error.as_ref().map(|e| errors::traffic(e).into_value(py)))?;
        dict.set_item("write_error", outcome.write_error.map(|e| e.to_string()))?;
        Ok(dict)
    }
}

fn progress<'py>(py: Python<'py>, progress: &CaptureProgress) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("elapsed_ns", progress.elapsed.0)?;
    dict.set_item("frames", progress.frames)?;
    dict.set_item("bytes", progress.bytes)?;
    dict.set_item("lost", progress.lost)?;
    dict.set_item("dropped", progress.dropped)?;
    dict.set_item("written", progress.written)?;
    Ok(dict)
}

fn probe_streams<'py>(py: Python<'py>, streams: &[ProbeStream]) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let one = |stream: &ProbeStream| {
        let (dict, counters) = (PyDict::new(py), &stream.counters);
        dict.set_item("nonce", stream.nonce)?;
        dict.set_item("stream", stream.stream)?;
        dict.set_item("sent", counters.sent)?;
        dict.set_item("received", counters.received)?;
        dict.set_item("lost", counters.lost)?;
        dict.set_item("duplicated", counters.duplicated)?;
        dict.set_item("reordered", counters.reordered)?;
        dict.set_item("corrupt", counters.corrupt)?;
        dict.set_item("latency", stream.latency.as_ref().map(|delays| latency(py, delays)).transpose()?)?;
        dict.set_item("variation", latency(py, &stream.variation)?)?;
        Ok(dict)
    };
    streams.iter().map(one).collect()
}

/// The probes in a capture file, judged: streams as in the outcome of a capture, and frames and bytes in all.
#[pyfunction]
pub fn judge_capture<'py>(py: Python<'py>, path: Option<PathBuf>) -> PyResult<Bound<'py, PyDict>> {
    let recording = recording::read(py, path)?;
    let streams = py.detach(|| judge(&recording));
    let dict = PyDict::new(py);
    dict.set_item("frames", recording.len())?;
    dict.set_item("bytes", recording.total())?;
    dict.set_item("broken", recording.broken.as_ref().map(ToString::to_string))?;
    dict.set_item("probes", probe_streams(py, &streams)?)?;
    Ok(dict)
}

/// Delays are known if the capture was taken on this host since it started.
fn judge(recording: &Recording) -> Vec<ProbeStream> {
    let (mut judge, offset) = (Judge::new(), Clock.offset_from_wall());
    for (frame, &at) in recording.frames().zip(recording.times_ns()) {
        judge.frame(frame, offset.to_tester(at));
    }
    judge.finish()
}
