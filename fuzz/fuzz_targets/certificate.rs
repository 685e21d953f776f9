//! Any bytes as a certificate: the reader never panics, and its parts lie within the bytes.
#![no_main]

use flowgauge_channel::certificate::Certificate;

libfuzzer_sys::fuzz_target!(|der: &[u8]| {
    let Some(certificate) = Certificate::parse(der) else { return };
    let within = |part: &[u8]| der.as_ptr_range().contains(&part.as_ptr()) || part.is_empty();
    assert!(within(certificate.signed) && within(certificate.key_info) && within(certificate.issuer));
    assert!((1..=3).contains(&certificate.version));
    let _ = certificate.common_name();
});
