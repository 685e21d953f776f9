//! placeholder

pub mod play;
