//! What the channel itself must know of the wire: the 8-byte header and a few type numbers.
//!
//! Everything else about messages belongs to `flowgauge-openflow`; the channel moves frames.

pub use flowgauge_openflow::Header;

/// Length of the header that starts each message.
pub const HEADER_LEN: usize = Header::LEN;

/// HELLO.
pub const HELLO: u8 = 0;
/// ERROR.
pub const ERROR: u8 = 1;
/// ECHO_REQUEST.
pub const ECHO_REQUEST: u8 = 2;
/// ECHO_REPLY.
pub const ECHO_REPLY: u8 = 3;
/// FEATURES_REQUEST.
pub const FEATURES_REQUEST: u8 = 5;
/// FEATURES_REPLY.
pub const FEATURES_REPLY: u8 = 6;
/// PACKET_IN.
pub const PACKET_IN: u8 = 10;
/// FLOW_REMOVED.
pub const FLOW_REMOVED: u8 = 11;
/// PORT_STATUS.
pub const PORT_STATUS: u8 = 12;
/// PACKET_OUT.
pub const PACKET_OUT: u8 = 13;
/// FLOW_MOD.
pub const FLOW_MOD: u8 = 14;
/// BUNDLE_ADD_MESSAGE (1.4).
pub const BUNDLE_ADD_MESSAGE: u8 = 34;
/// The highest type number of any version (1.5's CONTROLLER_STATUS).
pub const LAST_TYPE: u8 = 35;

/// STATS_REPLY (1.0) or MULTIPART_REPLY.
pub const fn multipart_reply(version: u8) -> u8 {
    if version == 1 { 17 } else { 19 }
}

/// BARRIER_REQUEST.
pub const fn barrier_request(version: u8) -> u8 {
    if version == 1 { 18 } else { 20 }
}

/// BARRIER_REPLY.
pub const fn barrier_reply(version: u8) -> u8 {
    if version == 1 { 19 } else { 21 }
}

/// Whether a switch sends this type without having been asked.
pub const fn is_asynchronous(kind: u8) -> bool {
    matches!(kind, PACKET_IN | FLOW_REMOVED | PORT_STATUS)
}

/// A whole message: header and body. The body is cut to what the length field can say (65 527 bytes).
pub fn message(version: u8, kind: u8, xid: u32, body: &[u8]) -> Vec<u8> {
    let body = &body[..body.len().min(usize::from(u16::MAX) - HEADER_LEN)];
    let length = (HEADER_LEN + body.len()) as u16;
    let mut bytes = Vec::with_capacity(usize::from(length));
    bytes.extend_from_slice(&Header { version, message_type: kind, length, xid }.to_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// The messages that follow each other in `bytes`, each with its header. The last one may be cut short.
pub fn split(bytes: &[u8]) -> impl Iterator<Item = (Header, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let header = Header::parse(rest)?;
        let (message, others) = rest.split_at(usize::from(header.length).clamp(1, rest.len()));
        rest = others;
        Some((header, message))
    })
}

/// Gives a message its transaction id; a message within a BUNDLE_ADD_MESSAGE has the same (1.4.1, 7.3.9.2).
pub fn set_xid(message: &mut [u8], xid: u32) {
    let within = message.get(1) == Some(&BUNDLE_ADD_MESSAGE);
    for at in [Some(4), within.then_some(20)].into_iter().flatten() {
        if let Some(place) = message.get_mut(at..at + 4) {
            place.copy_from_slice(&xid.to_be_bytes());
        }
    }
}

/// Whether this multipart reply says that more parts follow.
pub fn more_follows(frame: &[u8]) -> bool {
    frame.get(11).is_some_and(|flags| flags & 1 == 1)
}

/// Type, code and data of an ERROR message; what is missing from a truncated one is 0 or empty.
pub fn error_fields(frame: &[u8]) -> (u16, u16, &[u8]) {
    let u16_at = |at: usize| frame.get(at..at + 2).map_or(0, |b| u16::from_be_bytes([b[0], b[1]]));
    (u16_at(8), u16_at(10), frame.get(12..).unwrap_or(&[]))
}
