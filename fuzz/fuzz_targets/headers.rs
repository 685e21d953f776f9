//! Any bytes as each header: nothing panics, and what was parsed survives being emitted and parsed again.
#![no_main]

use flowgauge_packet::header::*;

fn check<H: Header + PartialEq + std::fmt::Debug>(bytes: &[u8]) {
    let Ok(header) = H::parse(bytes) else { return };
    let mut emitted = vec![0xa5; header.buffer_len()];
    header.emit(&mut emitted);
    assert_eq!(H::parse(&emitted), Ok(header));
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let tags = [check::<Ethernet>, check::<Vlan>, check::<Mpls>, check::<Pbb>, check::<Vxlan>];
    let inner = [check::<Arp>, check::<Ipv4>, check::<Ipv6>, check::<Tcp>, check::<Udp>, check::<Sctp>];
    tags.iter().chain(&inner).chain(&[check::<Icmp>, check::<Neighbor>]).for_each(|check| check(bytes));
    Extensions::new(*bytes.first().unwrap_or(&0), bytes).for_each(drop);
});
