//! A whole message, and which kinds there are.

use serde::{Deserialize, Serialize};

use super::{
    AsyncConfig, ErrorMessage, Experimenter, Features, FlowMod, FlowRemoved, GroupMod, Hello, MeterMod,
    MultipartReply, MultipartRequest, PacketIn, PacketOut, PortMod, PortNo, PortStatus, QueueConfig, Role,
    SwitchConfig, TableMod, Version,
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
    ($($variant:ident $(($(#[$attr:meta])* $content:ty))? [$old:tt $new:tt] $doc:literal,)*) => {
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

            /// The type's number in 1.0, and since 1.3.
            const fn codes(self) -> (Option<u8>, Option<u8>) {
                match self {
                    $(Kind::$variant => (number!($old), number!($new)),)*
                    Kind::Unknown(code) => (Some(code), Some(code)),
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

// Variant, content, [type in 1.0, type since 1.3], meaning.
bodies! {
    Hello(Hello) [0 0] "HELLO: the first message on a connection.",
    Error(ErrorMessage) [1 1] "ERROR: a request was refused.",
    EchoRequest(#[serde(with = "crate::json::hex")] Vec<u8>) [2 2] "ECHO_REQUEST: are you there?",
    EchoReply(#[serde(with = "crate::json::hex")] Vec<u8>) [3 3] "ECHO_REPLY: the request's bytes, sent back.",
    Experimenter(Experimenter) [4 4] "EXPERIMENTER (1.0: VENDOR).",
    FeaturesRequest [5 5] "FEATURES_REQUEST: who are you?",
    FeaturesReply(Features) [6 6] "FEATURES_REPLY.",
    GetConfigRequest [7 7] "GET_CONFIG_REQUEST.",
    GetConfigReply(SwitchConfig) [8 8] "GET_CONFIG_REPLY.",
    SetConfig(SwitchConfig) [9 9] "SET_CONFIG.",
    PacketIn(PacketIn) [10 10] "PACKET_IN: a packet for the controller.",
    FlowRemoved(FlowRemoved) [11 11] "FLOW_REMOVED: a flow entry went.",
    PortStatus(PortStatus) [12 12] "PORT_STATUS: a port came, went or changed.",
    PacketOut(PacketOut) [13 13] "PACKET_OUT: a packet from the controller.",
    FlowMod(FlowMod) [14 14] "FLOW_MOD: adds, changes or deletes flow entries.",
    GroupMod(GroupMod) [- 15] "GROUP_MOD: adds, changes or deletes a group.",
    PortMod(PortMod) [15 16] "PORT_MOD: changes a port's configuration.",
    TableMod(TableMod) [- 17] "TABLE_MOD: changes a table's configuration.",
    MultipartRequest(MultipartRequest) [16 18] "MULTIPART_REQUEST (1.0: STATS_REQUEST).",
    MultipartReply(MultipartReply) [17 19] "MULTIPART_REPLY (1.0: STATS_REPLY).",
    BarrierRequest [18 20] "BARRIER_REQUEST: tell me when all that came before is done.",
    BarrierReply [19 21] "BARRIER_REPLY.",
    QueueGetConfigRequest(PortNo) [20 22] "QUEUE_GET_CONFIG_REQUEST, of a port.",
    QueueGetConfigReply(QueueConfig) [21 23] "QUEUE_GET_CONFIG_REPLY.",
    RoleRequest(Role) [- 24] "ROLE_REQUEST.",
    RoleReply(Role) [- 25] "ROLE_REPLY.",
    GetAsyncRequest [- 26] "GET_ASYNC_REQUEST.",
    GetAsyncReply(AsyncConfig) [- 27] "GET_ASYNC_REPLY.",
    SetAsync(AsyncConfig) [- 28] "SET_ASYNC.",
    MeterMod(MeterMod) [- 29] "METER_MOD: adds, changes or deletes a meter.",
}

impl Kind {
    /// The type's number in `version`; `None` if it has no such message.
    pub const fn code(self, version: Version) -> Option<u8> {
        let (old, new) = self.codes();
        match version {
            Version::V1_0 => old,
            Version::V1_3 | Version::V1_4 | Version::V1_5 => new,
        }
    }

    /// The message of that number in `version`.
    pub fn from_code(version: Version, code: u8) -> Kind {
        // The list is in the order of 1.3's numbers, but for METER_MOD at its end, as are 1.3's.
        let known = Kind::KNOWN.iter().copied().find(|k| k.code(version) == Some(code));
        known.unwrap_or(Kind::Unknown(code))
    }
}

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
