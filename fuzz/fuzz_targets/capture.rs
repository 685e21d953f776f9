//! Any bytes as a capture file or a dump: every line is one, and the counts are right.
#![no_main]

use flowgauge_capture::{DecodeOptions, Decoder, Form};

libfuzzer_sys::fuzz_target!(|input: (bool, &[u8])| {
    let form = if input.0 { Form::Json } else { Form::Text };
    let bytes = std::io::Cursor::new(input.1.to_vec());
    let options = DecodeOptions { form, ports: Vec::new() };
    let mut decoder = Decoder::new(Box::new(bytes), &options).expect("memory can be read");
    let mut lines = 0;
    while let Some(text) = decoder.next_lines().expect("memory can be read") {
        assert!(text.ends_with('\n'));
        lines += text.lines().count() as u64;
    }
    assert!(lines >= decoder.messages() + decoder.errors());
});
