//! An established OpenFlow channel: questions, and plays.

use flowgauge_channel::ChannelError;
use flowgauge_clock::Nanos;
use flowgauge_measure::FlowOrder;
use flowgauge_openflow::{
    Body, Features, FlowStatsRequest, FragmentHandling, Message, MultipartReply, MultipartRequest, PacketOut,
    Port, PortNo, ReplyBody, RequestBody, SwitchConfig, Version, decode, encode,
};
use flowgauge_traffic::play::{Echoes, Encoded, PacketOuts, PlayOptions, Source};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::channel::{seconds, wire_version};
use crate::errors;
use crate::flow_mods::{self, FlowMods};
use crate::line::Line;
use crate::openflow;
use crate::play::Play;
use crate::schedule::schedule;
use crate::transmission::Transmission;

/// An established OpenFlow channel, controller's side.
#[pyclass(module = "flowgauge._core")]
pub struct Connection {
    pub(crate) inner: Line,
    version: Version,
}

impl Connection {
    /// Wraps a connection whose handshake is complete.
    pub fn new(inner: Line) -> PyResult<Connection> {
        let version = Version::from_wire(inner.version())
            .ok_or_else(|| errors::raise("version-mismatch", "the agreed version is not known", None))?;
        Ok(Connection { inner, version })
    }

    fn encoded(&self, body: Body) -> PyResult<Vec<u8>> {
        let mut bytes = Vec::new();
        encode(&Message::new(self.inner.reserve_xids(1), body), self.version, &mut bytes)
            .map_err(|e| errors::raise("encode", &e.to_string(), None))?;
        Ok(bytes)
    }

    fn ask(&self, py: Python<'_>, request: RequestBody, timeout_s: f64) -> PyResult<Vec<ReplyBody>> {
        let bytes = self.encoded(Body::MultipartRequest(MultipartRequest::new(request)))?;
        let replies = py
            .detach(|| self.inner.transact_raw(&bytes, seconds(timeout_s)))
            .map_err(|e| errors::refused(&e, self.version))?;
        replies.iter().map(|reply| part(&reply.frame)).collect()
    }

    fn features(&self) -> PyResult<Features> {
        match message(&self.inner.features())? {
            Body::FeaturesReply(features) => Ok(features),
            other => Err(unexpected(&other)),
        }
    }

    fn start(&self, source: Box<dyn Source>, options: PlayOptions) -> Play {
        Play::new(self.inner.play(source, options), self.version)
    }
}

#[pymethods]
impl Connection {
    /// "1.0" or "1.3".
    #[getter]
    fn version(&self) -> String {
        flowgauge_channel::version_name(wire_version(self.version))
    }

    /// The switch's datapath id: 16 hexadecimal digits.
    #[getter]
    fn datapath_id(&self) -> String {
        format!("{:016x}", self.inner.datapath_id().unwrap_or(0))
    }

    /// The name in the switch's certificate; None without TLS.
    #[getter]
    fn peer_name(&self) -> Option<String> {
        self.inner.peer_name()
    }

    /// What limits made us drop or hold, and where messages are stamped.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("log_dropped", self.inner.log_dropped())?;
        dict.set_item("echoes_dropped", self.inner.echoes_dropped())?;
        dict.set_item("queued_bytes", self.inner.queued_bytes())?;
        dict.set_item("timestamps", self.inner.stamps())?;
        Ok(dict)
    }

    /// Stable name and text of why it ended; None while it is up.
    fn ended(&self) -> Option<(&'static str, String)> {
        self.inner.ended().map(|why| (why.name(), why.to_string()))
    }

    /// Arrival of the BARRIER_REPLY.
    fn barrier(&self, py: Python<'_>, timeout_s: f64) -> PyResult<u64> {
        let at = py.detach(|| self.inner.barrier(seconds(timeout_s))).map_err(|e| errors::channel(&e))?;
        Ok(at.0)
    }

    /// Messages that came unasked since the last call: arrival in ns, and bytes.
    fn take_messages(&self, py: Python<'_>) -> Vec<(u64, Py<PyBytes>)> {
        let log = self.inner.take_log();
        log.iter().map(|message| (message.stamp.0, PyBytes::new(py, message.frame).unbind())).collect()
    }

    /// SET_CONFIG and a barrier.
    fn set_miss_send_len(&self, py: Python<'_>, length: u16, timeout_s: f64) -> PyResult<()> {
        let config = SwitchConfig { fragments: FragmentHandling::Normal, miss_send_len: length };
        let mut messages = [self.encoded(Body::SetConfig(config))?];
        py.detach(|| self.inner.apply_raw(&mut messages, seconds(timeout_s)))
            .map_err(|e| errors::channel(&e))?;
        Ok(())
    }

    /// Flow entries by aggregate statistics.
    fn count_entries(&self, py: Python<'_>, timeout_s: f64) -> PyResult<u64> {
        let parts = self.ask(py, RequestBody::Aggregate(FlowStatsRequest::default()), timeout_s)?;
        let counts = parts.iter().filter_map(|part| match part {
            ReplyBody::Aggregate(stats) => Some(u64::from(stats.flow_count)),
            _ => None,
        });
        Ok(counts.sum())
    }

    /// The switch's description, features, tables and ports.
    fn describe<'py>(&self, py: Python<'py>, timeout_s: f64) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let features = self.features()?;
        for part in self.ask(py, RequestBody::Desc, timeout_s)? {
            if let ReplyBody::Desc(desc) = part {
                dict.set_item("manufacturer", desc.mfr_desc)?;
                dict.set_item("hardware", desc.hw_desc)?;
                dict.set_item("software", desc.sw_desc)?;
                dict.set_item("serial_number", desc.serial_num)?;
                dict.set_item("datapath", desc.dp_desc)?;
            }
        }
        dict.set_item("openflow", self.version())?;
        dict.set_item("datapath_id", format!("{:016x}", features.datapath_id))?;
        dict.set_item("buffers", features.n_buffers)?;
        dict.set_item("tables", features.n_tables)?;
        dict.set_item("capabilities", format!("{:?}", features.capabilities))?;
        let ports = if self.version == Version::V1_0 {
            features.ports
        } else {
            let parts = self.ask(py, RequestBody::PortDesc(PortNo::ANY), timeout_s)?;
            parts.into_iter().filter_map(ports_of).flatten().collect()
        };
        let ports: Vec<_> = ports.iter().map(|port| described(py, port)).collect::<PyResult<_>>()?;
        dict.set_item("ports", ports)?;
        Ok(dict)
    }

    /// Flow entries with their counters, as ovs-ofctl prints them.
    fn dump_flows(&self, py: Python<'_>, timeout_s: f64) -> PyResult<Vec<String>> {
        let parts = self.ask(py, RequestBody::Flow(FlowStatsRequest::default()), timeout_s)?;
        let texts = parts.iter().filter_map(|part| match part {
            ReplyBody::Flow(entries) => Some(entries.iter().map(ToString::to_string)),
            _ => None,
        });
        Ok(texts.flatten().collect())
    }

    /// Whole messages that have no reply, under transaction ids of our own, and a barrier.
    fn apply(&self, py: Python<'_>, mut messages: Vec<Vec<u8>>, timeout_s: f64) -> PyResult<()> {
        py.detach(|| self.inner.apply_raw(&mut messages, seconds(timeout_s)))
            .map_err(|e| errors::refused(&e, self.version))?;
        Ok(())
    }

    /// One whole message under a transaction id of our own, and its replies.
    fn transact(&self, py: Python<'_>, mut message: Vec<u8>, timeout_s: f64) -> PyResult<Vec<Vec<u8>>> {
        if let Some(xid) = message.get_mut(4..8) {
            xid.copy_from_slice(&self.inner.reserve_xids(1).to_be_bytes());
        }
        let replies = py
            .detach(|| self.inner.transact_raw(&message, seconds(timeout_s)))
            .map_err(|e| errors::refused(&e, self.version))?;
        Ok(replies.into_iter().map(|reply| reply.frame).collect())
    }

    /// FLOW_MODs, then a barrier.
    fn flow_mods(&self, mods: Vec<PyRef<'_, FlowMods>>, schedule: &Bound<'_, PyAny>) -> PyResult<Play> {
        let (count, encode) = flow_mods::encoder(&mods, self.version)?;
        let options = PlayOptions { schedule: self::schedule(schedule)?, ..PlayOptions::default() };
        Ok(self.start(Box::new(Encoded::new(count, encode)), options))
    }

    /// ECHO_REQUESTs with their send time as payload.
    fn echo(&self, schedule: &Bound<'_, PyAny>, duration_ns: u64) -> PyResult<Play> {
        let options = PlayOptions {
            schedule: self::schedule(schedule)?,
            duration: Some(Nanos(duration_ns)),
            barrier: false,
            ..PlayOptions::default()
        };
        Ok(self.start(Box::new(Echoes::new(wire_version(self.version))), options))
    }

    /// PACKET_OUTs with the probes of a running transmission's stream.
    fn packet_out(
        &self,
        transmission: &Transmission,
        stream: usize,
        out_port: u32,
        duration_ns: u64,
        schedule: &Bound<'_, PyAny>,
    ) -> PyResult<Play> {
        let (frames, identity) = transmission.probes_of(stream)?;
        let empty = self.encoded(Body::PacketOut(PacketOut::to_port(PortNo(out_port), Vec::new())))?;
        let source = PacketOuts::new(empty, frames, FlowOrder::Sequential, identity);
        let options = PlayOptions {
            schedule: self::schedule(schedule)?,
            duration: Some(Nanos(duration_ns)),
            barrier: false,
            ..PlayOptions::default()
        };
        Ok(self.start(Box::new(source), options))
    }

    /// Sends a message given as JSON; every part of its reply as JSON. A message without a reply is followed by a barrier.
    fn request(&self, py: Python<'_>, json: &str, timeout_s: f64) -> PyResult<Vec<String>> {
        let body = openflow::message(json)?.body;
        let answered = is_answered(&body);
        let bytes = self.encoded(body)?;
        let refused = |error: ChannelError| errors::refused(&error, self.version);
        if !answered {
            py.detach(|| self.inner.apply_raw(&mut [bytes], seconds(timeout_s))).map_err(refused)?;
            return Ok(Vec::new());
        }
        let replies = py.detach(|| self.inner.transact_raw(&bytes, seconds(timeout_s))).map_err(refused)?;
        let decoded = |frame: &[u8]| decode(frame).map_err(|e| errors::raise("decode", &e.to_string(), None));
        replies.iter().map(|reply| openflow::json(decoded(&reply.frame)?.1)).collect()
    }

    /// Closes it.
    fn close(&self) {
        self.inner.close();
    }
}

/// Whether switches reply to such a message when all is well.
fn is_answered(body: &Body) -> bool {
    matches!(
        body,
        Body::EchoRequest(_)
            | Body::FeaturesRequest
            | Body::GetConfigRequest
            | Body::MultipartRequest(_)
            | Body::BarrierRequest
            | Body::QueueGetConfigRequest(_)
            | Body::RoleRequest(_)
            | Body::GetAsyncRequest
            | Body::BundleControl(_)
    )
}

fn message(frame: &[u8]) -> PyResult<Body> {
    let decoded = decode(frame).map_err(|e| errors::raise("decode", &e.to_string(), None))?;
    Ok(decoded.1.body)
}

fn part(frame: &[u8]) -> PyResult<ReplyBody> {
    match message(frame)? {
        Body::MultipartReply(MultipartReply { body, .. }) => Ok(body),
        other => Err(unexpected(&other)),
    }
}

fn unexpected(body: &Body) -> PyErr {
    let error = ChannelError::Decode(format!("the switch answered with {:?}", body.kind()));
    errors::channel(&error)
}

fn ports_of(part: ReplyBody) -> Option<Vec<Port>> {
    match part {
        ReplyBody::PortDesc(ports) => Some(ports),
        _ => None,
    }
}

fn described<'py>(py: Python<'py>, port: &Port) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("of_port", port.port_no.0)?;
    dict.set_item("name", &port.name)?;
    dict.set_item("mac", port.hw_addr.to_string())?;
    Ok(dict)
}
