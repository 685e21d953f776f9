//! Flow sets of `flowgauge/flows.py`, read by their attributes and turned into those of the core.

use std::net::{Ipv4Addr, Ipv6Addr};

use flowgauge_packet::{Field, FlowSet, MacAddr, Pattern};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::errors::usage;

/// The core's flow set for a Python `FlowSet`.
pub fn flow_set(flows: &Bound<'_, PyAny>) -> PyResult<FlowSet> {
    let (first, count): (u32, u32) = (flows.getattr("first")?.extract()?, flows.getattr("count")?.extract()?);
    let mut patterns = Vec::new();
    for item in flows.getattr("fields")?.call_method0("items")?.try_iter()? {
        let (name, value): (String, Bound<'_, PyAny>) = item?.extract()?;
        let field = field(&name)?;
        patterns.push((field, pattern(field, &value)?));
    }
    let whole = FlowSet::new(first.saturating_add(count), patterns).map_err(usage)?;
    Ok(whole.slice(first, count))
}

/// The field of that name.
pub fn field(name: &str) -> PyResult<Field> {
    Field::from_name(name).ok_or_else(|| {
        let known: Vec<_> = Field::ALL.iter().map(|f| f.name()).collect();
        usage(format!("no field is called {name:?}; there are: {}", known.join(", ")))
    })
}

fn pattern(field: Field, value: &Bound<'_, PyAny>) -> PyResult<Pattern> {
    let get = |name: &str| value.getattr(name);
    let full = field.full_mask();
    match value.get_type().name()?.to_str()? {
        "Increment" => {
            let bits: Option<u32> = get("bits")?.extract()?;
            let step: i128 = get("step")?.extract()?;
            let mask = bits.map_or(full, |b| low_bits(b) & full);
            Ok(Pattern::Increment { start: number(field, &get("start")?)?, step: step as u128 & full, mask })
        }
        "Cycle" => {
            let values = get("values")?.try_iter()?.map(|v| number(field, &v?)).collect::<PyResult<_>>()?;
            Ok(Pattern::List(values))
        }
        "Random" => {
            let mask: Option<u128> = get("mask")?.extract()?;
            let seed: u64 = get("seed")?.extract()?;
            Ok(Pattern::Random {
                base: number(field, &get("base")?)?,
                mask: mask.map_or(full, |m| m & full),
                seed,
            })
        }
        _ => Ok(Pattern::Fixed(number(field, value)?)),
    }
}

fn low_bits(n: u32) -> u128 {
    if n >= 128 { u128::MAX } else { (1 << n) - 1 }
}

/// A number, or an address as text, within the field's width.
fn number(field: Field, value: &Bound<'_, PyAny>) -> PyResult<u128> {
    let number = match value.cast::<PyString>() {
        Ok(text) => parse(field, text.to_str()?),
        Err(_) => value.extract::<u128>().ok(),
    };
    number.filter(|n| *n <= field.full_mask()).ok_or_else(|| {
        let allowed = match field.bits() {
            48 => "a number or an Ethernet address such as \"02:00:00:00:00:01\"",
            32 => "a number or an IPv4 address such as \"10.0.0.1\"",
            128 => "a number or an IPv6 address such as \"2001:db8::1\"",
            _ => "a number",
        };
        usage(format!("{field} is {value}; allowed: {allowed} of at most {} bits", field.bits()))
    })
}

fn parse(field: Field, text: &str) -> Option<u128> {
    let address = match field.bits() {
        48 => text.parse::<MacAddr>().ok().map(|a| a.to_u64().into()),
        32 => text.parse::<Ipv4Addr>().ok().map(|a| a.to_bits().into()),
        128 => text.parse::<Ipv6Addr>().ok().map(Ipv6Addr::to_bits),
        _ => None,
    };
    address.or_else(|| match text.strip_prefix("0x") {
        Some(digits) => u128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    })
}

/// Text values for tests of the seam: each field of each flow of a set.
#[pyfunction]
pub fn flow_values<'py>(py: Python<'py>, flows: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let set = flow_set(flows)?;
    let row = |i| {
        let row = PyDict::new(py);
        for field in set.fields() {
            row.set_item(field.name(), set.value(field, i))?;
        }
        Ok(row)
    };
    (0..set.count()).map(row).collect()
}
