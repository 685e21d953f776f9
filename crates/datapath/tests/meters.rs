//! Frames through meters: what passes, what is marked, what the controller is spared.

mod common;

use common::{Memory, field, udp_frame};
use flowgauge_clock::Nanos;
use flowgauge_datapath::{Datapath, Frame, Limits, Miss, Pipeline, PortRule};
use flowgauge_openflow::*;
use flowgauge_packet::Field;

const DST: u32 = 0x0a00_0002;

fn pipeline(meters: &[(u32, Band)]) -> Pipeline {
    let mut p = Pipeline::new(Limits { tables: 2, entries: 100 }, vec![PortRule::new(1), PortRule::new(2)]);
    for (meter_id, band) in meters {
        let flags = MeterFlags::PKTPS | MeterFlags::BURST | MeterFlags::STATS;
        let bands = vec![band.clone()];
        let request = MeterMod { command: MeterModCommand::Add, flags, meter_id: *meter_id, bands };
        p.meter_mod(&request, Nanos::ZERO, &mut ()).unwrap();
    }
    p
}

fn drop_at(rate: u32) -> Band {
    Band::Drop { rate, burst_size: 1 }
}

fn metered(meter: Instruction, dscp: Option<u128>) -> FlowMod {
    let mut match_ = Match::any().with(Field::EthType, 0x800);
    if let Some(dscp) = dscp {
        match_ = match_.with(Field::IpDscp, dscp);
    }
    let instructions = vec![meter, Instruction::ApplyActions(vec![Action::output(PortNo(2))])];
    FlowMod { match_, instructions, flags: FlowModFlags::SEND_FLOW_REM, ..FlowMod::default() }
}

/// So many frames, a millisecond apart.
fn send(p: &mut Pipeline, frames: u64, bytes: &[u8]) -> Memory {
    let mut memory = Memory::default();
    for ms in 0..frames {
        p.process(&[Frame { bytes, in_port: 1 }], Nanos::from_millis(ms), &mut memory);
    }
    memory
}

#[test]
fn what_exceeds_the_rate_is_dropped_and_counted() {
    let mut p = pipeline(&[(1, drop_at(100))]);
    p.flow_mod(&metered(Instruction::Meter(1), None), Version::V1_3, Nanos::ZERO, &mut ()).unwrap();
    assert_eq!(send(&mut p, 1000, &udp_frame(DST, 1)).outputs.len(), 100);
    let stats = p.meter_stats(1, Nanos::from_secs(1)).unwrap().remove(0);
    assert_eq!((stats.flow_count, stats.packet_in_count, stats.byte_in_count), (1, 1000, 60_000));
    assert_eq!(stats.bands, [BandCounter { packet_count: 900, byte_count: 54_000 }]);
    let entry = p.tables()[0].ids(|_| true);
    assert_eq!(p.tables()[0].entry(entry[0]).unwrap().packets, 1000, "the entry counts before the meter");
}

#[test]
fn a_dropped_frame_takes_its_action_set_along() {
    let mut p = pipeline(&[(1, drop_at(1))]);
    let set = vec![Instruction::WriteActions(vec![Action::output(PortNo(2))]), Instruction::GotoTable(1)];
    p.flow_mod(&FlowMod { instructions: set, ..FlowMod::default() }, Version::V1_3, Nanos::ZERO, &mut ())
        .unwrap();
    let request = FlowMod { table_id: 1, instructions: vec![Instruction::Meter(1)], ..FlowMod::default() };
    p.flow_mod(&request, Version::V1_3, Nanos::ZERO, &mut ()).unwrap();
    assert_eq!(send(&mut p, 10, &udp_frame(DST, 1)).outputs.len(), 1);
}

#[test]
fn remarking_raises_the_drop_precedence_and_mends_the_checksum() {
    let band = Band::DscpRemark { rate: 1, burst_size: 1, prec_level: 1 };
    let mut p = pipeline(&[(1, band)]);
    let mark = Instruction::ApplyActions(vec![Action::set(Field::IpDscp, 10)]);
    let first = FlowMod {
        instructions: vec![mark, Instruction::GotoTable(1)],
        match_: Match::any().with(Field::EthType, 0x800),
        ..FlowMod::default()
    };
    p.flow_mod(&first, Version::V1_3, Nanos::ZERO, &mut ()).unwrap();
    let second = FlowMod { table_id: 1, ..metered(Instruction::Meter(1), None) };
    p.flow_mod(&second, Version::V1_3, Nanos::ZERO, &mut ()).unwrap();
    let outputs = send(&mut p, 3, &udp_frame(DST, 1)).outputs;
    let told: Vec<_> = outputs.iter().map(|(_, bytes)| field(bytes, Field::IpDscp).unwrap()).collect();
    assert_eq!(told, [10, 12, 12]);
    let header = &outputs[1].1[14..34];
    let sum: u32 = header.chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
    assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff);
}

#[test]
fn the_meter_of_the_controller_spares_it() {
    let mut p = pipeline(&[(METER_CONTROLLER, drop_at(100))]);
    p.set_miss(Miss::Punt);
    assert_eq!(send(&mut p, 1000, &udp_frame(DST, 1)).punts.len(), 100);
    assert_eq!(p.meter_stats(METER_CONTROLLER, Nanos::ZERO).unwrap()[0].packet_in_count, 1000);
}

#[test]
fn meters_as_actions_are_passed_where_they_stand() {
    let mut p = pipeline(&[(1, drop_at(1))]);
    let actions = vec![Action::output(PortNo(2)), Action::Meter(1), Action::output(PortNo::IN_PORT)];
    p.flow_mod(&FlowMod::add(1, Match::any(), actions), Version::V1_5, Nanos::ZERO, &mut ()).unwrap();
    assert_eq!(send(&mut p, 3, &udp_frame(DST, 1)).take_ports(), [2, 1, 2, 2]);
    let missing = FlowMod::add(1, Match::any(), vec![Action::Meter(9)]);
    let result = p.flow_mod(&missing, Version::V1_5, Nanos::ZERO, &mut ());
    assert_eq!(result, Err(ErrorCode::ActionBadMeter));
}

#[test]
fn deleting_a_meter_removes_the_entries_that_use_it() {
    let mut p = pipeline(&[(1, drop_at(1)), (2, drop_at(1))]);
    let add = |p: &mut Pipeline, meter, dscp| {
        p.flow_mod(&metered(Instruction::Meter(meter), Some(dscp)), Version::V1_3, Nanos::ZERO, &mut ())
    };
    assert_eq!(add(&mut p, 1, 1), Ok(()));
    assert_eq!(add(&mut p, 1, 2), Ok(()));
    assert_eq!(add(&mut p, 2, 3), Ok(()));
    assert_eq!(add(&mut p, 3, 4), Err(ErrorCode::MeterUnknown));
    assert_eq!(add(&mut p, METER_CONTROLLER, 4), Err(ErrorCode::MeterInvalid));
    assert_eq!(p.meter_stats(1, Nanos::ZERO).unwrap()[0].flow_count, 2);
    let mut memory = Memory::default();
    let delete = |meter_id| MeterMod {
        command: MeterModCommand::Delete,
        flags: MeterFlags::NONE,
        meter_id,
        bands: vec![],
    };
    assert_eq!(p.meter_mod(&delete(1), Nanos::ZERO, &mut memory), Ok(()));
    let reasons: Vec<_> = memory.removed.iter().map(|r| r.reason).collect();
    assert_eq!(reasons, [FlowRemovedReason::MeterDelete; 2]);
    assert_eq!(p.meter_mod(&delete(1), Nanos::ZERO, &mut memory), Ok(()), "no error");
    assert_eq!(p.meter_mod(&delete(METER_ALL), Nanos::ZERO, &mut memory), Ok(()));
    assert_eq!(p.tables()[0].len(), 0);
    assert_eq!(p.meter_config(METER_ALL).unwrap(), []);
}
