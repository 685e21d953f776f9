//! What controllers hear unasked: the defaults of each version, and the reasons that each has words for.

use flowgauge_openflow::{AsyncConfig, AsyncMasks, FlowRemovedReason, PacketInReason, Version};

/// All reasons of PORT_STATUS: a port came, went, changed.
const PORT_STATUS: u32 = 0b111;

/// What a controller hears before it asks for something else: all but packets with an invalid TTL; a
/// secondary controller hears of port changes only (1.3.5, 6.3.6; the later versions add reasons).
pub fn defaults(version: Version) -> AsyncConfig {
    let (packet_in, flow_removed) = match version {
        Version::V1_0 => (0b011, 0b0111),
        Version::V1_3 => (0b011, 0b1111),
        Version::V1_4 | Version::V1_5 => (0b11_1011, 0b11_1111),
    };
    let primary = AsyncMasks { packet_in, port_status: PORT_STATUS, flow_removed };
    let secondary = AsyncMasks { packet_in: 0, port_status: PORT_STATUS, flow_removed: 0 };
    AsyncConfig { primary, secondary }
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

/// Why an entry went, in words that the version has.
pub fn removed_reason(reason: FlowRemovedReason, version: Version) -> FlowRemovedReason {
    if reason.versions().include(version) { reason } else { FlowRemovedReason::Delete }
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
            for &reason in FlowRemovedReason::KNOWN {
                assert!(removed_reason(reason, version).versions().include(version));
            }
        }
        assert_eq!(packet_in_reason(PacketInReason::Group, Version::V1_3), PacketInReason::Action);
        assert_eq!(packet_in_reason(PacketInReason::Group, Version::V1_4), PacketInReason::Group);
    }
}
