//! Distributions of times.

use serde::{Deserialize, Serialize};

/// A time that varies: `{ mean_ns = 500, std_ns = 20, kind = "normal" }`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Distribution {
    /// The mean, in nanoseconds.
    pub mean_ns: f64,
    /// The standard deviation, in nanoseconds. Not used by `constant` and `exponential`.
    pub std_ns: f64,
    /// The shape.
    pub kind: Kind,
}

/// The shape of a distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Always the mean.
    #[default]
    Constant,
    /// Normal; what would be negative is zero.
    Normal,
    /// Exponential.
    Exponential,
    /// The logarithm is normal: a long tail upwards.
    Lognormal,
    /// Even between mean - sqrt(3) std and mean + sqrt(3) std; what would be negative is zero.
    Uniform,
}

impl Distribution {
    /// Always that long.
    pub const fn constant(mean_ns: f64) -> Distribution {
        Distribution { mean_ns, std_ns: 0.0, kind: Kind::Constant }
    }

    /// Exponential.
    pub const fn exponential(mean_ns: f64) -> Distribution {
        Distribution { mean_ns, std_ns: 0.0, kind: Kind::Exponential }
    }

    /// Whether it is no time, always.
    pub fn is_zero(&self) -> bool {
        self.mean_ns == 0.0 && (self.std_ns == 0.0 || matches!(self.kind, Kind::Constant | Kind::Exponential))
    }
}
