//! OpenFlow messages out of captures of control channels and hexadecimal dumps, one line of text each, and back.
//!
//! - [`Decoder`] reads a pcap or pcapng file, or text with bytes in hexadecimal, and writes a line per message. What
//!   can't be read is a line of its own; the rest goes on.
//! - [`Encoder`] reads messages as JSON or flows as ovs-ofctl writes them, and writes their bytes in hexadecimal.
//! - [`Recording`] is all frames of a capture with their times, to be sent again.
//! - [`Channels`] is what lies between: TCP segments in any order become messages, per connection and direction.
//!
//! Everything but a [`Recording`] is read as a stream: memory depends on the connections that are open, not on the file's length.

mod channels;
mod decode;
mod encode;
mod file;
mod framing;
mod hex;
mod lines;
mod reassembly;
mod recording;
mod segment;

pub use channels::{Channels, Place, Problem};
pub use decode::{DecodeOptions, Decoder, Input};
pub use encode::Encoder;
pub use file::FileError;
pub use lines::Form;
pub use reassembly::{Arrival, Direction, Piece};
pub use recording::{Recording, RecordingError};
pub use segment::Segment;
