//! The OpenFlow versions, with their numbers on the wire.

use std::fmt;
use std::str::FromStr;

/// A version of OpenFlow that Flowgauge knows. 1.1 and 1.2 are left out: nothing speaks only those.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Version {
    /// OpenFlow 1.0.
    V1_0 = 1,
    /// OpenFlow 1.3.
    V1_3 = 4,
    /// OpenFlow 1.4.
    V1_4 = 5,
    /// OpenFlow 1.5.
    V1_5 = 6,
}

impl Version {
    /// All versions, oldest first.
    pub const ALL: [Version; 4] = [Version::V1_0, Version::V1_3, Version::V1_4, Version::V1_5];
    /// The versions that [`encode`](crate::encode) and [`decode`](crate::decode) speak: all.
    pub const IMPLEMENTED: [Version; 4] = Version::ALL;

    /// The number in a message's first byte.
    pub const fn wire(self) -> u8 {
        self as u8
    }

    /// The version with that number on the wire.
    pub const fn from_wire(number: u8) -> Option<Version> {
        match number {
            1 => Some(Version::V1_0),
            4 => Some(Version::V1_3),
            5 => Some(Version::V1_4),
            6 => Some(Version::V1_5),
            _ => None,
        }
    }

    /// Whether [`encode`](crate::encode) and [`decode`](crate::decode) speak it.
    pub fn is_implemented(self) -> bool {
        Version::IMPLEMENTED.contains(&self)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Version::V1_0 => "1.0",
            Version::V1_3 => "1.3",
            Version::V1_4 => "1.4",
            Version::V1_5 => "1.5",
        })
    }
}

/// The text names no OpenFlow version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an OpenFlow version is 1.0, 1.3, 1.4 or 1.5")]
pub struct VersionError;

impl FromStr for Version {
    type Err = VersionError;
    fn from_str(text: &str) -> Result<Version, VersionError> {
        Version::ALL.into_iter().find(|v| v.to_string() == text).ok_or(VersionError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_round_trip() {
        for version in Version::ALL {
            assert_eq!(Version::from_wire(version.wire()), Some(version));
            assert_eq!(version.to_string().parse(), Ok(version));
        }
        assert_eq!(Version::from_wire(2), None);
        assert_eq!("2.0".parse::<Version>(), Err(VersionError));
    }
}
