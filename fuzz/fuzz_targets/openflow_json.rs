//! Any text as a message in JSON: what was read is the same after another turn.
#![no_main]

use flowgauge_openflow::json::Line;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(line) = serde_json::from_str::<Line>(text) {
        let again = serde_json::to_string(&line).expect("it can be written");
        assert_eq!(serde_json::from_str::<Line>(&again).expect("it can be read"), line);
    }
});
