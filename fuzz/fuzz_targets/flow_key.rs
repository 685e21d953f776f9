//! Any bytes as a frame: nothing panics, setting a field to what it is changes no key, a pop undoes a push.
#![no_main]

use flowgauge_packet::FlowKey;
use flowgauge_packet::edit::{self, FrameBuf};

libfuzzer_sys::fuzz_target!(|frame: &[u8]| {
    let key = FlowKey::parse(frame, 1);
    for (field, value) in key.fields() {
        let mut copy = frame.to_vec();
        let _ = edit::set_field(&mut copy, field, value);
        assert_eq!(FlowKey::parse(&copy, 1), key, "{field}");
    }
    let mut slot = [&[0; 4], frame].concat();
    let mut buf = FrameBuf::new(&mut slot, 4..4 + frame.len());
    if edit::push_vlan(&mut buf, 0x8100).is_ok() && edit::pop_vlan(&mut buf).is_ok() {
        assert_eq!(buf.bytes(), frame);
    }
});
