//! Meters against their definition, and the codes with which they are refused.

use super::*;
use flowgauge_openflow::Band::{Drop, DscpRemark, Experimenter};
use proptest::prelude::*;

fn meter(flags: MeterFlags, bands: Vec<of::Band>) -> MeterMod {
    MeterMod { command: MeterModCommand::Add, flags, meter_id: 1, bands }
}

fn drop_at(rate: u32, burst_size: u32) -> of::Band {
    Drop { rate, burst_size }
}

#[test]
fn refusals_have_the_codes_of_the_specification() {
    let mut meters = Meters::default();
    let mut refuse = |request: MeterMod| meters.set(&request, Nanos::ZERO).unwrap_err();
    let plain = || meter(MeterFlags::KBPS, vec![drop_at(10, 0)]);
    let with = |bands| meter(MeterFlags::KBPS, bands);
    let command = |command| MeterMod { command, ..plain() };
    assert_eq!(refuse(MeterMod { meter_id: 0, ..plain() }), ErrorCode::MeterInvalid);
    assert_eq!(refuse(MeterMod { meter_id: METER_ALL, ..plain() }), ErrorCode::MeterInvalid);
    assert_eq!(refuse(command(MeterModCommand::Modify)), ErrorCode::MeterUnknown);
    assert_eq!(refuse(command(MeterModCommand::Unknown(9))), ErrorCode::MeterBadCommand);
    assert_eq!(refuse(meter(MeterFlags(3), vec![])), ErrorCode::MeterBadFlags);
    assert_eq!(refuse(meter(MeterFlags(16), vec![])), ErrorCode::MeterBadFlags);
    assert_eq!(refuse(with(vec![drop_at(0, 0)])), ErrorCode::MeterBadRate);
    assert_eq!(refuse(with(vec![drop_at(1, 0); MAX_BANDS + 1])), ErrorCode::MeterOutOfBands);
    let remark = DscpRemark { rate: 1, burst_size: 0, prec_level: 4 };
    assert_eq!(refuse(with(vec![remark])), ErrorCode::MeterBadBandDetail);
    let theirs = Experimenter { rate: 1, burst_size: 0, experimenter: 7, data: vec![] };
    assert_eq!(refuse(with(vec![theirs])), ErrorCode::MeterBadBand);
    assert_eq!(meters.set(&plain(), Nanos::ZERO), Ok(()));
    assert_eq!(meters.set(&plain(), Nanos::ZERO), Err(ErrorCode::MeterExists));
    assert_eq!(meters.check(2), Err(ErrorCode::MeterUnknown));
    assert_eq!(meters.check(METER_CONTROLLER), Err(ErrorCode::MeterInvalid));
    assert_eq!(meters.stats(2, Nanos::ZERO), Err(ErrorCode::MeterUnknown));
}

#[test]
fn modifying_keeps_the_meters_counts_and_starts_the_bands_again() {
    let mut meters = Meters::default();
    meters.set(&meter(MeterFlags::PKTPS | MeterFlags::BURST, vec![drop_at(1, 1)]), Nanos::ZERO).unwrap();
    assert_eq!(meters.measure(1, 100, Nanos::ZERO), Verdict::Pass);
    assert_eq!(meters.measure(1, 100, Nanos::ZERO), Verdict::Drop);
    let stats = meters.stats(1, Nanos::from_millis(2500)).unwrap().remove(0);
    assert_eq!((stats.packet_in_count, stats.byte_in_count), (2, 200));
    assert_eq!((stats.duration_sec, stats.duration_nsec), (2, 500_000_000));
    assert_eq!(stats.bands, [BandCounter { packet_count: 1, byte_count: 100 }]);
    let changed = MeterMod { command: MeterModCommand::Modify, ..meter(MeterFlags::KBPS, vec![]) };
    meters.set(&changed, Nanos::from_secs(9)).unwrap();
    let stats = meters.stats(METER_ALL, Nanos::from_secs(10)).unwrap().remove(0);
    assert_eq!((stats.packet_in_count, stats.duration_sec, stats.bands.len()), (2, 10, 0));
}

#[test]
fn the_highest_rate_exceeded_wins() {
    let mut meters = Meters::default();
    let remark = DscpRemark { rate: 100, burst_size: 2, prec_level: 1 };
    let flags = MeterFlags::PKTPS | MeterFlags::BURST;
    meters.set(&meter(flags, vec![remark, drop_at(200, 2)]), Nanos::ZERO).unwrap();
    // 300 frames a second for ten seconds: 100 pass, 100 are marked and 100 dropped in each.
    let mut counts = [0; 3];
    for frame in 0..3000u64 {
        match meters.measure(1, 64, Nanos(frame * 10_000_000 / 3)) {
            Verdict::Pass => counts[0] += 1,
            Verdict::Remark(level) => counts[usize::from(level)] += 1,
            Verdict::Drop => counts[2] += 1,
        }
    }
    for count in counts {
        assert!((998..=1002).contains(&count), "{counts:?}");
    }
    let bands = meters.stats(1, Nanos::ZERO).unwrap().remove(0).bands;
    assert_eq!([bands[0].packet_count, bands[1].packet_count], [counts[1], counts[2]]);
}

#[test]
fn only_assured_forwarding_has_a_drop_precedence() {
    for (dscp, levels, wanted) in
        [(10, 1, 12), (10, 2, 14), (12, 3, 14), (34, 1, 36), (46, 1, 46), (0, 3, 0), (8, 1, 8), (11, 1, 11)]
    {
        assert_eq!(remarked(dscp, levels), wanted, "{dscp} by {levels}");
    }
}

proptest! {
    /// Over any stretch of time, what passes is at most rate * time + burst; and when more is offered all the
    /// time, at least rate * time - one frame.
    #[test]
    fn the_rate_is_right_within_a_burst(
        is_kbps: bool,
        rate in 10u32..5000,
        burst in 100u32..2000,
        gaps in prop::collection::vec(0u64..200_000, 10..400),
        bytes in 60usize..1500,
    ) {
        let mut meters = Meters::default();
        let unit = if is_kbps { MeterFlags::KBPS } else { MeterFlags::PKTPS };
        meters.set(&meter(unit | MeterFlags::BURST, vec![drop_at(rate, burst)]), Nanos::ZERO).unwrap();
        let (mut now, mut passed) = (0u64, vec![]);
        let (mut refused_once, mut offered) = (false, 0u128);
        let cost = if is_kbps { bytes as u128 * 8 } else { 1 };
        let scale = if is_kbps { 1000 } else { 1 };
        for gap in gaps {
            now += gap;
            offered += 1;
            match meters.measure(1, bytes, Nanos(now)) {
                Verdict::Pass => passed.push(now),
                Verdict::Drop => refused_once = true,
                Verdict::Remark(_) => unreachable!("it drops"),
            }
        }
        // In billionths of the unit.
        let (rate, burst) = (u128::from(rate) * scale, u128::from(burst) * scale * 1_000_000_000);
        for (i, from) in passed.iter().enumerate() {
            for (n, to) in passed[i..].iter().enumerate() {
                let amount = (n as u128 + 1) * cost * 1_000_000_000;
                prop_assert!(amount <= rate * u128::from(to - from) + burst);
            }
        }
        if !refused_once {
            prop_assert_eq!(passed.len() as u128, offered);
        }
    }
}
