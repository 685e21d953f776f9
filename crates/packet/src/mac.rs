//! A 48-bit Ethernet address.

use std::fmt;
use std::str::FromStr;

/// An Ethernet (MAC) address.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddr(pub [u8; 6]);

impl MacAddr {
    /// ff:ff:ff:ff:ff:ff
    pub const BROADCAST: MacAddr = MacAddr([0xff; 6]);

    /// The low 48 bits of `value`, most significant first.
    pub const fn from_u64(value: u64) -> MacAddr {
        let b = value.to_be_bytes();
        MacAddr([b[2], b[3], b[4], b[5], b[6], b[7]])
    }

    /// As a number below 2^48.
    pub const fn to_u64(self) -> u64 {
        let m = self.0;
        u64::from_be_bytes([0, 0, m[0], m[1], m[2], m[3], m[4], m[5]])
    }

    /// Whether the group bit is set (broadcast included).
    pub const fn is_multicast(self) -> bool {
        self.0[0] & 1 == 1
    }
}

impl fmt::Display for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl fmt::Debug for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text was not six colon-separated bytes in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a MAC address is six bytes in hexadecimal separated by colons, such as 02:00:00:00:00:01")]
pub struct BadMac;

impl FromStr for MacAddr {
    type Err = BadMac;
    fn from_str(text: &str) -> Result<MacAddr, BadMac> {
        let mut bytes = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut bytes {
            let part = parts
                .next()
                .filter(|p| p.len() <= 2 && p.bytes().all(|b| b.is_ascii_hexdigit()))
                .ok_or(BadMac)?;
            *byte = u8::from_str_radix(part, 16).map_err(|_| BadMac)?;
        }
        if parts.next().is_some() { Err(BadMac) } else { Ok(MacAddr(bytes)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_number_round_trip() {
        let mac: MacAddr = "02:0a:ff:00:00:01".parse().unwrap();
        assert_eq!(mac.to_string(), "02:0a:ff:00:00:01");
        assert_eq!(MacAddr::from_u64(mac.to_u64()), mac);
    }

    #[test]
    fn refuses_what_is_not_six_bytes() {
        for text in
            ["", "02:00", "02:00:00:00:00:00:00", "zz:00:00:00:00:00", "002:0:0:0:0:0", "+1:0:0:0:0:0"]
        {
            assert_eq!(text.parse::<MacAddr>().err(), Some(BadMac), "{text}");
        }
    }
}
