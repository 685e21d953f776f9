//! The FLOW_MOD that examples measure.

use flowgauge_openflow::{Action, FlowMod, Match, PortNo};
use flowgauge_packet::Field;

/// One with six match fields.
pub fn flow_mod() -> FlowMod {
    let match_ = Match::any()
        .with(Field::InPort, 1)
        .with(Field::EthType, 0x0800)
        .with(Field::IpProto, 17)
        .with(Field::Ipv4Src, 0x0a000001)
        .with(Field::Ipv4Dst, 0x0a000002)
        .with(Field::UdpDst, 80);
    FlowMod::add(10, match_, vec![Action::output(PortNo(2))])
}
