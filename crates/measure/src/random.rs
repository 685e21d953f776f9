//! Random numbers that are the same on every machine.
//!
//! SplitMix64 (Steele, Lea, Flood 2014): number `i` of a seed is `mix(seed + (i + 1) * 0x9e3779b97f4a7c15)`, so any
//! number can be had without those before it. Exponential variates use only IEEE 754 addition, multiplication and
//! division, which are exact to the last bit everywhere; the system's `ln` is not.

use crate::exact::ln;

/// A stream of random numbers of a seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    state: u64,
}

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// The stream of `seed`, from its start.
    pub const fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    /// Number `i` of the stream of `seed`.
    #[inline]
    pub const fn nth(seed: u64, i: u64) -> u64 {
        mix(seed.wrapping_add(i.wrapping_add(1).wrapping_mul(STEP)))
    }

    /// The next number, uniform over all 64-bit values.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// The next number, uniform over (0, 1] in steps of 2^-53.
    #[inline]
    pub fn next_unit(&mut self) -> f64 {
        ((self.next_u64() >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// The next exponential variate with mean 1, from 0 to 36.7.
    #[inline]
    pub fn next_exponential(&mut self) -> f64 {
        -ln(self.next_unit())
    }

    /// The next standard normal variate, by Marsaglia's polar method. (A square root is exact to the last bit everywhere.)
    #[inline]
    pub fn next_normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.next_unit() - 1.0, 2.0 * self.next_unit() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * (-2.0 * ln(square) / square).sqrt();
            }
        }
    }
}

#[inline]
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_splitmix64_and_can_be_entered_anywhere() {
        let mut random = Random::new(1_234_567);
        let first: Vec<_> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
        assert_eq!(first, [0, 1, 2].map(|i| Random::nth(1_234_567, i)));
    }

    #[test]
    fn exponential_variates_have_mean_and_variance_one() {
        let mut random = Random::new(7);
        let draws: Vec<f64> = (0..200_000).map(|_| random.next_exponential()).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        assert!((mean - 1.0).abs() < 0.01 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
    }

    #[test]
    fn normal_variates_have_the_moments_of_the_bell() {
        let mut random = Random::new(8);
        let draws: Vec<f64> = (0..200_000).map(|_| random.next_normal()).collect();
        let moment = |k| draws.iter().map(|x| x.powi(k)).sum::<f64>() / draws.len() as f64;
        assert!(moment(1).abs() < 0.01 && (moment(2) - 1.0).abs() < 0.02, "{} {}", moment(1), moment(2));
        assert!(moment(3).abs() < 0.04 && (moment(4) - 3.0).abs() < 0.12, "{} {}", moment(3), moment(4));
    }
}
