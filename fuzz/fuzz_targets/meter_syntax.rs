//! Any text as a meter: nothing panics, and what was parsed prints as a text that means the same.
#![no_main]

use flowgauge_openflow::syntax::parse_meter;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(meter) = parse_meter(text) {
        let printed = meter.to_string();
        let again = parse_meter(&printed).unwrap_or_else(|e| panic!("{printed}: {e}"));
        assert_eq!(again, meter, "{printed}");
    }
});
