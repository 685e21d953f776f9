//! A copy of a port's frames in a pcap file with nanosecond stamps. For looking, not for measuring at speed.

use std::io::{self, Write};

use flowgauge_clock::{Clock, Nanos, WallOffset};

use super::Format;
use crate::{Burst, Port, PortError, forward};

/// Frames of a port, on their way to a file.
struct Copies<W> {
    out: W,
    /// What to add to a stamp of the tester's clock for nanoseconds since 1970.
    offset: WallOffset,
    record: Vec<u8>,
}

impl<W: Write> Copies<W> {
    fn write(&mut self, at: Nanos, frame: &[u8]) -> io::Result<()> {
        self.record.clear();
        Format::Pcap.record(0, self.offset.to_wall(at), frame, 0, &mut self.record);
        self.out.write_all(&self.record)
    }
}

/// Any port, with a copy of what it sends and receives in a pcap file.
pub struct Tap<P, W: Write> {
    inner: P,
    file: Copies<W>,
    failed: Option<io::Error>,
    copies: Vec<Vec<u8>>,
}

impl<P: Port, W: Write + Send> Tap<P, W> {
    /// Taps `inner`; `out` becomes a pcap file.
    pub fn new(inner: P, mut out: W) -> Tap<P, W> {
        let mut start = Vec::new();
        Format::Pcap.start(&[], 0, &mut start);
        let failed = out.write_all(&start).err();
        let file = Copies { out, offset: Clock.offset_from_wall(), record: start };
        Tap { inner, file, failed, copies: Vec::new() }
    }

    /// The inner port, and the file or the first error in writing it.
    pub fn finish(mut self) -> (P, io::Result<W>) {
        let file = match self.failed {
            Some(error) => Err(error),
            None => self.file.out.flush().map(|()| self.file.out),
        };
        (self.inner, file)
    }

    fn write(&mut self, at: Nanos, frame: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.file.write(at, frame).err();
        }
    }
}

impl<P: Port, W: Write + Send> Port for Tap<P, W> {
    forward!(self, self.inner; describe capabilities alloc free stats details flush check tx_stamps next_event);

    fn tx(&mut self, burst: &mut Burst) -> Result<usize, PortError> {
        let mut copies = std::mem::take(&mut self.copies);
        copies.extend(burst.iter().map(|slot| slot.bytes().to_vec()));
        let now = Clock.now();
        let taken = self.inner.tx(burst);
        let n = *taken.as_ref().unwrap_or(&0);
        copies.drain(..).take(n).for_each(|frame| self.write(now, &frame));
        self.copies = copies;
        taken
    }

    fn rx(&mut self, burst: &mut Burst, max: usize) -> Result<usize, PortError> {
        let n = self.inner.rx(burst, max)?;
        let now = if n > 0 { Clock.now() } else { Nanos::ZERO };
        let first = burst.len() - n;
        for slot in &burst[first..] {
            self.write(slot.stamp().unwrap_or(now), slot.bytes());
        }
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring;

    #[test]
    fn both_directions_are_in_the_file() {
        let (a, mut b) = ring::pair(64);
        let mut a = Tap::new(a, Vec::new());
        let mut burst = Burst::new();
        for port in [&mut a as &mut dyn Port, &mut b] {
            port.alloc(&mut burst, 1);
            burst[0].set_len(60);
            assert_eq!(port.tx(&mut burst).unwrap(), 1);
        }
        assert_eq!(a.rx(&mut burst, 64).unwrap(), 1);
        a.free(&mut burst);
        let (_, file) = a.finish();
        let file = file.unwrap();
        assert_eq!(file.len(), 24 + 2 * (16 + 60));
        assert_eq!(file[..4], [0x4d, 0x3c, 0xb2, 0xa1]);
        assert_eq!(file[32..40], [60, 0, 0, 0, 60, 0, 0, 0]);
    }
}
