#![no_main]
//! Messages and frames in any order, each behind a two-byte length: the pipeline never panics.
use flowgauge_clock::Nanos;
use flowgauge_datapath::{Datapath, Frame, Limits, Pipeline, PortRule};
use flowgauge_openflow::{Body, decode};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut pipeline = Pipeline::new(Limits { tables: 3, entries: 8 }, vec![PortRule::new(1)]);
    let (mut rest, mut now, sink) = (data, Nanos::ZERO, &mut ());
    while let Some((&[high, low], tail)) = rest.split_first_chunk() {
        let (piece, tail) = tail.split_at(usize::from(u16::from_be_bytes([high, low])).min(tail.len()));
        (rest, now) = (tail, now + Nanos::from_millis(700));
        match decode(piece).map(|(version, message)| (version, message.body)) {
            Ok((version, Body::FlowMod(m))) => drop(pipeline.flow_mod(&m, version, now, sink)),
            Ok((_, Body::GroupMod(m))) => drop(pipeline.group_mod(&m, now, sink)),
            Ok((_, Body::MeterMod(m))) => drop(pipeline.meter_mod(&m, now, sink)),
            Ok((version, Body::TableMod(m))) => drop(pipeline.table_mod(&m, version)),
            Ok((version, Body::PacketOut(p))) if pipeline.check_packet_out(&p, version).is_ok() => {
                pipeline.packet_out(Frame { bytes: &p.data, in_port: 1 }, &p.actions, now, sink)
            }
            _ => pipeline.process(&[Frame { bytes: piece, in_port: 2 }], now, sink),
        }
        pipeline.expire(now, 10, sink);
    }
});
