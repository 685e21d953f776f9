//! Port numbers, in the 32-bit numbering of OpenFlow 1.1 and later.

use std::fmt;

/// An OpenFlow port number. 1.0's 16-bit reserved numbers (0xff00 and up) become 32-bit ones here.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortNo(pub u32);

impl PortNo {
    /// Highest number of a physical or logical port.
    pub const MAX: PortNo = PortNo(0xffff_ff00);
    /// Output port not set in the action set (1.5, in `actset_output` only).
    pub const UNSET: PortNo = PortNo(0xffff_fff7);
    /// Back out of the ingress port.
    pub const IN_PORT: PortNo = PortNo(0xffff_fff8);
    /// Submit to the first flow table (PACKET_OUT only).
    pub const TABLE: PortNo = PortNo(0xffff_fff9);
    /// The switch's own forwarding.
    pub const NORMAL: PortNo = PortNo(0xffff_fffa);
    /// All ports but the ingress port and those that don't flood.
    pub const FLOOD: PortNo = PortNo(0xffff_fffb);
    /// All ports but the ingress port.
    pub const ALL: PortNo = PortNo(0xffff_fffc);
    /// The controller.
    pub const CONTROLLER: PortNo = PortNo(0xffff_fffd);
    /// The switch's own network stack.
    pub const LOCAL: PortNo = PortNo(0xffff_fffe);
    /// Any port, or no port, in requests (OFPP_ANY; OFPP_NONE in 1.0).
    pub const ANY: PortNo = PortNo(0xffff_ffff);

    const NAMES: [(PortNo, &'static str); 8] = [
        (PortNo::IN_PORT, "IN_PORT"),
        (PortNo::TABLE, "TABLE"),
        (PortNo::NORMAL, "NORMAL"),
        (PortNo::FLOOD, "FLOOD"),
        (PortNo::ALL, "ALL"),
        (PortNo::CONTROLLER, "CONTROLLER"),
        (PortNo::LOCAL, "LOCAL"),
        (PortNo::ANY, "ANY"),
    ];

    /// The port's 16-bit number in OpenFlow 1.0; `None` if it has none.
    pub const fn to_u16(self) -> Option<u16> {
        match self.0 {
            n @ 0..0xff00 => Some(n as u16),
            n @ 0xffff_ff00.. => Some(n as u16),
            0xff00..0xffff_ff00 => None,
        }
    }

    /// The port with that number in OpenFlow 1.0.
    pub const fn from_u16(number: u16) -> PortNo {
        match number {
            0..0xff00 => PortNo(number as u32),
            0xff00.. => PortNo(0xffff_0000 | number as u32),
        }
    }

    /// Whether the number stands for a special destination rather than a port.
    pub const fn is_reserved(self) -> bool {
        self.0 > PortNo::MAX.0
    }

    /// The name of a reserved port, as in flow syntax.
    pub fn name(self) -> Option<&'static str> {
        PortNo::NAMES.iter().find(|(port, _)| *port == self).map(|(_, name)| *name)
    }

    /// The reserved port of that name, in any case; `NONE` is `ANY`.
    pub fn from_name(name: &str) -> Option<PortNo> {
        let known = PortNo::NAMES.iter().find(|(_, n)| n.eq_ignore_ascii_case(name));
        known.map(|(port, _)| *port).or(name.eq_ignore_ascii_case("none").then_some(PortNo::ANY))
    }
}

impl fmt::Display for PortNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{}", self.0),
        }
    }
}

impl fmt::Debug for PortNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<u32> for PortNo {
    fn from(number: u32) -> PortNo {
        PortNo(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bit_numbers_round_trip() {
        for number in 0..=u16::MAX {
            assert_eq!(PortNo::from_u16(number).to_u16(), Some(number));
        }
        assert_eq!(PortNo::from_u16(0xfffd), PortNo::CONTROLLER);
        assert_eq!(PortNo(0xff00).to_u16(), None);
        assert_eq!(PortNo::MAX.to_u16(), Some(0xff00));
    }

    #[test]
    fn names_are_found_in_any_case() {
        assert_eq!(PortNo::from_name("controller"), Some(PortNo::CONTROLLER));
        assert_eq!(PortNo::from_name("NONE"), Some(PortNo::ANY));
        assert_eq!(PortNo::LOCAL.to_string(), "LOCAL");
        assert_eq!(PortNo(7).to_string(), "7");
    }
}
