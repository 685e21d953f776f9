//! Macros for the two kinds of numbers in the protocol: codes, of which unknown ones survive, and flags.

use super::Version;

/// The versions that have a code, a flag or a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    first: Version,
    last: Version,
}

impl Versions {
    /// Every version.
    pub const EVERY: Versions = Versions::since(Version::V1_0);
    /// 1.0 and none since.
    pub const ONLY_1_0: Versions = Versions { first: Version::V1_0, last: Version::V1_0 };
    /// 1.0 and 1.3.
    pub const UNTIL_1_3: Versions = Versions { first: Version::V1_0, last: Version::V1_3 };
    /// 1.3 and none since.
    pub const ONLY_1_3: Versions = Versions { first: Version::V1_3, last: Version::V1_3 };
    /// 1.3 and all since.
    pub const SINCE_1_3: Versions = Versions::since(Version::V1_3);
    /// 1.4 and all since.
    pub const SINCE_1_4: Versions = Versions::since(Version::V1_4);
    /// 1.5 and all since.
    pub const SINCE_1_5: Versions = Versions::since(Version::V1_5);

    const fn since(first: Version) -> Versions {
        Versions { first, last: Version::V1_5 }
    }

    /// Whether `version` is one of them.
    pub const fn include(self, version: Version) -> bool {
        self.first as u8 <= version as u8 && version as u8 <= self.last as u8
    }
}

/// An enum of protocol codes: `from_code` takes any number (unknown ones survive as `Unknown`), `code` gives
/// it back, `versions` tells who knows it.
macro_rules! codes {
    ($(#[$meta:meta])* pub enum $name:ident: $int:ty {
        $($(#[$doc:meta])* $variant:ident = $code:literal in $versions:ident,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$doc])* $variant,)*
            /// A code that no version known here defines.
            Unknown($int),
        }

        impl $name {
            const NAMES: &[(&'static str, u32)] = &[$((stringify!($variant), $code)),*];

            /// Every code that is known.
            pub const KNOWN: &[$name] = &[$($name::$variant),*];

            /// The code's meaning.
            pub const fn from_code(code: $int) -> $name {
                match code { $($code => $name::$variant,)* other => $name::Unknown(other) }
            }

            /// The code on the wire.
            pub const fn code(self) -> $int {
                match self { $($name::$variant => $code,)* $name::Unknown(other) => other }
            }

            /// The versions that define it; an unknown code may be sent in any.
            pub const fn versions(self) -> $crate::model::Versions {
                match self {
                    $($name::$variant => $crate::model::Versions::$versions,)*
                    $name::Unknown(_) => $crate::model::Versions::EVERY,
                }
            }
        }

        impl Default for $name {
            /// The meaning of code 0.
            fn default() -> $name { $name::from_code(0) }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::json::write_code(Self::NAMES, self.code().into(), serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                let most = <$int>::MAX.into();
                let code = $crate::json::read_code(Self::NAMES, most, deserializer)?;
                Ok($name::from_code(code as $int))
            }
        }

        impl $crate::codec::Code for $name {
            type Int = $int;
            fn from_wire(code: $int, version: $crate::model::Version) -> $name {
                let known = $name::from_code(code);
                if known.versions().include(version) { known } else { $name::Unknown(code) }
            }
            fn code(self) -> $int { $name::code(self) }
            fn versions(self) -> $crate::model::Versions { $name::versions(self) }
        }
    };
}

/// A set of flags in 32 bits. Bits without a name survive.
macro_rules! flags {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[$doc:meta])* $flag:ident = $bits:expr, in $versions:ident;)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// No flag.
            pub const NONE: $name = $name(0);
            $($(#[$doc])* pub const $flag: $name = $name($bits);)*
            const NAMES: &[(u32, &'static str, $crate::model::Versions)] =
                &[$(($bits, stringify!($flag), $crate::model::Versions::$versions)),*];

            /// Whether all flags of `other` are set.
            pub const fn contains(self, other: $name) -> bool {
                self.0 & other.0 == other.0
            }

            /// The flags of both.
            pub const fn union(self, other: $name) -> $name {
                $name(self.0 | other.0)
            }

            /// Those of the flags that `version` has no bit for.
            pub fn unknown_to(self, version: $crate::model::Version) -> $name {
                let foreign = Self::NAMES.iter().filter(|(_, _, versions)| !versions.include(version));
                $name(foreign.fold(0, |bits, (flag, _, _)| bits | self.0 & flag))
            }
        }

        impl std::ops::BitOr for $name {
            type Output = $name;
            fn bitor(self, other: $name) -> $name { self.union(other) }
        }

        impl std::ops::BitOrAssign for $name {
            fn bitor_assign(&mut self, other: $name) { *self = self.union(other); }
        }

        impl std::fmt::Debug for $name {
            /// The names of the flags that are set, and what is left as a number.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut rest = self.0;
                let mut names = Vec::new();
                for (bits, name, _) in Self::NAMES {
                    if rest & bits != 0 && self.0 & bits == *bits {
                        names.push(name.to_string());
                        rest &= !bits;
                    }
                }
                if rest != 0 || names.is_empty() {
                    names.push(format!("{rest:#x}"));
                }
                f.write_str(&names.join("|"))
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::json::write_flags(Self::NAMES, self.0, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                $crate::json::read_flags(Self::NAMES, deserializer).map($name)
            }
        }

        impl $crate::codec::Flags for $name {
            fn from_bits(bits: u32) -> $name { $name(bits) }
            fn bits(self) -> u32 { self.0 }
            fn unknown_to(self, version: $crate::model::Version) -> u32 { $name::unknown_to(self, version).0 }
        }
    };
}
