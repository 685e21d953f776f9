//! Packets that the switch keeps while a controller decides what to do with them.
//!
//! There is a fixed number of places. A place is taken again only when its packet was used, or when nobody
//! asked for the packet within [`LIFETIME`]: until then a packet that finds no place goes to the controller
//! whole (OpenFlow 1.3.5, 6.1.2).

use flowgauge_clock::Nanos;
use flowgauge_openflow::ErrorCode;

/// How long a packet is safe from being overwritten.
pub const LIFETIME: Nanos = Nanos::from_secs(5);
/// The longest packet that is kept.
const LONGEST: usize = 16 << 10;

/// A packet that was kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The frame.
    pub bytes: Vec<u8>,
    /// The port on which it came.
    pub in_port: u32,
}

/// One place.
#[derive(Debug, Default)]
struct Place {
    packet: Option<Kept>,
    since: Nanos,
    /// Tells the packet from others that were here before.
    turn: u32,
}

/// The places. A packet's number is that of its place, with the place's turn in the bits above.
#[derive(Debug)]
pub struct Buffers {
    places: Vec<Place>,
    /// Numbers of places without a packet.
    free: Vec<u32>,
    /// While all places are taken: none becomes free by age before this.
    full_until: Nanos,
    place_bits: u32,
}

impl Buffers {
    /// Room for `count` packets, at most 65 536.
    pub fn new(count: u32) -> Buffers {
        let count = count.min(1 << 16);
        Buffers {
            places: (0..count).map(|_| Place::default()).collect(),
            free: (0..count).rev().collect(),
            full_until: Nanos::ZERO,
            place_bits: count.next_power_of_two().trailing_zeros(),
        }
    }

    /// How many packets have room.
    pub fn capacity(&self) -> u32 {
        self.places.len() as u32
    }

    /// Keeps a packet; gives its number, or `None` if there is no room.
    pub fn keep(&mut self, bytes: &[u8], in_port: u32, now: Nanos) -> Option<u32> {
        if bytes.len() > LONGEST {
            return None;
        }
        let number = self.free.pop().or_else(|| self.oldest(now))?;
        let place = &mut self.places[number as usize];
        let mut kept = place.packet.take().unwrap_or_default();
        kept.bytes.clear();
        kept.bytes.extend_from_slice(bytes);
        kept.in_port = in_port;
        place.packet = Some(kept);
        place.since = now;
        // Turn 0 is never given out, and the highest would make the number that means "not kept".
        let last = (u32::MAX >> self.place_bits) - 1;
        place.turn = if place.turn >= last { 1 } else { place.turn + 1 };
        Some(place.turn << self.place_bits | number)
    }

    /// The place of the oldest packet, if that is old enough to be forgotten.
    fn oldest(&mut self, now: Nanos) -> Option<u32> {
        if now < self.full_until {
            return None;
        }
        let (number, place) = self.places.iter().enumerate().min_by_key(|(_, p)| p.since)?;
        self.full_until = place.since + LIFETIME;
        (now >= self.full_until).then_some(number as u32)
    }

    /// Takes a packet out.
    ///
    /// # Errors
    /// `BufferEmpty` when it was taken before, `BufferUnknown` when there is no packet of that number (any more).
    pub fn take(&mut self, buffer_id: u32) -> Result<Kept, ErrorCode> {
        let number = self.check(buffer_id)?;
        let kept = self.places[number as usize].packet.take().ok_or(ErrorCode::BufferEmpty)?;
        self.free.push(number);
        Ok(kept)
    }

    /// The place of a packet that is there.
    ///
    /// # Errors
    /// As [`Buffers::take`].
    pub fn check(&self, buffer_id: u32) -> Result<u32, ErrorCode> {
        let number = buffer_id & ((1 << self.place_bits) - 1);
        let turn = buffer_id >> self.place_bits;
        let place = self.places.get(number as usize).filter(|p| turn != 0 && p.turn == turn);
        let place = place.ok_or(ErrorCode::BufferUnknown)?;
        if place.packet.is_some() { Ok(number) } else { Err(ErrorCode::BufferEmpty) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATER: Nanos = LIFETIME;

    #[test]
    fn a_packet_is_taken_once() {
        let mut buffers = Buffers::new(4);
        let id = buffers.keep(b"abc", 7, Nanos::ZERO).unwrap();
        assert_eq!(buffers.check(id), Ok(0));
        assert_eq!(buffers.take(id), Ok(Kept { bytes: b"abc".to_vec(), in_port: 7 }));
        assert_eq!(buffers.take(id), Err(ErrorCode::BufferEmpty));
        assert_eq!(buffers.take(id + 1), Err(ErrorCode::BufferUnknown));
        assert_eq!(buffers.take(0), Err(ErrorCode::BufferUnknown));
        assert_eq!(buffers.take(u32::MAX), Err(ErrorCode::BufferUnknown));
    }

    #[test]
    fn a_packet_that_nobody_asks_for_makes_room_after_a_while() {
        let mut buffers = Buffers::new(2);
        let first = buffers.keep(b"1", 1, Nanos::ZERO).unwrap();
        let second = buffers.keep(b"2", 1, Nanos(1)).unwrap();
        assert_eq!(buffers.keep(b"3", 1, Nanos(2)), None);
        let third = buffers.keep(b"3", 1, LATER).unwrap();
        assert_eq!(buffers.take(first), Err(ErrorCode::BufferUnknown));
        assert_eq!(buffers.take(second).unwrap().bytes, b"2");
        assert_eq!(buffers.take(third).unwrap().bytes, b"3");
    }

    #[test]
    fn numbers_stay_apart_whatever_the_size() {
        for count in [1, 3, 256, 1 << 16] {
            let mut buffers = Buffers::new(count);
            assert_eq!(buffers.capacity(), count);
            for round in 0..200_000u32 {
                let id = buffers.keep(&round.to_be_bytes(), 1, Nanos::ZERO).unwrap();
                assert_ne!(id, u32::MAX);
                assert_eq!(buffers.take(id).unwrap().bytes, round.to_be_bytes());
            }
        }
        assert_eq!(Buffers::new(0).keep(b"", 1, Nanos::ZERO), None);
        assert_eq!(Buffers::new(0).take(1), Err(ErrorCode::BufferUnknown));
    }
}
