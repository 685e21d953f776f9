//! Any bytes as a capture to be sent again: frames and times are as many, and probes find room in them or a reason is given.
#![no_main]

use flowgauge_capture::Recording;
use flowgauge_packet::RawFrames;

libfuzzer_sys::fuzz_target!(|input: (bool, &[u8])| {
    let bytes = Box::new(std::io::Cursor::new(input.1.to_vec()));
    let Ok(recording) = Recording::read(bytes) else { return };
    assert_eq!(recording.frames().len(), recording.times_ns().len());
    assert_eq!(recording.frames().map(<[u8]>::len).sum::<usize>(), recording.total());
    if let Ok(frames) = RawFrames::new(recording.frames(), input.0) {
        assert_eq!(frames.iter().len(), recording.len());
        assert_eq!(frames.is_probed(), input.0);
    }
});
