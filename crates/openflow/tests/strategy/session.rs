//! Messages about the connection itself.

use super::*;

pub fn session(v: Version) -> BoxedStrategy<Body> {
    prop_oneof![
        hello().prop_map(Body::Hello),
        error(v).prop_map(Body::Error),
        bytes(20).prop_map(Body::EchoRequest),
        bytes(20).prop_map(Body::EchoReply),
        experimenter(v).prop_map(Body::Experimenter),
        Just(Body::FeaturesRequest),
        features(v).prop_map(Body::FeaturesReply),
        Just(Body::GetConfigRequest),
        config().prop_map(Body::GetConfigReply),
        config().prop_map(Body::SetConfig),
        Just(Body::BarrierRequest),
        Just(Body::BarrierReply),
        (40u8.., bytes(20)).prop_map(|(message_type, data)| Body::Unknown { message_type, data }),
    ]
    .boxed()
}

fn hello() -> impl Strategy<Value = Hello> {
    let bitmap = vec(any::<u32>(), 0..3).prop_map(HelloElement::VersionBitmap);
    let other =
        (2u16.., bytes(9)).prop_map(|(element_type, data)| HelloElement::Unknown { element_type, data });
    vec(prop_oneof![bitmap, other], 0..3).prop_map(|elements| Hello { elements })
}

fn error(v: Version) -> impl Strategy<Value = ErrorMessage> {
    let known: Vec<_> = ErrorCode::KNOWN.iter().copied().filter(|e| e.wire(v).is_some()).collect();
    let unknown =
        (100u16..0xffff, any::<u16>()).prop_map(|(error_type, code)| ErrorCode::Unknown { error_type, code });
    let plain = (prop_oneof![prop::sample::select(known), unknown], bytes(64))
        .prop_map(|(code, data)| ErrorMessage { code, experimenter: None, data });
    let experimenter =
        (any::<u16>(), any::<u32>(), bytes(64)).prop_map(move |(code, number, data)| ErrorMessage {
            code: ErrorCode::Unknown { error_type: ErrorMessage::EXPERIMENTER, code },
            experimenter: (v != Version::V1_0).then_some(number),
            data,
        });
    prop_oneof![4 => plain, 1 => experimenter]
}

pub fn experimenter(v: Version) -> impl Strategy<Value = Experimenter> {
    (any::<u32>(), any::<u32>(), bytes(30)).prop_map(move |(experimenter, number, data)| Experimenter {
        experimenter,
        experimenter_type: (v != Version::V1_0).then_some(number),
        data,
    })
}

fn features(v: Version) -> impl Strategy<Value = Features> {
    let numbers = (any::<u64>(), any::<u32>(), any::<u8>(), any::<u8>(), any::<u32>());
    let capabilities = (flags!(Capabilities, v), any::<bool>());
    (numbers, capabilities, vec(multipart::port(v), 0..3)).prop_map(
        move |(numbers, (capabilities, stp), ports)| {
            let (datapath_id, n_buffers, n_tables, auxiliary_id, actions) = numbers;
            let whole =
                Features { datapath_id, n_buffers, n_tables, auxiliary_id, capabilities, actions, ports };
            match v {
                Version::V1_0 if stp => {
                    Features { auxiliary_id: 0, capabilities: capabilities | Capabilities::STP, ..whole }
                }
                Version::V1_0 => Features { auxiliary_id: 0, ..whole },
                _ => Features { actions: 0, ports: vec![], ..whole },
            }
        },
    )
}

fn config() -> impl Strategy<Value = SwitchConfig> {
    (code!(FragmentHandling, Version::V1_0), any::<u16>())
        .prop_map(|(fragments, miss_send_len)| SwitchConfig { fragments, miss_send_len })
}
