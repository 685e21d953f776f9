//! Where frames wait.

use serde::{Deserialize, Serialize};

use super::{ModelError, check};

/// How frames are spread over parallel servers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// By flow: a flow stays with one server.
    #[default]
    Flow,
    /// By port.
    Port,
    /// One frame after the other.
    Frame,
}

/// The queues of a switch: one (or several) before its server, and one (or several) before each port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QueuesModel {
    /// Waiting places before the server, K, the frame in service not included. None: any number. Each of `parallel` servers has
    /// that many.
    pub service_frames: Option<u32>,
    /// How many servers there are, each with its queue.
    pub parallel: u32,
    /// How frames are spread over them.
    pub spread: Spread,
    /// Waiting places of each queue before a port, the frame that is leaving not included. None: any number.
    pub output_frames: Option<u32>,
    /// The queues of each port by number, for `set_queue` and `enqueue`; empty: one without a number.
    pub output: Vec<QueueModel>,
}

/// A queue before a port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QueueModel {
    /// Its number. Frames for none go into 0, or into a plain one beside these.
    pub id: u32,
    /// Queues of higher priority go first.
    pub priority: u32,
    /// Its share among queues of one priority.
    pub weight: u32,
    /// What it is promised, in Mbit/s; 0: nothing.
    pub min_mbps: f64,
    /// What it gets at most, in Mbit/s; 0: as much as there is.
    pub max_mbps: f64,
}

impl Default for QueuesModel {
    fn default() -> Self {
        QueuesModel {
            service_frames: None,
            parallel: 1,
            spread: Spread::default(),
            output_frames: None,
            output: Vec::new(),
        }
    }
}

impl Default for QueueModel {
    fn default() -> Self {
        QueueModel { id: 0, priority: 0, weight: 1, min_mbps: 0.0, max_mbps: 0.0 }
    }
}

impl QueuesModel {
    pub(super) fn check(&self) -> Result<(), ModelError> {
        check::at_least_one("queues.parallel", self.parallel)?;
        for queue in &self.output {
            check::at_least_one("queues.output.weight", queue.weight)?;
            check::positive("queues.output.min_mbps", queue.min_mbps)?;
            check::positive("queues.output.max_mbps", queue.max_mbps)?;
        }
        Ok(())
    }
}
