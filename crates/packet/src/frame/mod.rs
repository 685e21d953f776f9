//! Single frames, built from layers with named values: for tests, which say what a frame is and not where its bytes lie.
//!
//! Lengths, checksums and the numbers that announce the next header are filled in; every other value has a default. It shares
//! no code with [`crate::edit`], so a frame that was edited can be held against one that was built.

mod dissect;
mod emit;
mod kind;
#[cfg(test)]
mod tests;

pub use dissect::dissect;
pub use emit::build;
pub use kind::LayerKind;

/// Why there is no such layer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayerError {
    /// No layer is called so.
    #[error("no layer is called {name:?}; there are: {known}")]
    Unknown {
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// The layer has no such value.
    #[error("{layer} has no {name}; it has: {known}")]
    NoSuchValue {
        /// The layer.
        layer: &'static str,
        /// The name.
        name: String,
        /// Those that it has.
        known: String,
    },
    /// The value is wider than its field.
    #[error("{name} is {found}; allowed: at most {bits} bits")]
    TooLarge {
        /// The value's name.
        name: String,
        /// The value.
        found: u128,
        /// Its field's width.
        bits: u32,
    },
}

/// One header of a frame with the values that were given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    kind: LayerKind,
    values: Vec<(&'static str, u128)>,
}

impl Layer {
    /// The layer of that kind with its defaults.
    pub fn new(kind: LayerKind) -> Layer {
        Layer { kind, values: Vec::new() }
    }

    /// The layer called `name` (`eth`, `vlan`, `ipv4`, `udp`, ...) with values by name (`ipv4_dst`); a later one counts.
    ///
    /// # Errors
    /// [`LayerError`]: there is no such layer or value, or it is too large.
    pub fn named<'a>(
        name: &str,
        values: impl IntoIterator<Item = (&'a str, u128)>,
    ) -> Result<Layer, LayerError> {
        let kind = LayerKind::from_name(name).ok_or_else(|| LayerError::Unknown {
            name: name.to_owned(),
            known: list(LayerKind::ALL.iter().map(|kind| kind.name())),
        })?;
        values.into_iter().try_fold(Layer::new(kind), |layer, (name, value)| layer.with(name, value))
    }

    /// The same with another value.
    ///
    /// # Errors
    /// [`LayerError::NoSuchValue`], [`LayerError::TooLarge`].
    pub fn with(mut self, name: &str, value: u128) -> Result<Layer, LayerError> {
        let known = self.kind.values();
        let Some(found) = known.iter().find(|v| v.name == name) else {
            let known = list(known.iter().map(|v| v.name));
            return Err(LayerError::NoSuchValue { layer: self.kind.name(), name: name.to_owned(), known });
        };
        if value >> found.bits.min(127) > u128::from(found.bits == 128) {
            return Err(LayerError::TooLarge { name: name.to_owned(), found: value, bits: found.bits });
        }
        self.values.retain(|(there, _)| *there != found.name);
        self.values.push((found.name, value));
        Ok(self)
    }

    /// What it is.
    pub fn kind(&self) -> LayerKind {
        self.kind
    }

    /// All its values in their order, defaults included.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, u128)> + '_ {
        self.kind.values().iter().map(|v| (v.name, self.given(v.name).unwrap_or(v.default)))
    }

    /// A value that was given.
    fn given(&self, name: &str) -> Option<u128> {
        self.values.iter().find(|(there, _)| *there == name).map(|(_, value)| *value)
    }

    /// A value, or its default; 0 where the kind has none of that name.
    fn get(&self, name: &str) -> u128 {
        self.values().find(|(there, _)| *there == name).map_or(0, |(_, value)| value)
    }
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
