//! 1.0's match: a fixed structure with a word of wildcards.
//!
//! What is matched in fields that the packets can't have (a UDP port without `ip_proto`) is ignored, as the
//! specification says. ARP's opcode and addresses stand in the IP fields, ICMP's type and code in the ports.

use flowgauge_packet::{Field, MacAddr};

use crate::codec::error::{DecodeError, EncodeError};
use crate::codec::reader::Reader;
use crate::codec::wire::{Mac, Port16, Wire};
use crate::codec::writer::Writer;
use crate::model::{Match, MatchEntry, PortNo};

const IN_PORT: u32 = 1;
const DL_VLAN: u32 = 1 << 1;
const DL_SRC: u32 = 1 << 2;
const DL_DST: u32 = 1 << 3;
const DL_TYPE: u32 = 1 << 4;
const NW_PROTO: u32 = 1 << 5;
const TP_SRC: u32 = 1 << 6;
const TP_DST: u32 = 1 << 7;
const NW_SRC_SHIFT: u32 = 8;
const NW_DST_SHIFT: u32 = 14;
const DL_VLAN_PCP: u32 = 1 << 20;
const NW_TOS: u32 = 1 << 21;
/// Everything is a wildcard; of an address's six bits any number from 32 on says so (OFPFW_ALL).
const ALL: u32 = (1 << 22) - 1;
/// The six bits that count an address's low bits that don't count.
const ADDRESS: u32 = 0x3f;

/// `dl_vlan` of untagged packets.
const NO_VLAN: u16 = 0xffff;
const VLAN_PRESENT: u128 = 0x1000;
const ETH_IPV4: u128 = 0x0800;
const ETH_ARP: u128 = 0x0806;

/// The structure as it is on the wire.
struct Raw {
    wildcards: u32,
    in_port: PortNo,
    dl_src: MacAddr,
    dl_dst: MacAddr,
    dl_vlan: u16,
    dl_vlan_pcp: u8,
    dl_type: u16,
    nw_tos: u8,
    nw_proto: u8,
    nw_src: u32,
    nw_dst: u32,
    tp_src: u16,
    tp_dst: u16,
}

impl Default for Raw {
    fn default() -> Raw {
        Raw {
            wildcards: ALL,
            in_port: PortNo(0),
            dl_src: MacAddr::default(),
            dl_dst: MacAddr::default(),
            dl_vlan: 0,
            dl_vlan_pcp: 0,
            dl_type: 0,
            nw_tos: 0,
            nw_proto: 0,
            nw_src: 0,
            nw_dst: 0,
            tp_src: 0,
            tp_dst: 0,
        }
    }
}

/// 1.0's match of 40 bytes.
pub(crate) struct MatchWire;

impl Wire for MatchWire {
    type Value = Match;

    fn read(r: &mut Reader, _: &'static str) -> Result<Match, DecodeError> {
        let wildcards = r.u32("wildcards")?;
        let in_port = Port16::read(r, "in_port")?;
        let (dl_src, dl_dst) = (Mac::read(r, "dl_src")?, Mac::read(r, "dl_dst")?);
        let (dl_vlan, dl_vlan_pcp) = (r.u16("dl_vlan")?, r.u8("dl_vlan_pcp")?);
        r.skip(1)?;
        let dl_type = r.u16("dl_type")?;
        let (nw_tos, nw_proto) = (r.u8("nw_tos")?, r.u8("nw_proto")?);
        r.skip(2)?;
        let (nw_src, nw_dst) = (r.u32("nw_src")?, r.u32("nw_dst")?);
        let (tp_src, tp_dst) = (r.u16("tp_src")?, r.u16("tp_dst")?);
        let raw = Raw {
            wildcards,
            in_port,
            dl_src,
            dl_dst,
            dl_vlan,
            dl_vlan_pcp,
            dl_type,
            nw_tos,
            nw_proto,
            nw_src,
            nw_dst,
            tp_src,
            tp_dst,
        };
        Ok(raw.to_match())
    }

    fn write(value: &Match, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        let raw = Raw::from_match(value, w)?;
        w.u32(raw.wildcards);
        Port16::write(&raw.in_port, "in_port", w)?;
        w.bytes(&raw.dl_src.0);
        w.bytes(&raw.dl_dst.0);
        w.u16(raw.dl_vlan);
        w.u8(raw.dl_vlan_pcp);
        w.zeros(1);
        w.u16(raw.dl_type);
        w.u8(raw.nw_tos);
        w.u8(raw.nw_proto);
        w.zeros(2);
        w.u32(raw.nw_src);
        w.u32(raw.nw_dst);
        w.u16(raw.tp_src);
        w.u16(raw.tp_dst);
        Ok(())
    }
}

impl Raw {
    fn to_match(&self) -> Match {
        let mut m = Match { entries: Vec::with_capacity(12), unknown: Vec::new() };
        let mut exact = |wildcard: u32, field: Field, value: u128| {
            if self.wildcards & wildcard == 0 {
                m.entries.push(MatchEntry::exact(field, value));
            }
        };
        exact(IN_PORT, Field::InPort, self.in_port.0.into());
        exact(DL_DST, Field::EthDst, self.dl_dst.to_u64().into());
        exact(DL_SRC, Field::EthSrc, self.dl_src.to_u64().into());
        exact(DL_TYPE, Field::EthType, self.dl_type.into());
        m.entries.extend(self.vlan());
        match (self.wildcards & DL_TYPE == 0).then_some(u128::from(self.dl_type)) {
            Some(ETH_IPV4) => self.ipv4_to(&mut m),
            Some(ETH_ARP) => self.arp_to(&mut m),
            _ => {}
        }
        m
    }

    fn vlan(&self) -> impl Iterator<Item = MatchEntry> {
        let vid_matched = self.wildcards & DL_VLAN == 0;
        let untagged = vid_matched && self.dl_vlan == NO_VLAN;
        let pcp_matched = self.wildcards & DL_VLAN_PCP == 0 && !untagged;
        let vid = if untagged {
            Some(MatchEntry::exact(Field::VlanVid, 0))
        } else if vid_matched {
            Some(MatchEntry::exact(Field::VlanVid, u128::from(self.dl_vlan & 0xfff) | VLAN_PRESENT))
        } else {
            pcp_matched.then_some(MatchEntry::masked(Field::VlanVid, VLAN_PRESENT, VLAN_PRESENT))
        };
        let pcp = pcp_matched.then(|| MatchEntry::exact(Field::VlanPcp, u128::from(self.dl_vlan_pcp & 7)));
        vid.into_iter().chain(pcp)
    }

    fn ipv4_to(&self, m: &mut Match) {
        if self.wildcards & NW_TOS == 0 {
            m.entries.push(MatchEntry::exact(Field::IpDscp, (self.nw_tos >> 2).into()));
        }
        let proto = (self.wildcards & NW_PROTO == 0).then_some(self.nw_proto);
        m.entries.extend(proto.map(|proto| MatchEntry::exact(Field::IpProto, proto.into())));
        m.entries.extend(self.address(NW_SRC_SHIFT, Field::Ipv4Src, self.nw_src));
        m.entries.extend(self.address(NW_DST_SHIFT, Field::Ipv4Dst, self.nw_dst));
        let Some((src, dst)) = proto.and_then(ports_of) else {
            return;
        };
        if self.wildcards & TP_SRC == 0 {
            m.entries.push(MatchEntry::exact(src, u128::from(self.tp_src) & src.full_mask()));
        }
        if self.wildcards & TP_DST == 0 {
            m.entries.push(MatchEntry::exact(dst, u128::from(self.tp_dst) & dst.full_mask()));
        }
    }

    fn arp_to(&self, m: &mut Match) {
        if self.wildcards & NW_PROTO == 0 {
            m.entries.push(MatchEntry::exact(Field::ArpOp, self.nw_proto.into()));
        }
        m.entries.extend(self.address(NW_SRC_SHIFT, Field::ArpSpa, self.nw_src));
        m.entries.extend(self.address(NW_DST_SHIFT, Field::ArpTpa, self.nw_dst));
    }

    /// An address, of which as many low bits don't count as the wildcards say.
    fn address(&self, shift: u32, field: Field, value: u32) -> Option<MatchEntry> {
        let ignored = self.wildcards >> shift & ADDRESS;
        let mask = u32::MAX.checked_shl(ignored).filter(|&mask| mask != 0)?;
        Some(MatchEntry::masked(field, (value & mask).into(), mask.into()))
    }

    fn from_match(m: &Match, w: &Writer) -> Result<Raw, EncodeError> {
        if !m.unknown.is_empty() {
            return Err(w.inexpressible("unknown OXM field"));
        }
        let mut raw = Raw::default();
        m.entries.iter().filter(|e| e.mask != 0).try_for_each(|entry| raw.set(entry, m, w))?;
        Ok(raw)
    }

    fn set(&mut self, entry: &MatchEntry, m: &Match, w: &Writer) -> Result<(), EncodeError> {
        let MatchEntry { field, value, .. } = *entry;
        let number =
            |max: u128| if value > max { Err(w.out_of_range(field.name(), value)) } else { Ok(value) };
        let needs = |field_needed: Field, values: &[u128]| match m.get(field_needed) {
            Some(found) if values.contains(&found) => Ok(()),
            _ => Err(w.inexpressible(field.name())),
        };
        let masked_field =
            matches!(field, Field::Ipv4Src | Field::Ipv4Dst | Field::ArpSpa | Field::ArpTpa | Field::VlanVid);
        if !entry.is_exact() && !masked_field {
            return Err(w.inexpressible(field.name()));
        }
        match field {
            Field::InPort => self.in_port = PortNo(number(u32::MAX.into())? as u32),
            Field::EthSrc => self.dl_src = MacAddr::from_u64(number(field.full_mask())? as u64),
            Field::EthDst => self.dl_dst = MacAddr::from_u64(number(field.full_mask())? as u64),
            Field::EthType => self.dl_type = number(0xffff)? as u16,
            Field::VlanVid => return self.set_vlan(entry, m, w),
            Field::VlanPcp => self.dl_vlan_pcp = number(7)? as u8,
            Field::IpDscp => {
                needs(Field::EthType, &[ETH_IPV4])?;
                self.nw_tos = (number(0x3f)? as u8) << 2;
            }
            Field::IpProto => {
                needs(Field::EthType, &[ETH_IPV4])?;
                self.nw_proto = number(0xff)? as u8;
            }
            Field::ArpOp => {
                needs(Field::EthType, &[ETH_ARP])?;
                self.nw_proto = number(0xff)? as u8;
            }
            Field::Ipv4Src | Field::ArpSpa => {
                needs(Field::EthType, &[if field == Field::ArpSpa { ETH_ARP } else { ETH_IPV4 }])?;
                self.nw_src = self.set_address(entry, NW_SRC_SHIFT, w)?;
            }
            Field::Ipv4Dst | Field::ArpTpa => {
                needs(Field::EthType, &[if field == Field::ArpTpa { ETH_ARP } else { ETH_IPV4 }])?;
                self.nw_dst = self.set_address(entry, NW_DST_SHIFT, w)?;
            }
            Field::TcpSrc | Field::UdpSrc | Field::SctpSrc | Field::Icmpv4Type => {
                needs(Field::IpProto, &[proto_of(field)])?;
                self.tp_src = number(field.full_mask())? as u16;
            }
            Field::TcpDst | Field::UdpDst | Field::SctpDst | Field::Icmpv4Code => {
                needs(Field::IpProto, &[proto_of(field)])?;
                self.tp_dst = number(field.full_mask())? as u16;
            }
            other => return Err(w.inexpressible(other.name())),
        }
        self.wildcards &= !wildcard_of(field);
        Ok(())
    }

    fn set_vlan(&mut self, entry: &MatchEntry, m: &Match, w: &Writer) -> Result<(), EncodeError> {
        let MatchEntry { field, value, mask } = *entry;
        if entry.is_exact() && value == 0 {
            self.dl_vlan = NO_VLAN;
        } else if entry.is_exact() && value & !0xfff == VLAN_PRESENT {
            self.dl_vlan = (value & 0xfff) as u16;
        } else if mask == VLAN_PRESENT && value & mask != 0 && m.entry(Field::VlanPcp).is_some() {
            // Any tag: that is what matching its priority means in 1.0.
            return Ok(());
        } else {
            return Err(w.inexpressible(field.name()));
        }
        self.wildcards &= !DL_VLAN;
        Ok(())
    }

    fn set_address(&mut self, entry: &MatchEntry, shift: u32, w: &Writer) -> Result<u32, EncodeError> {
        let MatchEntry { field, value, mask } = *entry;
        let (Ok(value), Ok(mask)) = (u32::try_from(value), u32::try_from(mask)) else {
            return Err(w.out_of_range(field.name(), value));
        };
        let ignored = mask.trailing_zeros();
        if mask != u32::MAX << ignored {
            return Err(w.inexpressible(field.name()));
        }
        self.wildcards = self.wildcards & !(ADDRESS << shift) | ignored << shift;
        Ok(value & mask)
    }
}

/// The fields that stand in `tp_src` and `tp_dst`.
fn ports_of(ip_proto: u8) -> Option<(Field, Field)> {
    match ip_proto {
        1 => Some((Field::Icmpv4Type, Field::Icmpv4Code)),
        6 => Some((Field::TcpSrc, Field::TcpDst)),
        17 => Some((Field::UdpSrc, Field::UdpDst)),
        132 => Some((Field::SctpSrc, Field::SctpDst)),
        _ => None,
    }
}

/// The protocol whose packets have the field in `tp_src` or `tp_dst`.
fn proto_of(field: Field) -> u128 {
    let of = |proto: &u8| ports_of(*proto).is_some_and(|(src, dst)| src == field || dst == field);
    [1, 6, 17, 132].iter().find(|proto| of(proto)).copied().unwrap_or(0).into()
}

/// The wildcard bit of a field that has one.
fn wildcard_of(field: Field) -> u32 {
    match field {
        Field::InPort => IN_PORT,
        Field::EthSrc => DL_SRC,
        Field::EthDst => DL_DST,
        Field::EthType => DL_TYPE,
        Field::VlanPcp => DL_VLAN_PCP,
        Field::IpDscp => NW_TOS,
        Field::IpProto | Field::ArpOp => NW_PROTO,
        Field::TcpSrc | Field::UdpSrc | Field::SctpSrc | Field::Icmpv4Type => TP_SRC,
        Field::TcpDst | Field::UdpDst | Field::SctpDst | Field::Icmpv4Code => TP_DST,
        _ => 0,
    }
}
