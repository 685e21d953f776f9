//! The device model: what a simulated switch is, in numbers. Whatever is left out is ideal: it takes no time and has room
//! for everything.
//!
//! A model is a table of groups (`[link]`, `[forwarding]`, ...), one file here for each. Keys carry their unit.

mod control;
mod distribution;
mod error;
mod forwarding;
mod link;
mod queues;
mod software;
mod statistics;
mod table;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use control::{Barrier, ControlModel, PathModel};
pub use distribution::{Distribution, Kind};
pub use error::ModelError;
pub use forwarding::{ForwardingModel, Mode};
pub use link::LinkModel;
pub use queues::{QueueModel, QueuesModel, Spread};
pub use software::SoftwareModel;
pub use statistics::{Resolution, StatisticsModel};
pub use table::TableModel;

use error::check;

/// The parameters of a simulated switch and of its cables.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// The cables between tester and switch.
    pub link: LinkModel,
    /// The way of a frame through the switch.
    pub forwarding: ForwardingModel,
    /// Where frames wait.
    pub queues: QueuesModel,
    /// What the switch does in software.
    pub software: SoftwareModel,
    /// The flow tables.
    pub table: TableModel,
    /// The control path.
    pub control: ControlModel,
    /// Counters as the controller sees them.
    pub statistics: StatisticsModel,
}

impl Model {
    /// The model that a JSON object describes (a TOML file's table, as JSON).
    ///
    /// # Errors
    /// [`ModelError`] names the key: unknown, of the wrong type, or out of range.
    pub fn from_json(json: &str) -> Result<Model, ModelError> {
        let value: Value = serde_json::from_str(json).map_err(|e| ModelError::new("", e.to_string()))?;
        let Value::Object(groups) = value else {
            return Err(ModelError::new("", "expected a table of groups"));
        };
        for (name, group) in groups.iter() {
            // One group at a time, so that the error can say where it is.
            let alone = serde_json::json!({ name: group });
            serde_json::from_value::<Model>(alone).map_err(|e| ModelError::new(name, e.to_string()))?;
        }
        let model: Model =
            serde_json::from_value(Value::Object(groups)).map_err(|e| ModelError::new("", e.to_string()))?;
        model.check()?;
        Ok(model)
    }

    /// The model as JSON, every parameter named.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a model is numbers and words")
    }

    /// Whether every value is in its range.
    ///
    /// # Errors
    /// [`ModelError`] names the first key that isn't.
    pub fn check(&self) -> Result<(), ModelError> {
        self.link.check()?;
        self.forwarding.check()?;
        self.queues.check()?;
        self.software.check()?;
        self.table.check()?;
        self.control.check()?;
        self.statistics.check()
    }
}
