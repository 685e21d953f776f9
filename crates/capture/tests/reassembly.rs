//! Segments in any order, repeated and overlapping, become the bytes that were sent.

use flowgauge_capture::{Arrival, Direction, Piece};
use proptest::prelude::*;

/// What came out: bytes, with `None` for those that are missing, and the other pieces by name.
fn collect(direction: &mut Direction, arrivals: &[Arrival<'_>]) -> (Vec<Option<u8>>, Vec<&'static str>) {
    let (mut bytes, mut others) = (Vec::new(), Vec::new());
    let mut take = |piece: Piece<'_>| match piece {
        Piece::Bytes(new) => bytes.extend(new.iter().copied().map(Some)),
        Piece::Gap(missing) => bytes.extend(std::iter::repeat_n(None, missing as usize)),
        Piece::Start => others.push("start"),
        Piece::MidStream => others.push("mid-stream"),
        Piece::End => others.push("end"),
    };
    arrivals.iter().for_each(|arrival| direction.push(*arrival, |_, piece| take(piece)));
    direction.flush(|_, piece| take(piece));
    (bytes, others)
}

fn stream() -> impl Strategy<Value = (u32, Vec<u8>, Vec<(usize, usize)>)> {
    let bytes = prop::collection::vec(any::<u8>(), 1..400);
    (any::<u32>(), bytes).prop_flat_map(|(seq, bytes)| {
        let length = bytes.len();
        let piece = (0..length).prop_flat_map(move |at| (Just(at), 1..=(length - at).min(60)));
        (Just(seq), Just(bytes), prop::collection::vec(piece, 0..40))
    })
}

proptest! {
    #[test]
    fn any_order_gives_the_stream((seq, bytes, pieces) in stream()) {
        let syn = Arrival { seq, syn: true, ..Arrival::default() };
        let at = |from: usize, length: usize| Arrival {
            seq: seq.wrapping_add(1 + from as u32),
            payload: &bytes[from..from + length],
            ..Arrival::default()
        };
        let mut arrivals = vec![syn];
        arrivals.extend(pieces.iter().map(|&(from, length)| at(from, length)));
        arrivals.push(at(0, bytes.len()));
        let fin = Arrival { seq: seq.wrapping_add(1 + bytes.len() as u32), fin: true, ..Arrival::default() };
        arrivals.extend([fin, fin, syn]);
        let (found, others) = collect(&mut Direction::default(), &arrivals);
        prop_assert_eq!(found, bytes.iter().copied().map(Some).collect::<Vec<_>>());
        prop_assert_eq!(others, ["start", "end"]);
    }

    #[test]
    fn what_is_lost_is_a_gap_and_nothing_is_invented((seq, bytes, pieces) in stream()) {
        let mut arrivals = vec![Arrival { seq, syn: true, ..Arrival::default() }];
        arrivals.extend(pieces.iter().map(|&(from, length)| Arrival {
            seq: seq.wrapping_add(1 + from as u32),
            payload: &bytes[from..from + length],
            ..Arrival::default()
        }));
        let (found, _) = collect(&mut Direction::default(), &arrivals);
        let mut there = vec![None; bytes.len()];
        for &(from, length) in &pieces {
            (from..from + length).for_each(|i| there[i] = Some(bytes[i]));
        }
        let end = there.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        prop_assert_eq!(&found[..], &there[..end]);
    }
}

#[test]
fn memory_is_bounded_when_a_segment_never_comes() {
    let payload = vec![7; 60_000];
    let mut direction = Direction::fresh(0);
    let (mut given, mut missing) = (0, 0);
    for i in 0..200u32 {
        let arrival = Arrival { seq: 100 + i * 60_000, payload: &payload, ..Arrival::default() };
        direction.push(arrival, |_, piece| match piece {
            Piece::Bytes(bytes) => given += bytes.len(),
            Piece::Gap(bytes) => missing += bytes,
            Piece::Start | Piece::MidStream | Piece::End => {}
        });
    }
    assert_eq!((given, missing), (12_000_000, 100));
}
