//! Schedules against an oracle in unlimited precision.

use num_bigint::BigUint;
use proptest::prelude::*;

use super::*;

/// floor(n * seconds * 10^9 / events) + extra, in unlimited precision.
fn oracle(rate: Rate, n: u64, extra: BigUint) -> BigUint {
    BigUint::from(n) * rate.seconds() * 1_000_000_000u64 / rate.events() + extra
}

fn rates() -> impl Strategy<Value = Rate> {
    (1..=u64::MAX, 1..=1u64 << 40)
        .prop_map(|(events, seconds)| Rate::new(events as u128, seconds as u128).unwrap())
}

proptest! {
    #[test]
    fn cbr_is_exact_at_any_event(rate in rates(), k in 0..1u64 << 48) {
        let expected = oracle(rate, k, BigUint::ZERO);
        let found = Schedule::Cbr { rate }.departure(k);
        prop_assert_eq!(BigUint::from(found.0), expected.min(u64::MAX.into()));
    }

    #[test]
    fn stepping_is_the_same_as_jumping(rate in rates(), frames in 1u32..70, gap in 0..1u64 << 30) {
        for schedule in [
            Schedule::Cbr { rate },
            Schedule::Burst { frames, gap: Nanos(gap), rate: Some(rate) },
            Schedule::Burst { frames, gap: Nanos(gap), rate: None },
        ] {
            for (k, at) in schedule.departures().take(300).enumerate() {
                prop_assert_eq!(at, schedule.departure(k as u64), "{:?} {}", schedule, k);
            }
        }
    }

    #[test]
    fn leaves_out_what_a_later_instant_overtakes(pps in 1u64..1 << 33, frames in 1u32..9, ns in 0..3_000u64, limit in 0..30_000u64, most in 0..2_000u64) {
        let rate = Rate::new(pps as u128, 7).unwrap();
        for schedule in [
            Schedule::Cbr { rate },
            Schedule::Poisson { rate: Rate::new(1 + pps as u128 % 100_000_000, 1).unwrap(), seed: pps },
            Schedule::Burst { frames, gap: Nanos(ns), rate: Some(rate) },
            Schedule::Burst { frames, gap: Nanos(1 + ns), rate: None },
        ] {
            let mut found = schedule.departures();
            let skipped = found.skip_overtaken(Nanos(limit), most);
            let due: Vec<_> = schedule.departures().take_while(|&at| at <= Nanos(limit)).take(300_000).collect();
            let last = due.last().copied().unwrap_or_default();
            let overtaken = due.iter().take_while(|&&at| at < last).count() as u64;
            prop_assert!(skipped <= most, "{:?}", schedule);
            if overtaken <= most && due.len() < 300_000 && !matches!(schedule, Schedule::Cbr { .. }) {
                prop_assert_eq!(skipped, overtaken, "{:?}", schedule);
            }
            if let Schedule::Cbr { .. } = schedule {
                // Of several at the last instant, all but the last one go, too.
                let expected = (due.len() as u64 - 1).min(most);
                prop_assert!(due.len() == 300_000 || skipped == expected || last == Nanos(0), "{}", skipped);
            }
            prop_assert!(schedule.departures().skip(skipped as usize).take(5).eq(found.take(5)), "{:?}", schedule);
        }
        prop_assert_eq!(Schedule::Max.departures().skip_overtaken(Nanos(limit), most), 0);
    }

    #[test]
    fn bursts_are_exact_at_any_event(rate in rates(), frames in 1u32.., gap in 0..1u64 << 40, k in 0..1u64 << 48) {
        let (bursts, within) = (k / frames as u64, k % frames as u64);
        // The same in one fraction: all intervals within bursts, and all gaps.
        let intervals = bursts * (frames as u64 - 1) + within;
        let expected = oracle(rate, intervals, BigUint::from(bursts) * gap);
        let found = Schedule::Burst { frames, gap: Nanos(gap), rate: Some(rate) }.departure(k);
        prop_assert_eq!(BigUint::from(found.0), expected.min(u64::MAX.into()));
    }

    #[test]
    fn counts_what_leaves_before_the_end(pps in 1u64..10_000, sevenths in 1u64..8, ns in 0..50_000_000u64, frames in 1u32..9) {
        let rate = Rate::new(pps as u128, sevenths as u128).unwrap();
        for schedule in [
            Schedule::Cbr { rate },
            Schedule::Poisson { rate, seed: pps },
            Schedule::Burst { frames, gap: Nanos(1 + ns / 7), rate: Some(rate) },
            Schedule::Burst { frames, gap: Nanos(1 + ns / 7), rate: None },
        ] {
            let counted = schedule.departures().take_while(|&at| at < Nanos(ns)).count() as u64;
            prop_assert_eq!(schedule.count_within(Nanos(ns)), Some(counted), "{:?}", schedule);
        }
    }
}

#[test]
fn a_million_frames_at_a_third_do_not_drift() {
    let rate = Rate::l2_mbps((100, 1), 1500, Megabit::Decimal).unwrap();
    assert_eq!((rate.events(), rate.seconds()), (25_000, 3));
    let mut departures = Schedule::Cbr { rate }.departures();
    (0..1_000_000).for_each(|_| departures.advance());
    assert_eq!(departures.peek(), Nanos::from_secs(120));
}

#[test]
fn aliens_megabit_is_an_option() {
    let rate = Rate::l2_mbps((10, 1), 1000, Megabit::Binary).unwrap();
    assert_eq!(rate.as_f64(), 10.0 * 1024.0 * 1024.0 / 8000.0);
}

#[test]
fn poisson_instants_are_these_on_every_machine() {
    let schedule = Schedule::Poisson { rate: Rate::new(1_000_000, 1).unwrap(), seed: 42 };
    let first: Vec<u64> = schedule.departures().take(5).map(|at| at.0).collect();
    assert_eq!(first, POISSON_SEED_42);
    assert_eq!(schedule.departure(4).0, POISSON_SEED_42[4]);
    let millionth = schedule.departure(1_000_000).as_secs_f64();
    assert!((millionth - 1.0).abs() < 0.005, "{millionth}");
}

/// Computed apart from this code, in Python: SplitMix64 and `math.log`.
const POISSON_SEED_42: [u64; 5] = [298, 2132, 3410, 4476, 7746];

#[test]
fn refuses_what_is_no_rate() {
    for pps in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(Schedule::cbr_pps(pps).unwrap_err().name(), "rate-not-positive");
    }
    assert_eq!(Rate::new(1 << 100, (1 << 100) - 1).unwrap_err().name(), "rate-too-fine");
    assert_eq!(Rate::from_f64(0.1).unwrap(), Rate::new(1, 10).unwrap());
}

#[test]
fn mean_gaps() {
    let rate = Rate::new(1000, 1).unwrap();
    assert_eq!(Schedule::Cbr { rate }.mean_gap(), Nanos::from_millis(1));
    let burst = Schedule::Burst { frames: 10, gap: Nanos::from_millis(1), rate: None };
    assert_eq!(burst.mean_gap(), Nanos::from_micros(100));
    assert_eq!(Schedule::Max.mean_gap(), Nanos::ZERO);
    assert_eq!(Schedule::Max.count_within(Nanos::from_secs(1)), None);
}

proptest! {
    #[test]
    fn recorded_instants_come_again_each_period(gaps in prop::collection::vec(0..1000u64, 1..20), rest in 1..50u64) {
        let times: Vec<Nanos> = gaps.iter().scan(0, |at, gap| { *at += gap; Some(Nanos(*at)) }).collect();
        let period = *times.last().unwrap() + Nanos(rest);
        let schedule = Schedule::Recorded(Recorded::new(times.clone(), period).unwrap());
        for (k, at) in schedule.departures().take(70).enumerate() {
            let (rounds, i) = (k / times.len(), k % times.len());
            prop_assert_eq!(at, Nanos(rounds as u64 * period.0) + times[i]);
            prop_assert_eq!(at, schedule.departure(k as u64));
        }
        let end = Nanos(period.0 * 2 + 1);
        let counted = schedule.departures().take_while(|&at| at < end).count() as u64;
        prop_assert_eq!(schedule.count_within(end), Some(counted));
    }
}

#[test]
fn recorded_instants_never_run_backwards() {
    let times = Recorded::new([5, 3, 9].map(Nanos), Nanos::ZERO).unwrap();
    assert_eq!(times.period(), Nanos(9));
    let schedule = Schedule::Recorded(times);
    assert_eq!(schedule.departures().take(5).map(|at| at.0).collect::<Vec<_>>(), [5, 5, 9, 14, 14]);
    assert_eq!(schedule.mean_gap(), Nanos(3));
    assert_eq!(Recorded::new([], Nanos(7)), Err(ScheduleError::NoInstants));
    let instant = Schedule::Recorded(Recorded::new([Nanos::ZERO], Nanos::ZERO).unwrap());
    assert_eq!(instant.count_within(Nanos(9)), None);
}
