//! Where the other side is, in the notation of Open vSwitch: `tcp:HOST:PORT` to connect, `ptcp:PORT[:HOST]` to listen.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::str::FromStr;

/// The TCP port that IANA gave OpenFlow.
pub const DEFAULT_PORT: u16 = 6653;

/// Who opens the connection, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// We connect to the peer.
    Connect(SocketAddr),
    /// The peer connects to us.
    Listen(SocketAddr),
}

/// The text is no channel address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no channel address: expected tcp:HOST[:PORT] or ptcp:[PORT][:HOST], {found}")]
pub struct BadAddress {
    text: String,
    found: String,
}

impl FromStr for Address {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Address, BadAddress> {
        let bad = |found: String| BadAddress { text: text.to_owned(), found };
        let port = |p: &str| match p {
            "" => Ok(DEFAULT_PORT),
            p => p.parse::<u16>().map_err(|_| bad(format!("{p:?} is no port"))),
        };
        if let Some(rest) = text.strip_prefix("tcp:") {
            let (host, p) = split_port(rest);
            let port = port(p)?;
            let mut found = (host, port).to_socket_addrs().map_err(|e| bad(e.to_string()))?;
            return found.next().map(Address::Connect).ok_or_else(|| bad(format!("{host} has no address")));
        }
        if let Some(rest) = text.strip_prefix("ptcp:") {
            let (p, host) = rest.split_once(':').unwrap_or((rest, ""));
            let host = match host.trim_start_matches('[').trim_end_matches(']') {
                "" => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
                h => h.parse().map_err(|_| bad(format!("{h:?} is no IP address")))?,
            };
            return Ok(Address::Listen(SocketAddr::new(host, port(p)?)));
        }
        Err(bad("it starts with neither".to_owned()))
    }
}

/// Host and port of `HOST[:PORT]` or `[IPV6][:PORT]`.
fn split_port(rest: &str) -> (&str, &str) {
    if let Some((host, tail)) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
        return (host, tail.trim_start_matches(':'));
    }
    rest.split_once(':').unwrap_or((rest, ""))
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Connect(at) => write!(f, "tcp:{at}"),
            Address::Listen(at) if at.is_ipv6() => write!(f, "ptcp:{}:[{}]", at.port(), at.ip()),
            Address::Listen(at) => write!(f, "ptcp:{}:{}", at.port(), at.ip()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_prints() {
        for text in ["tcp:127.0.0.1:6633", "ptcp:6653:0.0.0.0", "tcp:[::1]:6653", "ptcp:6653:[::1]"] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
        assert_eq!("tcp:10.0.0.1".parse::<Address>().unwrap().to_string(), "tcp:10.0.0.1:6653");
        assert_eq!("ptcp:".parse::<Address>().unwrap().to_string(), "ptcp:6653:0.0.0.0");
    }

    #[test]
    fn says_what_is_wrong() {
        for text in ["", "udp:1", "tcp:127.0.0.1:x", "ptcp:70000", "ptcp:1:nowhere"] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
