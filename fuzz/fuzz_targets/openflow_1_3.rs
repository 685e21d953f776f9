//! Messages of OpenFlow 1.3.
#![no_main]

use flowgauge_fuzz::decodes_soundly;
use flowgauge_openflow::Version;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| decodes_soundly(Version::V1_3, bytes));
