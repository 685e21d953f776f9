//! What several fuzz targets check.

use flowgauge_openflow::{Header, Version, decode, encode};

/// Any bytes as the type and body of a message of `version`: nothing panics, errors lie within the bytes, and what was
/// decoded is the same after another turn.
pub fn decodes_soundly(version: Version, bytes: &[u8]) {
    let [message_type, body @ ..] = bytes else { return };
    let length = (Header::LEN + body.len()).min(usize::from(u16::MAX));
    let header = Header { version: version.wire(), message_type: *message_type, length: length as u16, xid: 7 };
    let mut message = header.to_bytes().to_vec();
    message.extend_from_slice(&body[..length - Header::LEN]);
    match decode(&message) {
        Err(error) => assert!(error.offset <= message.len(), "{error}"),
        Ok((version, decoded)) => {
            let mut again = Vec::new();
            if encode(&decoded, version, &mut again).is_ok() {
                assert_eq!(decode(&again), Ok((version, decoded)));
            }
        }
    }
}
