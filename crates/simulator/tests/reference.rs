//! The reference page names every parameter with its default, in the order of the model, and no other.

use flowgauge_simulator::Model;
use flowgauge_simulator::model::QueueModel;
use serde_json::{Map, Value, json};

const PAGE: &str = include_str!("../../../docs/reference/simulator.md");

/// Keys and defaults as the page writes them.
fn parameters(prefix: &str, group: &Map<String, Value>, found: &mut Vec<(String, String)>) {
    for (name, value) in group {
        let key = format!("{prefix}{name}");
        match value {
            Value::Object(inner) if inner.contains_key("mean_ns") => found.push((key, "0".into())),
            Value::Object(inner) => parameters(&format!("{key}."), inner, found),
            Value::Number(number) => found.push((key, number.as_f64().expect("a number").to_string())),
            Value::String(word) => found.push((key, word.clone())),
            Value::Bool(flag) => found.push((key, flag.to_string())),
            Value::Null => found.push((key, "none".into())),
            Value::Array(_) => {
                found.push((key.clone(), "[]".into()));
                if key == "queues.output" {
                    let queue = json!(QueueModel::default());
                    parameters("queues.output[].", queue.as_object().expect("a table"), found);
                }
            }
        }
    }
}

#[test]
fn names_every_parameter_with_its_default() {
    let model: Value = serde_json::from_str(&Model::default().to_json()).unwrap();
    let mut expected = Vec::new();
    parameters("", model.as_object().unwrap(), &mut expected);
    expected.sort();
    let cells = PAGE.lines().filter_map(|line| line.strip_prefix("| `")).map(|line| line.splitn(3, " | "));
    let mut told: Vec<_> = cells
        .map(|mut cells| {
            let key = cells.next().unwrap_or_default().trim_end_matches('`').to_owned();
            (key, cells.next().unwrap_or_default().to_owned())
        })
        .collect();
    told.sort();
    assert_eq!(told, expected);
}
