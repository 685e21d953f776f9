//! A map from the numbers that controllers choose: groups, meters, ports.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Values by 32-bit number. Quick to look up: it is done for frames.
pub type IdMap<T> = HashMap<u32, T, BuildHasherDefault<IdHasher>>;

/// Spreads 32-bit numbers. Not meant to withstand an attacker.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(byte.into());
        }
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        let mixed = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }
}
