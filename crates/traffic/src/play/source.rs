//! Where played messages come from.

use flowgauge_channel::wire::{self, HEADER_LEN};
use flowgauge_clock::Nanos;
use flowgauge_measure::{FlowOrder, Probe};
use flowgauge_openflow::FlowEncoder;
use flowgauge_packet::FrameSource;

/// Which answer each message of a source gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaits {
    /// None, or only an ERROR.
    Nothing,
    /// One reply with its transaction id (of several parts, for statistics).
    Reply,
}

/// Makes the messages of a play.
pub trait Source: Send {
    /// How many messages there are; `None`: as many as the schedule asks for.
    fn count(&self) -> Option<u64>;

    /// Appends message `i`, whole, with this transaction id, as it is to leave at `now`.
    fn encode(&mut self, i: u64, xid: u32, now: Nanos, out: &mut Vec<u8>);

    /// Whether messages hold the time at which they leave. They are then encoded anew when the socket was full.
    fn is_stamped(&self) -> bool {
        false
    }

    /// Which answer each message gets.
    fn awaits(&self) -> Awaits {
        Awaits::Nothing
    }

    /// Whether the reply to message `i`, which left at `sent`, carries the payload that it should.
    fn is_intact(&self, _i: u64, _sent: Nanos, _reply: &[u8]) -> bool {
        true
    }
}

/// Messages encoded beforehand, of any kind. Their transaction ids are replaced.
pub struct Messages {
    messages: Vec<Vec<u8>>,
    awaits: Awaits,
    repeat: bool,
}

impl Messages {
    /// Each message once.
    pub fn once(messages: Vec<Vec<u8>>, awaits: Awaits) -> Messages {
        Messages { messages, awaits, repeat: false }
    }

    /// The messages in turn, for as long as the schedule lasts: for instance one statistics request.
    pub fn repeated(messages: Vec<Vec<u8>>, awaits: Awaits) -> Messages {
        Messages { messages, awaits, repeat: true }
    }
}

impl Source for Messages {
    fn count(&self) -> Option<u64> {
        (!self.repeat || self.messages.is_empty()).then_some(self.messages.len() as u64)
    }

    fn encode(&mut self, i: u64, xid: u32, _now: Nanos, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.messages[(i % self.messages.len() as u64) as usize]);
        set_xid(&mut out[start..], xid);
    }

    fn awaits(&self) -> Awaits {
        self.awaits
    }
}

/// Encodes message `i` with this transaction id.
pub type EncodeFn = Box<dyn FnMut(u64, u32, &mut Vec<u8>) + Send>;

/// Messages that a function encodes, such as the FLOW_MODs of flow sets.
pub struct Encoded {
    count: u64,
    encode: EncodeFn,
}

impl Encoded {
    /// `count` messages without replies.
    pub fn new(count: u64, encode: EncodeFn) -> Encoded {
        Encoded { count, encode }
    }

    /// The FLOW_MODs of flow sets, one set after the other.
    pub fn flow_mods(encoders: Vec<FlowEncoder>) -> Encoded {
        let count = encoders.iter().map(|encoder| u64::from(encoder.len())).sum();
        let (mut at, mut first) = (0, 0);
        let encode = move |i: u64, xid: u32, out: &mut Vec<u8>| {
            if i < first {
                (at, first) = (0, 0);
            }
            while i - first >= u64::from(encoders[at].len()) {
                first += u64::from(encoders[at].len());
                at += 1;
            }
            encoders[at].encode((i - first) as u32, xid, out);
        };
        Encoded::new(count, Box::new(encode))
    }
}

impl Source for Encoded {
    fn count(&self) -> Option<u64> {
        Some(self.count)
    }

    fn encode(&mut self, i: u64, xid: u32, _now: Nanos, out: &mut Vec<u8>) {
        (self.encode)(i, xid, out);
    }
}

/// ECHO_REQUESTs whose payload is the time at which they left (nanoseconds, 8 bytes) and their number (8 bytes).
pub struct Echoes {
    version: u8,
}

impl Echoes {
    /// In this wire version.
    pub fn new(version: u8) -> Echoes {
        Echoes { version }
    }
}

impl Source for Echoes {
    fn count(&self) -> Option<u64> {
        None
    }

    fn encode(&mut self, i: u64, xid: u32, now: Nanos, out: &mut Vec<u8>) {
        let header = wire::Header {
            version: self.version,
            message_type: wire::ECHO_REQUEST,
            length: HEADER_LEN as u16 + 16,
            xid,
        };
        out.extend_from_slice(&header.to_bytes());
        out.extend_from_slice(&now.0.to_be_bytes());
        out.extend_from_slice(&i.to_be_bytes());
    }

    fn is_stamped(&self) -> bool {
        true
    }

    fn awaits(&self) -> Awaits {
        Awaits::Reply
    }

    fn is_intact(&self, i: u64, sent: Nanos, reply: &[u8]) -> bool {
        let word =
            |at: usize| reply.get(at..at + 8).map(|b| u64::from_be_bytes(b.try_into().expect("eight")));
        // The payload's time was read just before the write that `sent` belongs to.
        let time = word(HEADER_LEN).map(Nanos);
        reply.len() == HEADER_LEN + 16
            && word(HEADER_LEN + 8) == Some(i)
            && time.is_some_and(|t| t <= sent && sent - t < Nanos::from_millis(100))
    }
}

/// PACKET_OUTs that carry a stream's frames, each with its probe stamped as it is written.
pub struct PacketOuts {
    head: Vec<u8>,
    frames: FrameSource,
    order: FlowOrder,
    nonce: u16,
    stream: u16,
    epoch: Nanos,
}

impl PacketOuts {
    /// `empty`: an encoded PACKET_OUT without a frame, which says what the switch is to do with each (at most 64 KiB with
    /// a frame). `nonce`, `stream` and `epoch` (the trial's start) go into the probes, as in the engine's.
    pub fn new(
        empty: Vec<u8>,
        frames: impl Into<FrameSource>,
        order: FlowOrder,
        (nonce, stream, epoch): (u16, u16, Nanos),
    ) -> PacketOuts {
        PacketOuts { head: empty, frames: frames.into(), order, nonce, stream, epoch }
    }
}

impl Source for PacketOuts {
    fn count(&self) -> Option<u64> {
        None
    }

    fn encode(&mut self, i: u64, xid: u32, now: Nanos, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.head);
        set_xid(&mut out[start..], xid);
        let (frame, flow) = (out.len(), self.order.flow(i, self.frames.flows()));
        out.resize(frame + self.frames.len(flow), 0);
        let length = (out.len() - start) as u16;
        out[start + 2..start + 4].copy_from_slice(&length.to_be_bytes());
        self.frames.write(flow, &mut out[frame..]);
        if let Some(at) = self.frames.probe_offset(flow) {
            let probe = Probe { nonce: self.nonce, stream: self.stream, seq: i, time: now - self.epoch };
            probe.write(&mut out[frame + at..]);
        }
    }

    fn is_stamped(&self) -> bool {
        true
    }
}

fn set_xid(message: &mut [u8], xid: u32) {
    message[4..HEADER_LEN].copy_from_slice(&xid.to_be_bytes());
}
