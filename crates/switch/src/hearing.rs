//! What controllers hear unasked: the defaults of each version, and the reasons that each has words for.

use flowgauge_openflow::{AsyncConfig, AsyncMasks, ErrorCode, PacketInReason, Version};

/// All reasons of PORT_STATUS: a port came, went, changed.
const PORT_STATUS: u32 = 0b111;
/// All of ROLE_STATUS: another controller's request, configuration, experimenter.
const ROLE_STATUS: u32 = 0b111;
/// All of TABLE_STATUS: vacancy down and up.
const TABLE_STATUS: u32 = 0b1_1000;
/// All of REQUESTFORWARD: GROUP_MOD and METER_MOD.
const REQUEST_FORWARD: u32 = 0b11;
/// All of CONTROLLER_STATUS.
const CONTROLLER_STATUS: u32 = 0b111_1111;

/// What a controller hears before it asks for something else: all but packets with an invalid TTL and what
/// other controllers ask for; a secondary controller hears of port and role changes only (1.3.5, 6.3.6).
pub fn defaults(version: Version) -> AsyncConfig {
    let (packet_in, flow_removed) = match version {
        Version::V1_0 => (0b011, 0b0111),
        Version::V1_3 => (0b011, 0b1111),
        Version::V1_4 | Version::V1_5 => (0b11_1011, 0b11_1111),
    };
    let primary = AsyncMasks {
        packet_in: Some(packet_in),
        port_status: Some(PORT_STATUS),
        flow_removed: Some(flow_removed),
        ..later(version, TABLE_STATUS)
    };
    let secondary = AsyncMasks {
        packet_in: Some(0),
        port_status: Some(PORT_STATUS),
        flow_removed: Some(0),
        ..later(version, 0)
    };
    AsyncConfig { primary, secondary, properties: Vec::new() }
}

/// The defaults of what 1.4 and 1.5 added.
fn later(version: Version, table_status: u32) -> AsyncMasks {
    let since = |first: Version, mask| (version >= first).then_some(mask);
    AsyncMasks {
        role_status: since(Version::V1_4, ROLE_STATUS),
        table_status: since(Version::V1_4, table_status),
        request_forward: since(Version::V1_4, 0),
        flow_stats: since(Version::V1_5, 0),
        controller_status: since(Version::V1_5, 0),
        ..AsyncMasks::default()
    }
}

/// Whether 1.4 and its successors have all the reasons that are asked for. 1.3 ignores what it doesn't know.
///
/// # Errors
/// OFPACFC_INVALID.
pub fn check(wanted: &AsyncConfig, version: Version) -> Result<(), ErrorCode> {
    let fits = |mask: Option<u32>, known: u32| mask.is_none_or(|bits| bits & !known == 0);
    let are_known = |m: &AsyncMasks| {
        fits(m.packet_in, 0b11_1111)
            && fits(m.port_status, PORT_STATUS)
            && fits(m.flow_removed, 0b11_1111)
            && fits(m.role_status, ROLE_STATUS)
            && fits(m.table_status, TABLE_STATUS)
            && fits(m.request_forward, REQUEST_FORWARD)
            && fits(m.flow_stats, 0b11)
            && fits(m.controller_status, CONTROLLER_STATUS)
    };
    let is_fine = version < Version::V1_4 || are_known(&wanted.primary) && are_known(&wanted.secondary);
    if is_fine { Ok(()) } else { Err(ErrorCode::AsyncInvalid) }
}

/// The reason by which a version's controllers choose: those that 1.4 split off ACTION are ACTION before.
pub fn packet_in_reason(reason: PacketInReason, version: Version) -> PacketInReason {
    match reason {
        PacketInReason::ActionSet | PacketInReason::Group | PacketInReason::PacketOut
            if version < Version::V1_4 =>
        {
            PacketInReason::Action
        }
        PacketInReason::NoMatch
        | PacketInReason::Action
        | PacketInReason::InvalidTtl
        | PacketInReason::ActionSet
        | PacketInReason::Group
        | PacketInReason::PacketOut
        | PacketInReason::Unknown(_) => reason,
    }
}

/// The same in words that the version has.
pub fn sayable(reason: PacketInReason, version: Version) -> PacketInReason {
    if reason.versions().include(version) { reason } else { PacketInReason::Action }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_can_be_said_in_every_version() {
        for version in Version::ALL {
            for &reason in PacketInReason::KNOWN {
                let said = sayable(packet_in_reason(reason, version), version);
                assert!(said.versions().include(version), "{reason:?} in {version}");
            }
        }
        assert_eq!(packet_in_reason(PacketInReason::Group, Version::V1_3), PacketInReason::Action);
        assert_eq!(packet_in_reason(PacketInReason::Group, Version::V1_4), PacketInReason::Group);
    }

    #[test]
    fn the_defaults_are_valid() {
        for version in Version::ALL {
            assert_eq!(check(&defaults(version), version), Ok(()));
        }
        let mut odd = defaults(Version::V1_4);
        odd.primary.role_status = Some(8);
        assert_eq!(check(&odd, Version::V1_4), Err(ErrorCode::AsyncInvalid));
        assert_eq!(check(&odd, Version::V1_3), Ok(()));
    }
}
