//! Frames as they are: from Python's bytes, or out of a capture.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use flowgauge_capture::{Recording as Frames, RecordingError};
use flowgauge_packet::RawFrames;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::errors::{self, usage};

/// The frames of a capture: a sequence of bytes, with their times.
#[pyclass(module = "flowgauge._core", frozen, sequence)]
pub struct Recording {
    inner: Arc<Frames>,
}

#[pymethods]
impl Recording {
    fn __len__(&self) -> usize {
        self.inner.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Bound<'py, PyBytes>> {
        let index = if index < 0 { index + self.inner.len() as isize } else { index };
        let frame = usize::try_from(index).ok().and_then(|i| self.inner.frame(i));
        frame.map(|bytes| PyBytes::new(py, bytes)).ok_or_else(|| PyIndexError::new_err("no such frame"))
    }

    /// Nanoseconds since 1970, in the file's order.
    #[getter]
    fn times_ns(&self) -> Vec<u64> {
        self.inner.times_ns().to_vec()
    }

    /// Bytes of all frames together, without FCS.
    #[getter]
    fn total_bytes(&self) -> usize {
        self.inner.total()
    }

    /// Frames of which the capture kept only the first bytes.
    #[getter]
    fn cut(&self) -> u64 {
        self.inner.cut
    }

    /// Why the file was not read to its end, if it was not.
    #[getter]
    fn broken(&self) -> Option<String> {
        self.inner.broken.as_ref().map(ToString::to_string)
    }
}

/// All frames of a pcap or pcapng file; `path` None: standard input.
#[pyfunction]
pub fn read_capture(py: Python<'_>, path: Option<PathBuf>) -> PyResult<Recording> {
    Ok(Recording { inner: Arc::new(read(py, path)?) })
}

/// The frames of a file, or of standard input. Raises CaptureFileError.
pub fn read(py: Python<'_>, path: Option<PathBuf>) -> PyResult<Frames> {
    let name = path.as_ref().map_or("standard input".into(), |path| path.display().to_string());
    let read = || -> Result<Frames, RecordingError> {
        match path {
            Some(path) => Frames::read(Box::new(File::open(path)?)),
            None => Frames::read(Box::new(std::io::stdin())),
        }
    };
    py.detach(read).map_err(|error| errors::raise("capture-file", &format!("{name} {error}"), None))
}

/// The raw frames of a Python `Frames`.
pub fn raw_frames(flows: &Bound<'_, PyAny>) -> PyResult<RawFrames> {
    let probe: bool = flows.getattr("probe")?.extract()?;
    let frames = flows.getattr("frames")?;
    if let Ok(recording) = frames.cast::<Recording>() {
        let inner = &recording.get().inner;
        return flows.py().detach(|| RawFrames::new(inner.frames(), probe)).map_err(usage);
    }
    let frames: Vec<PyBackedBytes> = frames.extract()?;
    RawFrames::new(frames, probe).map_err(usage)
}
