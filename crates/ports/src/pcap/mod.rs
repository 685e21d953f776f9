//! Capture files: how frames are written down, a port that writes what it sends, and a copy of any port's frames.

mod file_port;
mod format;
mod output;
mod tap;

pub use file_port::FilePort;
pub use format::{Format, InterfaceCounts};
pub use output::OutputFile;
pub use tap::Tap;
