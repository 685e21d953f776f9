//! Logarithm and exponential that are the same on every machine.
//!
//! They use only IEEE 754 addition, multiplication and division, which are exact to the last bit everywhere; the system's
//! `ln` and `exp` are not.

use std::f64::consts::{LN_2, SQRT_2};

/// Natural logarithm of a normal positive number, within 4e-16 relative or absolute.
///
/// x = m * 2^e with m in [sqrt(1/2), sqrt(2)); ln m = 2 artanh s with s = (m-1)/(m+1), |s| < 0.172, as a series.
pub fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut m = f64::from_bits(bits & 0x000f_ffff_ffff_ffff | 0x3ff0_0000_0000_0000);
    if m > SQRT_2 {
        m *= 0.5;
        exponent += 1;
    }
    let s = (m - 1.0) / (m + 1.0);
    let s2 = s * s;
    let series =
        [19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0].iter().fold(0.0, |sum, n| sum * s2 + 1.0 / n);
    2.0 * s * series + exponent as f64 * LN_2
}

/// `e^x` for |x| < 700, within 1e-13 relative.
///
/// x = k ln 2 + r with |r| <= ln 2 / 2; e^r as a series, times 2^k.
pub fn exp(x: f64) -> f64 {
    let x = x.clamp(-700.0, 700.0);
    let k = (x / LN_2).round();
    let r = x - k * LN_2;
    let series = (1..=16u32).rev().fold(1.0, |sum, n| 1.0 + sum * r / f64::from(n));
    series * f64::from_bits(((k as i64 + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

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
    fn own_exponential_agrees_with_the_systems() {
        let mut random = Random::new(2);
        for _ in 0..100_000 {
            let x = (random.next_unit() - 0.5) * 1400.0;
            assert!((exp(x) / x.exp() - 1.0).abs() <= 1e-12, "{x}");
            let small = x / 1000.0;
            assert!((exp(small) / small.exp() - 1.0).abs() <= 1e-15, "{small}");
        }
        assert_eq!(exp(0.0), 1.0);
    }
}
