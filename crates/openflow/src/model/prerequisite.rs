//! Which fields a match must hold before another makes sense (OpenFlow 1.3.5, table 12).

use std::fmt;

use flowgauge_packet::{Field, nicira_fields};

use super::{ErrorCode, Match, MatchEntry};

/// What must be matched before a field may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prerequisite {
    /// The field that must be there.
    pub field: Field,
    /// The values that it may have; empty if any will do.
    pub any_of: &'static [u128],
    /// The bits of them that must be matched.
    pub mask: u128,
}

const fn needs(field: Field, any_of: &'static [u128]) -> Prerequisite {
    Prerequisite { field, any_of, mask: field.full_mask() }
}

const IP: &[Prerequisite] = &[needs(Field::EthType, &[0x0800, 0x86dd])];
const IPV4: &[Prerequisite] = &[needs(Field::EthType, &[0x0800])];
const IPV6: &[Prerequisite] = &[needs(Field::EthType, &[0x86dd])];
const ARP: &[Prerequisite] = &[needs(Field::EthType, &[0x0806])];
const MPLS: &[Prerequisite] = &[needs(Field::EthType, &[0x8847, 0x8848])];
const PBB: &[Prerequisite] = &[needs(Field::EthType, &[0x88e7])];
const TCP: &[Prerequisite] = &[needs(Field::IpProto, &[6])];
const UDP: &[Prerequisite] = &[needs(Field::IpProto, &[17])];
const SCTP: &[Prerequisite] = &[needs(Field::IpProto, &[132])];
const ICMPV4: &[Prerequisite] = &[IPV4[0], needs(Field::IpProto, &[1])];
const ICMPV6: &[Prerequisite] = &[IPV6[0], needs(Field::IpProto, &[58])];
const ND: &[Prerequisite] = &[needs(Field::Icmpv6Type, &[135, 136])];
const ND_SOLICIT: &[Prerequisite] = &[needs(Field::Icmpv6Type, &[135])];
const ND_ADVERT: &[Prerequisite] = &[needs(Field::Icmpv6Type, &[136])];
const TAGGED: &[Prerequisite] =
    &[Prerequisite { field: Field::VlanVid, any_of: &[VLAN_PRESENT], mask: VLAN_PRESENT }];
const IN_PORT: &[Prerequisite] = &[needs(Field::InPort, &[])];

/// The bit of `vlan_vid` that says that there is a tag (OFPVID_PRESENT).
const VLAN_PRESENT: u128 = 0x1000;

/// What must be matched before `field` may be.
pub const fn prerequisites(field: Field) -> &'static [Prerequisite] {
    use Field::*;
    match field {
        InPort | Metadata | TunnelId | EthDst | EthSrc | EthType | VlanVid | ActsetOutput | PacketType => &[],
        nicira_fields!() => &[],
        InPhyPort => IN_PORT,
        VlanPcp => TAGGED,
        IpDscp | IpEcn | IpProto | IpTtl => IP,
        Ipv4Id | Ipv4Src | Ipv4Dst => IPV4,
        TcpSrc | TcpDst | TcpFlags => TCP,
        UdpSrc | UdpDst => UDP,
        SctpSrc | SctpDst => SCTP,
        Icmpv4Type | Icmpv4Code => ICMPV4,
        ArpOp | ArpSpa | ArpTpa | ArpSha | ArpTha => ARP,
        Ipv6Src | Ipv6Dst | Ipv6Flabel | Ipv6Exthdr => IPV6,
        Icmpv6Type | Icmpv6Code => ICMPV6,
        Ipv6NdTarget => ND,
        Ipv6NdSll => ND_SOLICIT,
        Ipv6NdTll => ND_ADVERT,
        MplsLabel | MplsTc | MplsBos => MPLS,
        PbbIsid | PbbUca => PBB,
    }
}

/// What is wrong with a field of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchProblem {
    /// It is matched twice.
    Duplicate,
    /// What must be matched before it is not.
    Missing(Prerequisite),
    /// The value has bits that the field does not have.
    TooWide,
    /// The value has bits outside its mask.
    OutsideMask,
    /// The packets that the match was to be made from have no such field.
    NoValue,
}

/// A match that no switch should accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub struct MatchError {
    /// The field at fault.
    pub field: Field,
    /// What is wrong with it.
    pub problem: MatchProblem,
}

impl MatchError {
    /// The error with which a switch refuses such a match.
    pub const fn error_code(&self) -> ErrorCode {
        match self.problem {
            MatchProblem::Duplicate => ErrorCode::MatchDuplicateField,
            MatchProblem::Missing(_) | MatchProblem::NoValue => ErrorCode::MatchBadPrerequisite,
            MatchProblem::TooWide => ErrorCode::MatchBadValue,
            MatchProblem::OutsideMask => ErrorCode::MatchBadWildcards,
        }
    }
}

impl fmt::Display for MatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.field)?;
        match self.problem {
            MatchProblem::Duplicate => f.write_str("is matched twice"),
            MatchProblem::Missing(needed) => write!(f, "needs {needed}"),
            MatchProblem::TooWide => write!(f, "has only {} bits", self.field.bits()),
            MatchProblem::OutsideMask => f.write_str("has value bits outside its mask"),
            MatchProblem::NoValue => f.write_str("has no value in these packets"),
        }
    }
}

impl fmt::Display for Prerequisite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = self.field == Field::EthType || self.field == Field::VlanVid;
        write!(f, "{}", self.field)?;
        for (i, value) in self.any_of.iter().enumerate() {
            f.write_str(if i == 0 { "=" } else { " or " })?;
            if hex { write!(f, "{value:#06x}")? } else { write!(f, "{value}")? }
        }
        if self.mask == self.field.full_mask() { Ok(()) } else { write!(f, "/{:#x}", self.mask) }
    }
}

impl Prerequisite {
    fn holds(&self, entries: &[MatchEntry]) -> bool {
        entries.iter().any(|e| {
            let value_fits = self.any_of.is_empty() || self.any_of.contains(&(e.value & self.mask));
            e.field == self.field && e.mask & self.mask == self.mask && value_fits
        })
    }
}

impl Match {
    /// Finds what a switch should refuse: a field twice, without its prerequisite, or with stray value bits.
    pub fn check(&self) -> Result<(), MatchError> {
        for (i, entry) in self.entries.iter().enumerate() {
            let problem = |problem| Err(MatchError { field: entry.field, problem });
            if entry.value & !entry.field.full_mask() != 0 {
                return problem(MatchProblem::TooWide);
            }
            if entry.value & !entry.mask != 0 {
                return problem(MatchProblem::OutsideMask);
            }
            if self.entries[..i].iter().any(|e| e.field == entry.field) {
                return problem(MatchProblem::Duplicate);
            }
            if let Some(missing) = prerequisites(entry.field).iter().find(|p| !p.holds(&self.entries)) {
                return problem(MatchProblem::Missing(*missing));
            }
        }
        Ok(())
    }

    /// Adds what the fields need and puts them in canonical order. Where several values would do, `packet`
    /// decides (`None`: it does not know), and otherwise the first of them: IPv4 rather than IPv6. A field
    /// that contradicts what another needs stays as it is, for [`Match::check`] to find.
    #[must_use]
    pub fn with_prerequisites(mut self, packet: impl Fn(Field) -> Option<u128>) -> Match {
        // What can only be one value goes first, so that ipv6_src decides the eth_type that ip_proto needs.
        for only_choice in [true, false] {
            let mut next = 0;
            while let Some(entry) = self.entries.get(next).copied() {
                next += 1;
                for needed in prerequisites(entry.field) {
                    let absent = self.entry(needed.field).is_none();
                    if absent && (needed.any_of.len() == 1 || !only_choice) {
                        self.entries.extend(needed.entry_for(&packet));
                    }
                }
            }
        }
        self.entries.sort_by_key(|e| e.field);
        self
    }
}

impl Prerequisite {
    fn entry_for(&self, packet: impl Fn(Field) -> Option<u128>) -> Option<MatchEntry> {
        let known = packet(self.field).filter(|v| self.any_of.contains(&(v & self.mask)));
        let value = known.or(self.any_of.first().copied())?;
        Some(MatchEntry { field: self.field, value: value & self.mask, mask: self.mask })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn udp_port_brings_udp_and_ipv4() {
        let m = Match::any().with(Field::UdpDst, 80).with_prerequisites(|_| None);
        let fields: Vec<_> = m.entries.iter().map(|e| (e.field, e.value)).collect();
        assert_eq!(fields, [(Field::EthType, 0x0800), (Field::IpProto, 17), (Field::UdpDst, 80)]);
        assert_eq!(m.check(), Ok(()));
    }

    #[test]
    fn an_ipv6_field_or_packet_decides_for_ipv6() {
        let by_field =
            Match::any().with(Field::UdpDst, 80).with(Field::Ipv6Src, 1).with_prerequisites(|_| None);
        assert_eq!(by_field.get(Field::EthType), Some(0x86dd));
        let packet = |f| (f == Field::EthType).then_some(0x86dd);
        let by_packet = Match::any().with(Field::UdpDst, 80).with_prerequisites(packet);
        assert_eq!(by_packet.get(Field::EthType), Some(0x86dd));
    }

    #[test]
    fn check_names_field_and_problem() {
        let text = |m: Match| m.check().unwrap_err().to_string();
        let any = Match::any;
        assert_eq!(text(any().with(Field::VlanPcp, 1)), "vlan_pcp needs vlan_vid=0x1000/0x1000");
        assert_eq!(text(any().with(Field::IpProto, 1)), "ip_proto needs eth_type=0x0800 or 0x86dd");
        assert_eq!(text(any().with(Field::InPort, 1).with(Field::InPort, 2)), "in_port is matched twice");
        assert_eq!(text(any().with(Field::VlanPcp, 8)), "vlan_pcp has only 3 bits");
        let masked = any().with_masked(Field::EthDst, 3, 1);
        assert_eq!(masked.check().unwrap_err().error_code(), ErrorCode::MatchBadWildcards);
    }

    #[test]
    fn completed_matches_pass_for_every_field() {
        for &field in Field::ALL.iter().filter(|&&f| f != Field::InPhyPort) {
            let m = Match::any().with(field, 0).with_prerequisites(|_| None);
            assert_eq!(m.check(), Ok(()), "{field}");
        }
    }
}
