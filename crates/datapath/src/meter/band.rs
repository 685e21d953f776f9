//! A meter's band: a rate, and what happens to frames above it.

use super::Verdict;
use crate::token_bucket::TokenBucket;
use flowgauge_clock::Nanos;
use flowgauge_openflow::{self as of, BandCounter, ErrorCode, MeterFlags};

/// Highest drop precedence of an assured-forwarding class (RFC 2597).
const HIGHEST_PRECEDENCE: u8 = 3;
/// Where the controller sets no burst: a tenth of a second of the rate, but at least a jumbo frame (in kb).
const LEAST_BURST_KB: u64 = 74;

/// A band that measures.
#[derive(Clone, Debug)]
pub struct Band {
    bucket: TokenBucket,
    rate: u32,
    /// What a frame costs: 1 in packets, its bits otherwise.
    per_packet: bool,
    exceeded: Verdict,
    /// Its place among the bands as the controller gave them.
    number: usize,
    counter: BandCounter,
}

impl Band {
    /// The band that the controller describes.
    ///
    /// # Errors
    /// A type that we don't know, a rate of 0, a precedence that doesn't exist.
    pub fn new(band: &of::Band, number: usize, flags: MeterFlags, now: Nanos) -> Result<Band, ErrorCode> {
        let (rate, burst_size, exceeded) = match *band {
            of::Band::Drop { rate, burst_size } => (rate, burst_size, Verdict::Drop),
            of::Band::DscpRemark { rate, burst_size, prec_level } => {
                if !(1..=HIGHEST_PRECEDENCE).contains(&prec_level) {
                    return Err(ErrorCode::MeterBadBandDetail);
                }
                (rate, burst_size, Verdict::Remark(prec_level))
            }
            of::Band::Experimenter { .. } | of::Band::Unknown { .. } => {
                return Err(ErrorCode::MeterBadBand);
            }
        };
        if rate == 0 {
            return Err(ErrorCode::MeterBadRate);
        }
        let per_packet = flags.contains(MeterFlags::PKTPS);
        let burst = match u64::from(burst_size) {
            given if given > 0 && flags.contains(MeterFlags::BURST) => given,
            _ if per_packet => u64::from(rate / 10).max(1),
            _ => u64::from(rate / 10).max(LEAST_BURST_KB),
        };
        let scale = if per_packet { 1 } else { 1000 };
        let bucket = TokenBucket::new(u64::from(rate) * scale, burst * scale, now);
        Ok(Band { bucket, rate, per_packet, exceeded, number, counter: BandCounter::default() })
    }

    /// In the meter's unit.
    pub fn rate(&self) -> u32 {
        self.rate
    }

    /// Its place among the bands as the controller gave them.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Its frames so far.
    pub fn counter(&self) -> BandCounter {
        self.counter
    }

    /// What happens to the frame if it exceeds the rate.
    #[inline]
    pub fn measure(&mut self, bytes: usize, now: Nanos) -> Option<Verdict> {
        let cost = if self.per_packet { 1 } else { bytes as u64 * 8 };
        if self.bucket.take(cost, now) {
            return None;
        }
        self.counter.packet_count += 1;
        self.counter.byte_count += bytes as u64;
        Some(self.exceeded)
    }
}

/// The DSCP with its drop precedence raised by `levels`. Only assured forwarding (RFC 2597) has one: other
/// code points stay.
pub fn remarked(dscp: u8, levels: u8) -> u8 {
    let (class, precedence) = (dscp >> 3, dscp >> 1 & 3);
    let is_assured = (1..=4).contains(&class) && precedence != 0 && dscp & 1 == 0;
    if !is_assured {
        return dscp;
    }
    class << 3 | (precedence + levels).min(HIGHEST_PRECEDENCE) << 1
}
