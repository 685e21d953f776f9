//! Where the other side is, in the notation of Open vSwitch: `tcp:HOST:PORT` to connect, `ptcp:PORT[:IP]` to listen,
//! `ssl:` and `pssl:` the same with TLS.

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
    /// We connect to the peer, with TLS.
    ConnectTls(SocketAddr),
    /// The peer connects to us, with TLS.
    ListenTls(SocketAddr),
}

impl Address {
    /// The socket address.
    pub const fn at(self) -> SocketAddr {
        match self {
            Address::Connect(at) | Address::Listen(at) | Address::ConnectTls(at) | Address::ListenTls(at) => {
                at
            }
        }
    }

    /// The same way of connecting, with another socket address.
    pub const fn with(self, at: SocketAddr) -> Address {
        match self {
            Address::Connect(_) => Address::Connect(at),
            Address::Listen(_) => Address::Listen(at),
            Address::ConnectTls(_) => Address::ConnectTls(at),
            Address::ListenTls(_) => Address::ListenTls(at),
        }
    }

    /// The same, with TLS or without.
    pub const fn secured(self, tls: bool) -> Address {
        let at = self.at();
        match (self.is_listening(), tls) {
            (false, false) => Address::Connect(at),
            (false, true) => Address::ConnectTls(at),
            (true, false) => Address::Listen(at),
            (true, true) => Address::ListenTls(at),
        }
    }

    /// Whether the bytes travel inside TLS.
    pub const fn is_tls(self) -> bool {
        match self {
            Address::Connect(_) | Address::Listen(_) => false,
            Address::ConnectTls(_) | Address::ListenTls(_) => true,
        }
    }

    /// Whether the peer connects to us.
    pub const fn is_listening(self) -> bool {
        match self {
            Address::Connect(_) | Address::ConnectTls(_) => false,
            Address::Listen(_) | Address::ListenTls(_) => true,
        }
    }
}

/// The text is no channel address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no channel address: expected tcp:HOST[:PORT], ptcp:[PORT][:IP], ssl:HOST[:PORT] or pssl:[PORT][:IP], {found}"
)]
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
        let Some((kind, rest)) = text.split_once(':') else {
            return Err(bad("there is no colon".to_owned()));
        };
        let tls = matches!(kind, "ssl" | "pssl");
        match kind {
            "tcp" | "ssl" => {
                let (host, p) = split_port(rest);
                let port = port(p)?;
                let mut found = (host, port).to_socket_addrs().map_err(|e| bad(e.to_string()))?;
                let at = found.next().ok_or_else(|| bad(format!("{host} has no address")))?;
                Ok(Address::Connect(at).secured(tls))
            }
            "ptcp" | "pssl" => {
                let (p, host) = rest.split_once(':').unwrap_or((rest, ""));
                let host = match host.trim_start_matches('[').trim_end_matches(']') {
                    "" => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
                    h => h.parse().map_err(|_| bad(format!("{h:?} is no IP address")))?,
                };
                Ok(Address::Listen(SocketAddr::new(host, port(p)?)).secured(tls))
            }
            other => Err(bad(format!("{other:?} is none of them"))),
        }
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
        let s = if self.is_tls() { "ssl" } else { "tcp" };
        let at = self.at();
        match (self.is_listening(), at.is_ipv6()) {
            (false, _) => write!(f, "{s}:{at}"),
            (true, true) => write!(f, "p{s}:{}:[{}]", at.port(), at.ip()),
            (true, false) => write!(f, "p{s}:{}:{}", at.port(), at.ip()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_prints() {
        for text in ["tcp:127.0.0.1:6633", "ptcp:6653:0.0.0.0", "tcp:[::1]:6653", "ptcp:6653:[::1]"] {
            let plain = text.parse::<Address>().unwrap();
            assert_eq!((plain.to_string().as_str(), plain.is_tls()), (text, false));
            let text = text.replace("tcp", "ssl");
            let tls = text.parse::<Address>().unwrap();
            assert_eq!((tls.to_string(), tls.is_tls()), (text, true));
            assert_eq!((tls.secured(false), tls.at()), (plain, plain.at()));
            assert_eq!(tls.with(plain.at()), tls);
        }
        assert_eq!("tcp:10.0.0.1".parse::<Address>().unwrap().to_string(), "tcp:10.0.0.1:6653");
        assert_eq!("ptcp:".parse::<Address>().unwrap().to_string(), "ptcp:6653:0.0.0.0");
    }

    #[test]
    fn says_what_is_wrong() {
        for text in ["", "udp:1", "tcp:127.0.0.1:x", "ptcp:70000", "ptcp:1:nowhere", "ssl", "pssl:1:1:1:x"] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
