//! Messages as JSON, text and bytes.

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use flowgauge_capture::{DecodeOptions, Decoder, Form};
use flowgauge_openflow::json::Line;
use flowgauge_openflow::{Message, Version, decode, encode};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{self, usage};

/// The version that people write "1.3", whether or not a switch is offered it.
fn version(text: &str) -> PyResult<Version> {
    text.parse().map_err(|e| usage(format!("{e}, not {text:?}")))
}

/// A message from JSON (docs/reference/openflow-json.md).
pub fn message(json: &str) -> PyResult<Message> {
    serde_json::from_str(json).map_err(|e| usage(format!("no message: {e}")))
}

/// A message as JSON.
pub fn json(message: Message) -> PyResult<String> {
    let line = Line { version: None, message };
    serde_json::to_string(&line).map_err(|e| errors::raise("decode", &e.to_string(), None))
}

/// The bytes of a message that is given as JSON.
#[pyfunction]
pub fn encode_message<'py>(py: Python<'py>, json: &str, version: &str) -> PyResult<Bound<'py, PyBytes>> {
    let mut bytes = Vec::new();
    encode(&message(json)?, self::version(version)?, &mut bytes)
        .map_err(|e| errors::raise("encode", &e.to_string(), None))?;
    Ok(PyBytes::new(py, &bytes))
}

/// Version and JSON of one whole message.
#[pyfunction]
pub fn decode_message(data: &[u8]) -> PyResult<(String, String)> {
    let (version, message) = decode(data).map_err(|e| errors::raise("decode", &e.to_string(), None))?;
    Ok((version.to_string(), json(message)?))
}

/// Reads captures and hexadecimal dumps, gives lines.
#[pyclass(module = "flowgauge._core")]
pub struct OpenflowDecoder {
    inner: Mutex<Decoder>,
}

#[pymethods]
impl OpenflowDecoder {
    /// `path` None: standard input.
    #[new]
    fn new(path: Option<PathBuf>, text: bool, ports: Vec<u16>) -> PyResult<OpenflowDecoder> {
        let options = DecodeOptions { form: if text { Form::Text } else { Form::Json }, ports };
        let name = path.as_ref().map_or("standard input".into(), |path| path.display().to_string());
        let input: Box<dyn std::io::Read + Send> = match path {
            Some(path) => Box::new(File::open(path).map_err(|e| unreadable(&name, &e))?),
            None => Box::new(std::io::stdin()),
        };
        let decoder = Decoder::new(input, &options).map_err(|e| unreadable(&name, &e))?;
        Ok(OpenflowDecoder { inner: Mutex::new(decoder) })
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    /// Some lines, each with its line feed.
    fn __next__(&self, py: Python<'_>) -> PyResult<Option<String>> {
        py.detach(|| self.inner.lock().unwrap_or_else(PoisonError::into_inner).next_lines())
            .map_err(|e| unreadable("the input", &e))
    }

    /// Messages so far.
    #[getter]
    fn messages(&self) -> u64 {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).messages()
    }

    /// Lines so far that say what is wrong.
    #[getter]
    fn errors(&self) -> u64 {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).errors()
    }
}

fn unreadable(name: &str, error: &std::io::Error) -> PyErr {
    usage(format!("{name}: can't be read: {error}"))
}

/// Writes the bytes of messages in hexadecimal.
#[pyclass(module = "flowgauge._core")]
pub struct OpenflowEncoder {
    inner: flowgauge_capture::Encoder,
}

#[pymethods]
impl OpenflowEncoder {
    /// `version` is for lines that don't name one.
    #[new]
    fn new(version: &str) -> PyResult<OpenflowEncoder> {
        Ok(OpenflowEncoder { inner: flowgauge_capture::Encoder::new(self::version(version)?) })
    }

    /// The bytes of one line's message in hexadecimal; None if the line has none. Raises UsageError, EncodeError.
    fn line(&mut self, text: &str) -> PyResult<Option<String>> {
        self.inner.line(text).map_err(usage)
    }
}
