//! Any segments of one connection: what is handed on is counted without gaps, and memory stays small.
#![no_main]

use flowgauge_capture::{Arrival, Direction, Piece};

libfuzzer_sys::fuzz_target!(|segments: Vec<(u16, u8, &[u8])>| {
    let mut direction = Direction::default();
    let mut count = 0;
    let mut take = |piece: Piece<'_>| match piece {
        Piece::Bytes(bytes) => count += bytes.len() as u64,
        Piece::Gap(bytes) => count += bytes,
        Piece::Start | Piece::MidStream => count = 0,
        Piece::End => {}
    };
    for (seq, bits, payload) in segments {
        let seq = u32::from(seq).wrapping_sub(0x8000).wrapping_mul(if bits & 8 == 0 { 1 } else { 0x1_0001 });
        let (syn, fin, cut) = (bits & 1 != 0, bits & 2 != 0, u32::from(bits & 4) * 100);
        direction.push(Arrival { time_ns: 0, seq, syn, fin, payload, cut }, |_, piece| take(piece));
    }
    direction.flush(|_, piece| take(piece));
    assert_eq!(count, direction.position());
});
