//! Probes are read from any bytes; what is read as one is written back the same.
#![no_main]

use flowgauge_measure::Probe;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(probe) = Probe::read(bytes) {
        let mut again = [0; Probe::LEN];
        probe.write(&mut again);
        assert_eq!(again, bytes[..Probe::LEN]);
    }
});
