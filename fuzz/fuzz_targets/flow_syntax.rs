//! Any text as a flow: nothing panics, and what was parsed prints as a text that means the same.
#![no_main]

use flowgauge_openflow::syntax::parse_flow;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(flow) = parse_flow(text) {
        let printed = flow.to_string();
        let again = parse_flow(&printed).unwrap_or_else(|e| panic!("{printed}: {e}"));
        assert_eq!(again.to_string(), printed);
    }
});
