//! FLOW_MODs from text in ovs-ofctl syntax and a flow set.

use flowgauge_openflow::{
    Body, FlowEncoder, FlowMod, FlowModCommand, Message, TABLE_ALL, Version, encode, syntax,
};
use flowgauge_packet::{Field, FlowSet};
use flowgauge_traffic::play::EncodeFn;
use pyo3::prelude::*;

use crate::errors::{self, usage};
use crate::values::{field, flow_set};

/// A FLOW_MOD that adds a flow in ovs-ofctl syntax.
#[pyfunction]
pub fn encode_flow(text: &str, version: &str) -> PyResult<Vec<u8>> {
    let flow_mod = syntax::parse_flow(text).map_err(|e| usage(format!("{text:?}: {e}")))?;
    encoded(Body::FlowMod(flow_mod), crate::channel::version(version)?)
}

/// A GROUP_MOD in ovs-ofctl syntax. `command`: a word of that syntax, "add", "modify", "delete" (all, unless one is named).
#[pyfunction]
pub fn encode_group(command: &str, text: &str, version: &str) -> PyResult<Vec<u8>> {
    let text = format!("{command} {text}");
    let group_mod = syntax::parse_group(&text).map_err(|e| usage(format!("{text:?}: {e}")))?;
    encoded(Body::GroupMod(group_mod), crate::channel::version(version)?)
}

/// A METER_MOD in ovs-ofctl syntax. `command`: a word of that syntax, "add", "modify", "delete" (all, unless one is named).
#[pyfunction]
pub fn encode_meter(command: &str, text: &str, version: &str) -> PyResult<Vec<u8>> {
    let text = format!("{command} {text}");
    let meter_mod = syntax::parse_meter(&text).map_err(|e| usage(format!("{text:?}: {e}")))?;
    encoded(Body::MeterMod(meter_mod), crate::channel::version(version)?)
}

/// A whole message, its transaction id 0.
pub fn encoded(body: Body, version: Version) -> PyResult<Vec<u8>> {
    let mut bytes = Vec::new();
    encode(&Message::new(0, body), version, &mut bytes)
        .map_err(|e| errors::raise("encode", &e.to_string(), None))?;
    Ok(bytes)
}

/// FLOW_MODs of one kind: a template, and the flows on which each is exact.
#[pyclass(module = "flowgauge._core")]
pub struct FlowMods {
    template: FlowMod,
    flows: Option<(FlowSet, Vec<Field>)>,
}

#[pymethods]
impl FlowMods {
    /// `command`: "add", "modify", "modify_strict", "delete" (from all tables unless one is named), "delete_strict". An empty
    /// `text` is an entry that matches everything and does nothing.
    #[new]
    #[pyo3(signature = (command, text, flows=None, fields=None))]
    fn new(
        command: &str,
        text: &str,
        flows: Option<&Bound<'_, PyAny>>,
        fields: Option<Vec<String>>,
    ) -> PyResult<FlowMods> {
        let mut template = syntax::parse_flow(text).map_err(|e| usage(format!("{text:?}: {e}")))?;
        template.command = match command {
            "add" => FlowModCommand::Add,
            "modify" => FlowModCommand::Modify,
            "modify_strict" => FlowModCommand::ModifyStrict,
            "delete" => FlowModCommand::Delete,
            "delete_strict" => FlowModCommand::DeleteStrict,
            other => return Err(usage(format!("no FLOW_MOD command is called {other:?}"))),
        };
        if template.command == FlowModCommand::Delete && !names_table(text) {
            template.table_id = TABLE_ALL;
        }
        let names = fields.unwrap_or_default();
        let fields = names.iter().map(|name| field(name)).collect::<PyResult<_>>()?;
        let flows = flows.map(flow_set).transpose()?.map(|flows| (flows, fields));
        Ok(FlowMods { template, flows })
    }

    /// Each as ovs-ofctl takes it, without its command; those of deletes without actions, which they may not have.
    fn texts(&self) -> PyResult<Vec<String>> {
        let mods = match &self.flows {
            None => vec![self.template.clone()],
            Some((flows, fields)) => {
                // The text is the same in all versions.
                FlowEncoder::new(self.template.clone(), flows.clone(), fields, Version::V1_3)
                    .and_then(|encoder| (0..encoder.len()).map(|i| encoder.flow_mod(i)).collect())
                    .map_err(|e| errors::raise("encode", &e.to_string(), None))?
            }
        };
        Ok(mods.iter().map(text).collect())
    }

    fn __len__(&self) -> usize {
        self.flows.as_ref().map_or(1, |(flows, _)| flows.count() as usize)
    }
}

/// Whether a flow says in which table it is.
fn names_table(text: &str) -> bool {
    text.split([',', ' ', '\t']).any(|item| item.starts_with("table="))
}

fn text(flow_mod: &FlowMod) -> String {
    // What is to be done with the flow is said apart: here all are printed as those that add.
    let added = FlowMod { command: FlowModCommand::Add, ..flow_mod.clone() };
    if !matches!(flow_mod.command, FlowModCommand::Delete | FlowModCommand::DeleteStrict) {
        return added.to_string();
    }
    // All tables is what a delete means that names none.
    let table_id = if flow_mod.table_id == TABLE_ALL { 0 } else { flow_mod.table_id };
    let text = FlowMod { table_id, ..added }.to_string();
    text.rsplit_once("actions=").map_or("", |(head, _)| head.trim_end()).to_owned()
}

/// How many messages, and what encodes each, of several kinds one after another.
pub fn encoder(mods: &[PyRef<'_, FlowMods>], version: Version) -> PyResult<(u64, EncodeFn)> {
    let kinds: Vec<Kind> = mods.iter().map(|mods| Kind::new(mods, version)).collect::<PyResult<_>>()?;
    let count = kinds.iter().map(|kind| u64::from(kind.count())).sum();
    let (mut current, mut before) = (0, 0);
    let encode = move |i: u64, xid: u32, out: &mut Vec<u8>| {
        // A message may be encoded again when the socket was full, never one of an earlier kind.
        while i - before >= u64::from(kinds[current].count()) {
            before += u64::from(kinds[current].count());
            current += 1;
        }
        kinds[current].encode((i - before) as u32, xid, out);
    };
    Ok((count, Box::new(encode)))
}

/// Messages of one kind.
enum Kind {
    /// One, encoded but for its transaction id.
    One(Vec<u8>),
    /// One per flow.
    Flows(Box<FlowEncoder>),
}

impl Kind {
    fn new(mods: &FlowMods, version: Version) -> PyResult<Kind> {
        let template = mods.template.clone();
        match &mods.flows {
            Some((flows, fields)) => FlowEncoder::new(template, flows.clone(), fields, version)
                .map(|encoder| Kind::Flows(Box::new(encoder)))
                .map_err(|e| errors::raise("encode", &e.to_string(), None)),
            None => encoded(Body::FlowMod(template), version).map(Kind::One),
        }
    }

    fn count(&self) -> u32 {
        match self {
            Kind::One(_) => 1,
            Kind::Flows(encoder) => encoder.len(),
        }
    }

    fn encode(&self, i: u32, xid: u32, out: &mut Vec<u8>) {
        match self {
            Kind::One(bytes) => {
                let start = out.len();
                out.extend_from_slice(bytes);
                out[start + 4..start + 8].copy_from_slice(&xid.to_be_bytes());
            }
            Kind::Flows(encoder) => encoder.encode(i, xid, out),
        }
    }
}
