//! Frames on their way. A frame of a stream is a few numbers: its bytes are made once for its flow.

use crate::picos::Picos;

/// No queue in particular.
pub const NO_QUEUE: u32 = u32::MAX;

/// Whose a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A stream's: the place of the stream among [`Flows`](crate::flows::Flows), and the flow.
    Flow {
        /// The stream's place.
        stream: u32,
        /// The flow.
        flow: u32,
    },
    /// Somebody else's, with bytes of its own: its place in the [`Store`].
    Raw(u32),
}

/// A frame on its way.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Whose it is.
    pub kind: Kind,
    /// Its length without FCS.
    pub len: u32,
    /// Its number in the stream.
    pub seq: u64,
    /// When it left the tester.
    pub left: Picos,
    /// Number of the switch port on which it came in.
    pub in_port: u16,
    /// Whether its probe is still in it.
    pub is_probed: bool,
    /// The output queue that it is for, or [`NO_QUEUE`].
    pub queue: u32,
}

/// Frames with bytes of their own.
#[derive(Debug, Default)]
pub struct Store {
    places: Vec<Vec<u8>>,
    free: Vec<u32>,
}

impl Store {
    /// Keeps a frame; gives its place.
    pub fn keep(&mut self, bytes: &[u8]) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.places[place as usize].extend_from_slice(bytes);
                place
            }
            None => {
                self.places.push(bytes.to_vec());
                (self.places.len() - 1) as u32
            }
        }
    }

    /// Takes a frame out.
    pub fn take(&mut self, place: u32) -> Vec<u8> {
        self.free.push(place);
        std::mem::take(&mut self.places[place as usize])
    }

    /// Forgets a frame.
    pub fn drop(&mut self, place: u32) {
        self.free.push(place);
        self.places[place as usize].clear();
    }
}
