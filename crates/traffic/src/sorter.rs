//! Whose a frame is: finds the probe, also where a switch has pushed or popped headers in front of it.

use flowgauge_measure::{Probe, ProbeError};

use crate::stream::Stream;

/// How far into a frame a probe is looked for where none is in its place.
const DEEPEST: usize = 160;

/// What a frame turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sorted {
    /// A probe of this trial: the position of its stream, and what it says.
    Ours(usize, Probe),
    /// A probe of this trial that is damaged; the position of its stream, by what is left of it.
    Damaged(usize),
    /// A probe of an earlier trial.
    Earlier,
    /// Not a probe.
    Foreign,
}

/// Recognises the probes of one trial.
#[derive(Debug)]
pub struct Sorter {
    nonce: u16,
    /// Where probes stand when no header was added or removed, each offset once; the first is the most likely.
    offsets: Vec<usize>,
    /// Positions of the streams by their numbers; `NONE` where there is none.
    positions: Vec<u16>,
}

const NONE: u16 = u16::MAX;

impl Sorter {
    /// Of the trial with that nonce and those streams.
    pub fn new(nonce: u16, streams: &[Stream]) -> Sorter {
        let mut offsets = Vec::new();
        for at in streams.iter().flat_map(|stream| stream.frames.probe_offsets()) {
            if !offsets.contains(&at) {
                offsets.push(at);
            }
        }
        let ids = streams.iter().map(|stream| stream.id as usize);
        let mut positions = vec![NONE; ids.clone().max().map_or(0, |id| id + 1)];
        ids.enumerate().for_each(|(position, id)| positions[id] = position as u16);
        Sorter { nonce, offsets, positions }
    }

    fn position(&self, stream: u16) -> Option<usize> {
        self.positions.get(stream as usize).filter(|&&p| p != NONE).map(|&p| p as usize)
    }

    /// Sorts a frame.
    #[inline]
    pub fn sort(&self, frame: &[u8]) -> Sorted {
        if let Some(&offset) = self.offsets.first() {
            if let Some(Ok(probe)) = frame.get(offset..).map(Probe::read) {
                if let (true, Some(position)) = (probe.nonce == self.nonce, self.position(probe.stream)) {
                    return Sorted::Ours(position, probe);
                }
            }
        }
        self.sort_by_search(frame)
    }

    #[cold]
    fn sort_by_search(&self, frame: &[u8]) -> Sorted {
        let mut otherwise = Sorted::Foreign;
        for &offset in &self.offsets {
            match frame.get(offset..).map(Probe::read) {
                Some(Ok(probe)) if probe.nonce == self.nonce => {
                    if let Some(position) = self.position(probe.stream) {
                        return Sorted::Ours(position, probe);
                    }
                }
                Some(Ok(_)) => otherwise = Sorted::Earlier,
                Some(Err(ProbeError::Unbalanced { fields })) if fields.nonce == self.nonce => {
                    if let Some(position) = self.position(fields.stream) {
                        otherwise = Sorted::Damaged(position);
                    }
                }
                Some(Err(ProbeError::Unbalanced { .. } | ProbeError::TooShort { .. })) | None => {}
            }
        }
        self.search(frame).unwrap_or(otherwise)
    }

    /// Looks for the nonce at every even offset behind the addresses: all headers are of even length.
    fn search(&self, frame: &[u8]) -> Option<Sorted> {
        let nonce = self.nonce.to_be_bytes();
        let last = frame.len().checked_sub(Probe::LEN)?.min(DEEPEST);
        (14..=last).step_by(2).find_map(|at| {
            let probe =
                if frame[at + 2..at + 4] == nonce { Probe::read(&frame[at..]).ok()? } else { return None };
            Some(Sorted::Ours(self.position(probe.stream)?, probe))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use flowgauge_clock::Nanos;
    use flowgauge_measure::Schedule;
    use flowgauge_packet::{FlowSet, FrameTemplate, Payload};

    use super::*;
    use crate::Stop;

    fn sorter() -> (Sorter, Vec<u8>, Probe) {
        let template = FrameTemplate::new(&FlowSet::new(1, vec![]).unwrap(), 64, Payload::Zero).unwrap();
        let template = Arc::new(template);
        let stream = |id| Stream::new(id, Some(0), Arc::clone(&template), Schedule::Max, Stop::UntilStopped);
        let sorter = Sorter::new(0xbeef, &[stream(7), stream(3)]);
        let mut frame = vec![0; template.len()];
        template.write(0, &mut frame);
        let probe = Probe { nonce: 0xbeef, stream: 3, seq: 5, time: Nanos(9) };
        probe.write(&mut frame[template.payload_offset()..]);
        (sorter, frame, probe)
    }

    #[test]
    fn finds_probes_where_headers_were_pushed_or_popped() {
        let (sorter, frame, probe) = sorter();
        assert_eq!(sorter.sort(&frame), Sorted::Ours(1, probe));
        let tagged = [&frame[..12], &[0x81, 0, 0, 5], &frame[12..]].concat();
        assert_eq!(sorter.sort(&tagged), Sorted::Ours(1, probe));
        let tunnelled = [&frame[..42], &[0; 8], &frame[..]].concat();
        assert_eq!(sorter.sort(&tunnelled), Sorted::Ours(1, probe));
        assert_eq!(sorter.sort(&frame[14..]), Sorted::Ours(1, probe));
    }

    #[test]
    fn tells_damaged_earlier_and_foreign_apart() {
        let (sorter, frame, probe) = sorter();
        let at = frame.len() - Probe::LEN;
        let with = |probe: Probe| {
            let mut frame = frame.clone();
            probe.write(&mut frame[at..]);
            frame
        };
        let mut damaged = frame.clone();
        damaged[at + 8] ^= 4;
        assert_eq!(sorter.sort(&damaged), Sorted::Damaged(1));
        assert_eq!(sorter.sort(&with(Probe { nonce: 1, ..probe })), Sorted::Earlier);
        assert_eq!(sorter.sort(&with(Probe { stream: 4, ..probe })), Sorted::Foreign);
        assert_eq!(sorter.sort(&[0xff; 60]), Sorted::Foreign);
        assert_eq!(sorter.sort(&[]), Sorted::Foreign);
    }
}
