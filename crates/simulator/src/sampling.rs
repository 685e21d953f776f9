//! Random times, the same on every machine.

use flowgauge_measure::{Random, exact};

use crate::model::{Distribution, Kind};
use crate::picos::Picos;

/// The seed of one element's own random numbers: what others draw does not shift it. `tag` names the kind of element.
pub fn element(seed: u64, tag: &str, number: u64) -> u64 {
    let tag = tag.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Random::nth(Random::nth(seed, tag), number)
}

/// Draws times of a distribution.
#[derive(Clone, Debug)]
pub struct Sampler {
    shape: Shape,
    random: Random,
}

/// In picoseconds.
#[derive(Clone, Debug)]
enum Shape {
    Constant(u64),
    Normal { mean: f64, std: f64 },
    Exponential { mean: f64 },
    Lognormal { mu: f64, sigma: f64 },
    Uniform { low: f64, width: f64 },
}

impl Sampler {
    /// Of that distribution, from that seed (see [`element`]).
    pub fn new(times: &Distribution, seed: u64) -> Sampler {
        Sampler { shape: Shape::new(times), random: Random::new(seed) }
    }

    /// The next time.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "it never ends, and is asked one by one")]
    pub fn next(&mut self) -> Picos {
        let ps = match self.shape {
            Shape::Constant(ps) => return Picos(ps),
            Shape::Normal { mean, std } => mean + std * self.random.next_normal(),
            Shape::Exponential { mean } => mean * self.random.next_exponential(),
            Shape::Lognormal { mu, sigma } => exact::exp(mu + sigma * self.random.next_normal()),
            Shape::Uniform { low, width } => low + width * self.random.next_unit(),
        };
        // Below zero gives zero.
        Picos(ps as u64)
    }

    /// The time, if it is always the same.
    pub fn constant(&self) -> Option<Picos> {
        match self.shape {
            Shape::Constant(ps) => Some(Picos(ps)),
            Shape::Normal { .. }
            | Shape::Exponential { .. }
            | Shape::Lognormal { .. }
            | Shape::Uniform { .. } => None,
        }
    }
}

impl Shape {
    fn new(times: &Distribution) -> Shape {
        let (mean, std) = (times.mean_ns * 1e3, times.std_ns * 1e3);
        match times.kind {
            Kind::Exponential if mean > 0.0 => Shape::Exponential { mean },
            Kind::Normal if std > 0.0 => Shape::Normal { mean, std },
            Kind::Lognormal if std > 0.0 && mean > 0.0 => {
                let variance = exact::ln(1.0 + (std / mean) * (std / mean));
                Shape::Lognormal { mu: exact::ln(mean) - variance / 2.0, sigma: variance.sqrt() }
            }
            Kind::Uniform if std > 0.0 => {
                let half = std * 3f64.sqrt();
                Shape::Uniform { low: mean - half, width: 2.0 * half }
            }
            Kind::Constant | Kind::Exponential | Kind::Normal | Kind::Lognormal | Kind::Uniform => {
                Shape::Constant(Picos::from_ns_f64(times.mean_ns).0)
            }
        }
    }
}

/// Yes with a given probability.
#[derive(Clone, Debug)]
pub struct Chance {
    /// Below this: yes.
    threshold: u64,
    random: Random,
}

impl Chance {
    /// With probability `p`, from that seed.
    pub fn new(p: f64, seed: u64) -> Chance {
        Chance { threshold: (p * 18_446_744_073_709_551_616.0) as u64, random: Random::new(seed) }
    }

    /// Whether it comes about.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "it never ends, and is asked one by one")]
    pub fn next(&mut self) -> bool {
        self.threshold > 0 && (self.threshold == u64::MAX || self.random.next_u64() < self.threshold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(times: Distribution) -> (f64, f64) {
        let mut sampler = Sampler::new(&times, element(1, "test", 0));
        let draws: Vec<f64> = (0..200_000).map(|_| sampler.next().0 as f64 / 1e3).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / draws.len() as f64;
        (mean, variance.sqrt())
    }

    #[test]
    fn each_shape_has_its_mean_and_deviation() {
        let times = |kind| Distribution { mean_ns: 1000.0, std_ns: 100.0, kind };
        for (kind, std) in
            [(Kind::Constant, 0.0), (Kind::Normal, 100.0), (Kind::Lognormal, 100.0), (Kind::Uniform, 100.0)]
        {
            let found = moments(times(kind));
            assert!((found.0 - 1000.0).abs() < 1.0 && (found.1 - std).abs() < 1.0, "{kind:?} {found:?}");
        }
        let found = moments(times(Kind::Exponential));
        assert!((found.0 - 1000.0).abs() < 10.0 && (found.1 - 1000.0).abs() < 10.0, "{found:?}");
    }

    #[test]
    fn what_would_be_negative_is_zero() {
        let times = Distribution { mean_ns: 1.0, std_ns: 100.0, kind: Kind::Normal };
        let mut sampler = Sampler::new(&times, 1);
        assert!((0..100).any(|_| sampler.next() == Picos::ZERO));
    }

    #[test]
    fn chances_come_about_as_often_as_said() {
        let count = |p| {
            let mut chance = Chance::new(p, 5);
            (0..100_000).filter(|_| chance.next()).count() as f64 / 1e5
        };
        assert_eq!((count(0.0), count(1.0)), (0.0, 1.0));
        assert!((count(0.1) - 0.1).abs() < 0.005, "{}", count(0.1));
    }

    #[test]
    fn elements_have_streams_of_their_own() {
        let mut seeds: Vec<_> =
            (0..4).flat_map(|n| [element(7, "link", n), element(7, "latency", n)]).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 8);
    }
}
