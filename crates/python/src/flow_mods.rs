//! FLOW_MODs from text in ovs-ofctl syntax and a flow set.

use flowgauge_openflow::{
    Action, Body, FlowMod, FlowModCommand, Instruction, Message, PortNo, Version, encode,
};
use flowgauge_packet::{Field, FlowSet};
use flowgauge_traffic::play::EncodeFn;
use pyo3::prelude::*;

use crate::errors::{self, usage};
use crate::values::{field, flow_set};

/// FLOW_MODs of one kind: a template, and the flows on which each is exact.
#[pyclass(module = "flowgauge._core")]
#[derive(Clone)]
pub struct FlowMods {
    template: FlowMod,
    flows: Option<(FlowSet, Vec<Field>)>,
}

impl FlowMods {
    fn count(&self) -> u64 {
        self.flows.as_ref().map_or(1, |(flows, _)| flows.count().into())
    }

    fn flow_mod(&self, i: u32) -> FlowMod {
        let mut made = self.template.clone();
        if let Some((flows, fields)) = &self.flows {
            let key = flows.flow(i);
            for &field in fields {
                if let Some(value) = key.get(field) {
                    made.match_ = made.match_.with(field, value);
                }
            }
        }
        made
    }
}

#[pymethods]
impl FlowMods {
    #[new]
    #[pyo3(signature = (command, text, flows=None, fields=None))]
    fn new(
        command: &str,
        text: &str,
        flows: Option<&Bound<'_, PyAny>>,
        fields: Option<Vec<String>>,
    ) -> PyResult<FlowMods> {
        let template = parse(command, text)?;
        let fields: Vec<Field> =
            fields.unwrap_or_default().iter().map(|f| field(f)).collect::<PyResult<_>>()?;
        let flows = flows.map(flow_set).transpose()?.map(|flows| (flows, fields));
        Ok(FlowMods { template, flows })
    }

    fn __len__(&self) -> usize {
        self.count() as usize
    }
}

/// One encoder for all, in their order.
pub fn encoder(mods: &[PyRef<'_, FlowMods>], version: Version) -> PyResult<(u64, EncodeFn)> {
    let all: Vec<FlowMods> = mods.iter().map(|m| (*m).clone()).collect();
    for one in &all {
        let message = Message::new(0, Body::FlowMod(one.flow_mod(0)));
        encode(&message, version, &mut Vec::new()).map_err(|e| errors::raise("encode", &e.to_string(), None))?;
    }
    let count = all.iter().map(FlowMods::count).sum();
    let mut current = 0;
    let mut before = 0;
    let next = move |i: u64, xid: u32, out: &mut Vec<u8>| {
        while i - before >= all[current].count() {
            before += all[current].count();
            current += 1;
        }
        let message = Message::new(xid, Body::FlowMod(all[current].flow_mod((i - before) as u32)));
        let _ = encode(&message, version, out);
    };
    Ok((count, Box::new(next)))
}

// TEMP until flow syntax
fn parse(command: &str, text: &str) -> PyResult<FlowMod> {
    let command = match command {
        "add" => FlowModCommand::Add,
        "modify_strict" => FlowModCommand::ModifyStrict,
        "delete" => FlowModCommand::Delete,
        "delete_strict" => FlowModCommand::DeleteStrict,
        other => return Err(usage(format!("no command {other}"))),
    };
    let mut made = if text.is_empty() { FlowMod::delete_all() } else { FlowMod::default() };
    made.command = command;
    let (head, actions) = text.split_once("actions=").unwrap_or((text, ""));
    for part in head.split(',').filter(|p| !p.is_empty()) {
        let (key, value) = part.split_once('=').unwrap_or((part, "0"));
        let n: u32 = value.parse().map_err(|_| usage(part))?;
        match key {
            "priority" => made.priority = n as u16,
            "in_port" => made.match_ = made.match_.with(Field::InPort, n.into()),
            _ => return Err(usage(part)),
        }
    }
    let mut list = Vec::new();
    for action in actions.split(',') {
        match action.split_once(':') {
            Some(("output", n)) => list.push(Action::output(PortNo(n.parse().map_err(usage)?))),
            Some(("CONTROLLER", n)) => list.push(Action::Output {
                port: PortNo::CONTROLLER,
                max_len: n.parse().map_err(usage)?,
            }),
            _ => {}
        }
    }
    if !list.is_empty() {
        made.instructions = vec![Instruction::ApplyActions(list)];
    }
    Ok(made)
}
