//! Any bytes, cut anywhere: the framing never panics, stays within its buffer, and gives what a reader of the whole would.
#![no_main]

use flowgauge_channel::framing::{Expect, Framer};
use flowgauge_channel::{Versions, negotiate};

libfuzzer_sys::fuzz_target!(|input: (u8, Vec<u8>)| {
    let (cut, bytes) = (usize::from(input.0) + 1, input.1);
    let _ = negotiate(Versions::new(&[1, 4]).expect("known versions"), &bytes);
    let (mut framer, mut position) = (Framer::new(), 0);
    for part in bytes.chunks(cut) {
        framer.space()[..part.len()].copy_from_slice(part);
        framer.filled(part.len());
        while let Ok(Some(frame)) = framer.next_frame(Expect::Version(4)) {
            assert_eq!(frame, &bytes[position..position + frame.len()]);
            position += frame.len();
        }
        if framer.next_frame(Expect::Version(4)).is_err() {
            return;
        }
    }
});
