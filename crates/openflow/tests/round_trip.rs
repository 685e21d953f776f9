//! What is encoded decodes to the same; what is mangled never panics, and what survives that is stable.

mod strategy;

use flowgauge_openflow::{DecodeErrorKind, Header, Message, Version, decode, encode, frame_len};
use proptest::prelude::*;
use strategy::message;

/// Encodes behind bytes that are there already, which must stay.
fn bytes_of(message: &Message, version: Version) -> Vec<u8> {
    let mut bytes = vec![0xa5; 5];
    encode(message, version, &mut bytes).unwrap_or_else(|e| panic!("{e}: {message:?}"));
    assert_eq!(bytes[..5], [0xa5; 5]);
    bytes.split_off(5)
}

fn version() -> impl Strategy<Value = Version> {
    prop::sample::select(&Version::ALL[..])
}

fn any_message() -> impl Strategy<Value = (Version, Message)> {
    version().prop_flat_map(|v| (Just(v), message(v)))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

    #[test]
    fn messages_survive((version, message) in any_message()) {
        let bytes = bytes_of(&message, version);
        prop_assert_eq!(frame_len(&bytes), Ok(Some(bytes.len())));
        prop_assert_eq!(Header::parse(&bytes).map(|h| h.xid), Some(message.xid));
        prop_assert_eq!(decode(&bytes), Ok((version, message)));
    }

    #[test]
    fn prefixes_are_errors_and_not_panics((version, message) in any_message(), cut in any::<prop::sample::Index>()) {
        let mut bytes = bytes_of(&message, version);
        bytes.truncate(cut.index(bytes.len()));
        let error = decode(&bytes).expect_err("a prefix is no message");
        prop_assert!(matches!(error.kind, DecodeErrorKind::Truncated | DecodeErrorKind::BadLength));
        // With a length to match, it may be a message; but never may it panic.
        if bytes.len() >= Header::LEN {
            let length = bytes.len() as u16;
            bytes[2..4].copy_from_slice(&length.to_be_bytes());
            stable(&bytes);
        }
    }

    #[test]
    fn mangled_messages_never_panic(
        (version, message) in any_message(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = bytes_of(&message, version);
        let length = bytes.len();
        for (at, byte) in changes {
            let at = at.index(length);
            if at >= 4 {
                bytes[at] = byte;
            }
        }
        stable(&bytes);
    }

    #[test]
    fn noise_never_panics(mut bytes in prop::collection::vec(any::<u8>(), 8..200), version in version()) {
        let length = bytes.len() as u16;
        bytes[0] = version.wire();
        bytes[1] %= 37;
        bytes[2..4].copy_from_slice(&length.to_be_bytes());
        stable(&bytes);
    }
}

/// Decoding doesn't panic, errors lie within the message, and what was decoded is the same after another turn.
fn stable(bytes: &[u8]) {
    let (version, message) = match decode(bytes) {
        Ok(decoded) => decoded,
        Err(error) => return assert!(error.offset <= bytes.len(), "{error}"),
    };
    let mut again = Vec::new();
    // Not everything that a decoder forgives may be sent: codes of a later version, texts that are too long.
    if encode(&message, version, &mut again).is_ok() {
        assert_eq!(decode(&again), Ok((version, message)));
    } else {
        assert!(again.is_empty(), "an error leaves the buffer as it was");
    }
}

/// Each of these once broke what the fuzzer checks.
#[test]
fn what_the_fuzzer_found_stays_mended() {
    let text = include_str!("../corpus/fuzzed.txt");
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let hex: Vec<u8> = line.split(' ').map(|b| u8::from_str_radix(b, 16).expect("hex")).collect();
        stable(&hex);
    }
}
