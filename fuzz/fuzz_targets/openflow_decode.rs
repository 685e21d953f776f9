//! Any bytes as a message: nothing panics, errors lie within the bytes, and what was decoded stays the same after
//! another turn.
#![no_main]

use flowgauge_openflow::{decode, decode_hello, encode, frame_len};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = (frame_len(bytes), decode_hello(bytes));
    match decode(bytes) {
        Err(error) => assert!(error.offset <= bytes.len(), "{error}"),
        Ok((version, message)) => {
            let mut again = Vec::new();
            if encode(&message, version, &mut again).is_ok() {
                assert_eq!(decode(&again), Ok((version, message)));
            }
        }
    }
});
