//! Random numbers that are the same on every machine.
//!
//! SplitMix64 (Steele, Lea, Flood 2014): number `i` of a seed is `mix(seed + (i + 1) * 0x9e3779b97f4a7c15)`, so any
//! number can be had without those before it. Exponential variates use only IEEE 754 addition, multiplication and
//! division, which are exact to the last bit everywhere; the system's `ln` is not.

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
}

#[inline]
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Natural logarithm of a normal positive number, within 4e-16 relative or absolute, the same bits on every machine.
///
/// x = m * 2^e with m in [sqrt(1/2), sqrt(2)); ln m = 2 artanh s with s = (m-1)/(m+1), |s| < 0.172, as a series.
fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut m = f64::from_bits(bits & 0x000f_ffff_ffff_ffff | 0x3ff0_0000_0000_0000);
    if m > std::f64::consts::SQRT_2 {
        m *= 0.5;
        exponent += 1;
    }
    let s = (m - 1.0) / (m + 1.0);
    let s2 = s * s;
    let series =
        [19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0].iter().fold(0.0, |sum, n| sum * s2 + 1.0 / n);
    2.0 * s * series + exponent as f64 * std::f64::consts::LN_2
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
    fn own_logarithm_agrees_with_the_systems() {
        let mut random = Random::new(1);
        for _ in 0..100_000 {
            let x = random.next_unit();
            assert!((ln(x) - x.ln()).abs() <= 4e-16 * x.ln().abs().max(1.0), "{x}");
        }
        assert_eq!(ln(1.0), 0.0);
        assert!((ln(1.0 / (1u64 << 53) as f64) + 36.736_800_569_677_1).abs() < 1e-12);
    }

    #[test]
    fn exponential_variates_have_mean_and_variance_one() {
        let mut random = Random::new(7);
        let draws: Vec<f64> = (0..200_000).map(|_| random.next_exponential()).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        assert!((mean - 1.0).abs() < 0.01 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
    }
}
