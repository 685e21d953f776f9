//! A whole message, and which kinds there are.

use serde::{Deserialize, Serialize};

use super::{
    AsyncConfig, BundleAdd, BundleControl, ControllerStatus, ErrorMessage, Experimenter, Features, FlowMod,
    FlowRemoved, GroupMod, Hello, MeterMod, MultipartReply, MultipartRequest, NiciraMessage, PacketIn,
    PacketOut, PortMod, PortNo, PortStatus, QueueConfig, Role, RoleStatus, SwitchConfig, TableMod,
    TableStatus, Version, Versions,
};

/// A message, in any version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    /// What ties replies to requests.
    pub xid: u32,
    /// The content.
    #[serde(flatten)]
    pub body: Body,
}

impl Message {
    /// A message with that transaction id.
    pub const fn new(xid: u32, body: Body) -> Message {
        Message { xid, body }
    }
}

macro_rules! bodies {
    ($($variant:ident $(($(#[$attr:meta])* $content:ty))? [$old:tt $new:tt $versions:ident] $doc:literal,)*) => {
        /// What a message says.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case", deny_unknown_fields)]
        pub enum Body {
            $(#[doc = $doc] $variant $(($(#[$attr])* $content))?,)*
            /// A message of a type that is not known here.
            Unknown {
                /// The type's number.
                message_type: u8,
                /// What follows the header.
                #[serde(with = "crate::json::hex")]
                data: Vec<u8>,
            },
        }

        /// Which message it is; [`Body`] without the content.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Kind {
            $(#[doc = $doc] $variant,)*
            /// A type that is not known here.
            Unknown(u8),
        }

        impl Kind {
            /// Every kind that is known.
            pub const KNOWN: &[Kind] = &[$(Kind::$variant),*];

            /// The type's number in 1.0, the one since 1.3, and the versions that have it.
            const fn codes(self) -> (Option<u8>, Option<u8>, Versions) {
                match self {
                    $(Kind::$variant => (number!($old), number!($new), Versions::$versions),)*
                    Kind::Unknown(code) => (Some(code), Some(code), Versions::EVERY),
                }
            }
        }

        impl Body {
            /// Which message it is.
            pub const fn kind(&self) -> Kind {
                match self {
                    $(bodies!(@pattern $variant $(($content))?) => Kind::$variant,)*
                    Body::Unknown { message_type, .. } => Kind::Unknown(*message_type),
                }
            }
        }
    };
    (@pattern $variant:ident ($content:ty)) => { Body::$variant(_) };
    (@pattern $variant:ident) => { Body::$variant };
}

macro_rules! number {
    (-) => {
        None
    };
    ($code:literal) => {
        Some($code)
    };
}

// Variant, content, [type in 1.0, type since 1.3, versions], meaning.
bodies! {
    Hello(Hello) [0 0 EVERY] "HELLO: the first message on a connection.",
    Error(ErrorMessage) [1 1 EVERY] "ERROR: a request was refused.",
    EchoRequest(#[serde(with = "crate::json::hex")] Vec<u8>) [2 2 EVERY] "ECHO_REQUEST: are you there?",
    EchoReply(#[serde(with = "crate::json::hex")] Vec<u8>) [3 3 EVERY] "ECHO_REPLY: the request's bytes, sent back.",
    Experimenter(Experimenter) [4 4 EVERY] "EXPERIMENTER (1.0: VENDOR).",
    Nicira(NiciraMessage) [4 4 EVERY] "EXPERIMENTER (1.0: VENDOR) of Nicira's, as far as it is known here.",
    FeaturesRequest [5 5 EVERY] "FEATURES_REQUEST: who are you?",
    FeaturesReply(Features) [6 6 EVERY] "FEATURES_REPLY.",
    GetConfigRequest [7 7 EVERY] "GET_CONFIG_REQUEST.",
    GetConfigReply(SwitchConfig) [8 8 EVERY] "GET_CONFIG_REPLY.",
    SetConfig(SwitchConfig) [9 9 EVERY] "SET_CONFIG.",
    PacketIn(PacketIn) [10 10 EVERY] "PACKET_IN: a packet for the controller.",
    FlowRemoved(FlowRemoved) [11 11 EVERY] "FLOW_REMOVED: a flow entry went.",
    PortStatus(PortStatus) [12 12 EVERY] "PORT_STATUS: a port came, went or changed.",
    PacketOut(PacketOut) [13 13 EVERY] "PACKET_OUT: a packet from the controller.",
    FlowMod(FlowMod) [14 14 EVERY] "FLOW_MOD: adds, changes or deletes flow entries.",
    GroupMod(GroupMod) [- 15 SINCE_1_3] "GROUP_MOD: adds, changes or deletes a group.",
    PortMod(PortMod) [15 16 EVERY] "PORT_MOD: changes a port's configuration.",
    TableMod(TableMod) [- 17 SINCE_1_3] "TABLE_MOD: changes a table's configuration.",
    MultipartRequest(MultipartRequest) [16 18 EVERY] "MULTIPART_REQUEST (1.0: STATS_REQUEST).",
    MultipartReply(MultipartReply) [17 19 EVERY] "MULTIPART_REPLY (1.0: STATS_REPLY).",
    BarrierRequest [18 20 EVERY] "BARRIER_REQUEST: tell me when all that came before is done.",
    BarrierReply [19 21 EVERY] "BARRIER_REPLY.",
    QueueGetConfigRequest(PortNo) [20 22 UNTIL_1_3] "QUEUE_GET_CONFIG_REQUEST, of a port.",
    QueueGetConfigReply(QueueConfig) [21 23 UNTIL_1_3] "QUEUE_GET_CONFIG_REPLY.",
    RoleRequest(Role) [4 24 EVERY] "ROLE_REQUEST (1.0: Nicira's).",
    RoleReply(Role) [4 25 EVERY] "ROLE_REPLY (1.0: Nicira's).",
    GetAsyncRequest [- 26 SINCE_1_3] "GET_ASYNC_REQUEST.",
    GetAsyncReply(AsyncConfig) [- 27 SINCE_1_3] "GET_ASYNC_REPLY.",
    SetAsync(AsyncConfig) [- 28 SINCE_1_3] "SET_ASYNC.",
    MeterMod(MeterMod) [- 29 SINCE_1_3] "METER_MOD: adds, changes or deletes a meter.",
    RoleStatus(RoleStatus) [- 30 SINCE_1_4] "ROLE_STATUS: a controller's role changed.",
    TableStatus(TableStatus) [- 31 SINCE_1_4] "TABLE_STATUS: a table is full, or has room again.",
    RequestForward(Box<Message>) [- 32 SINCE_1_4] "REQUESTFORWARD: what another controller asked for.",
    BundleControl(BundleControl) [- 33 SINCE_1_4] "BUNDLE_CONTROL: opens, closes, commits or discards a bundle.",
    BundleAddMessage(BundleAdd) [- 34 SINCE_1_4] "BUNDLE_ADD_MESSAGE: adds a message to a bundle.",
    ControllerStatus(ControllerStatus) [- 35 SINCE_1_5] "CONTROLLER_STATUS: how another controller fares.",
}

impl Kind {
    /// The type's number in `version`; `None` if it has no such message.
    pub const fn code(self, version: Version) -> Option<u8> {
        let (old, new, versions) = self.codes();
        match version {
            Version::V1_0 => old,
            Version::V1_3 | Version::V1_4 | Version::V1_5 if versions.include(version) => new,
            Version::V1_3 | Version::V1_4 | Version::V1_5 => None,
        }
    }

    /// The message of that number in `version`.
    pub fn from_code(version: Version, code: u8) -> Kind {
        let known = BY_CODE[version as usize].get(usize::from(code)).copied().flatten();
        known.unwrap_or(Kind::Unknown(code))
    }

    /// Whether the message only reports something: what a version has no room for is then left out, while a request
    /// without it would do something else.
    pub const fn is_report(self) -> bool {
        match self {
            Kind::Hello
            | Kind::EchoRequest
            | Kind::Experimenter
            | Kind::Nicira
            | Kind::FeaturesRequest
            | Kind::GetConfigRequest
            | Kind::SetConfig
            | Kind::PacketOut
            | Kind::FlowMod
            | Kind::GroupMod
            | Kind::PortMod
            | Kind::TableMod
            | Kind::MultipartRequest
            | Kind::BarrierRequest
            | Kind::QueueGetConfigRequest
            | Kind::RoleRequest
            | Kind::GetAsyncRequest
            | Kind::SetAsync
            | Kind::MeterMod
            | Kind::BundleControl
            | Kind::BundleAddMessage
            | Kind::Unknown(_) => false,
            Kind::Error
            | Kind::EchoReply
            | Kind::FeaturesReply
            | Kind::GetConfigReply
            | Kind::PacketIn
            | Kind::FlowRemoved
            | Kind::PortStatus
            | Kind::MultipartReply
            | Kind::BarrierReply
            | Kind::QueueGetConfigReply
            | Kind::RoleReply
            | Kind::GetAsyncReply
            | Kind::RoleStatus
            | Kind::TableStatus
            | Kind::RequestForward
            | Kind::ControllerStatus => true,
        }
    }
}

/// The messages of each version by their numbers, for quick decoding.
static BY_CODE: [[Option<Kind>; 36]; Version::V1_5 as usize + 1] = {
    let mut table = [[None; 36]; Version::V1_5 as usize + 1];
    let mut v = 0;
    while v < Version::ALL.len() {
        let version = Version::ALL[v];
        let mut k = 0;
        while k < Kind::KNOWN.len() {
            if let Some(code) = Kind::KNOWN[k].code(version) {
                let place = &mut table[version as usize][code as usize];
                // Nicira's messages come as an experimenter's.
                if place.is_none() {
                    *place = Some(Kind::KNOWN[k]);
                }
            }
            k += 1;
        }
        v += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip_in_each_version() {
        for version in Version::ALL {
            for code in 0..=u8::MAX {
                assert_eq!(Kind::from_code(version, code).code(version), Some(code));
            }
        }
        assert_eq!(Kind::from_code(Version::V1_0, 16), Kind::MultipartRequest);
        assert_eq!(Kind::from_code(Version::V1_3, 16), Kind::PortMod);
    }
}
