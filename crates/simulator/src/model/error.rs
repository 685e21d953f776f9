//! What is wrong with a model.

use super::Distribution;

/// Why a model can't be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{reason}", if key.is_empty() { String::new() } else { format!("{key}: ") })]
pub struct ModelError {
    /// The key, with its group: `forwarding.header_bytes`; empty when the whole is no model.
    pub key: String,
    /// What is wrong with it.
    pub reason: String,
}

impl ModelError {
    /// That reason at that key.
    pub fn new(key: impl Into<String>, reason: impl Into<String>) -> ModelError {
        ModelError { key: key.into(), reason: reason.into() }
    }

    /// The error's stable name.
    pub fn name(&self) -> &'static str {
        "model"
    }
}

/// The checks that groups are made of.
pub(super) mod check {
    use super::{Distribution, ModelError};

    /// A number that is not negative.
    pub fn positive(key: &str, value: f64) -> Result<(), ModelError> {
        within(key, value, f64::MAX)
    }

    /// A number from 0 to `most`.
    pub fn within(key: &str, value: f64, most: f64) -> Result<(), ModelError> {
        let allowed =
            if most == f64::MAX { "a number that is not negative".into() } else { format!("0 to {most}") };
        if (0.0..=most).contains(&value) {
            return Ok(());
        }
        Err(ModelError::new(key, format!("{value} is not allowed, only {allowed}")))
    }

    /// An integer of at least 1.
    pub fn at_least_one(key: &str, value: impl Into<u64>) -> Result<(), ModelError> {
        if value.into() > 0 { Ok(()) } else { Err(ModelError::new(key, "0 is not allowed, at least 1")) }
    }

    /// A distribution of times.
    pub fn distribution(key: &str, value: &Distribution) -> Result<(), ModelError> {
        positive(&format!("{key}.mean_ns"), value.mean_ns)?;
        positive(&format!("{key}.std_ns"), value.std_ns)
    }
}
