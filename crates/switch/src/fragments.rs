//! Fragments of IP packets, for switches that are configured to drop them.

/// Whether the frame holds a fragment of an IPv4 or IPv6 packet.
pub fn is_fragment(frame: &[u8]) -> bool {
    let u16_at = |at: usize| frame.get(at..at + 2).map(|b| u16::from_be_bytes([b[0], b[1]]));
    let mut at = 12;
    while matches!(u16_at(at), Some(0x8100 | 0x88a8)) {
        at += 4;
    }
    match u16_at(at) {
        // More fragments follow, or this one doesn't start at 0.
        Some(0x0800) => u16_at(at + 8).is_some_and(|field| field & 0x3fff != 0),
        // The fragment header follows the fixed one.
        Some(0x86dd) => frame.get(at + 8) == Some(&44),
        Some(_) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_are_told_from_whole_packets() {
        let mut frame = vec![0; 60];
        assert!(!is_fragment(&frame) && !is_fragment(&[]));
        frame[12..14].copy_from_slice(&[8, 0]);
        frame[20] = 0x40;
        assert!(!is_fragment(&frame), "don't fragment");
        frame[20] = 0x20;
        assert!(is_fragment(&frame), "more fragments");
        frame[20..22].copy_from_slice(&[0, 9]);
        assert!(is_fragment(&frame), "offset 9");
        let tagged = [&frame[..12], &[0x81, 0, 0, 5], &frame[12..]].concat();
        assert!(is_fragment(&tagged));
        frame[12..14].copy_from_slice(&[0x86, 0xdd]);
        frame[20..22].copy_from_slice(&[44, 64]);
        assert!(is_fragment(&frame));
    }
}
