//! Any text as a group: nothing panics, and what was parsed prints as a text that means the same.
#![no_main]

use flowgauge_openflow::syntax::parse_group;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(group) = parse_group(text) {
        let printed = group.to_string();
        let again = parse_group(&printed).unwrap_or_else(|e| panic!("{printed}: {e}"));
        assert_eq!(again, group, "{printed}");
    }
});
