//! The tester's side: streams that leave its ports, and what arrives.

mod port;
mod source;
mod transmission;

pub use port::TxPort;
pub use source::Source;
pub use transmission::{Reached, Transmission};
