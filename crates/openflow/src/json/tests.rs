use std::fmt::Debug;

use flowgauge_packet::Field;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::Line;
use crate::*;

/// `value` is written as `text` and read from it.
fn same<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: T, text: serde_json::Value) {
    let written = serde_json::to_string(&value).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), text);
    assert_eq!(serde_json::from_str::<T>(&written).unwrap(), value, "{written}");
    assert_eq!(serde_json::from_str::<T>(&text.to_string()).unwrap(), value, "{text}");
}

fn refused<T: DeserializeOwned + Debug>(text: serde_json::Value) -> String {
    serde_json::from_str::<T>(&text.to_string()).unwrap_err().to_string()
}

#[test]
fn matches_read_as_people_write_them() {
    let m = Match::any()
        .with(Field::InPort, 1)
        .with(Field::EthType, 0x0800)
        .with_masked(Field::Ipv4Dst, 0x0a000000, 0xff000000)
        .with_masked(Field::VlanVid, 0x1000, 0x1000)
        .with(Field::Ipv6Src, 1)
        .with(Field::EthDst, 2);
    let text = json!({
        "in_port": 1, "eth_type": "0x0800", "ipv4_dst": "10.0.0.0/255.0.0.0", "vlan_vid": "0x1000/0x1000",
        "ipv6_src": "::1", "eth_dst": "00:00:00:00:00:02"
    });
    let written = serde_json::to_value(&m).unwrap();
    assert_eq!(written, text);
    assert_eq!(serde_json::from_str::<Match>(&serde_json::to_string(&m).unwrap()).unwrap(), m);
    let short: Match = serde_json::from_value(json!({"ipv4_dst": "10.0.0.0/8"})).unwrap();
    assert_eq!(short, Match::any().with_masked(Field::Ipv4Dst, 0x0a000000, 0xff000000));
    let raw =
        Match { entries: vec![], unknown: vec![RawOxm { header: 0x8000_fe04, payload: vec![1, 2, 3, 4] }] };
    same(raw, json!({"0x8000fe04": "01020304"}));
}

#[test]
fn messages_are_named_by_their_type() {
    same(Message::new(7, Body::BarrierRequest), json!({"xid": 7, "barrier_request": null}));
    same(Message::new(1, Body::EchoRequest(vec![0xab])), json!({"xid": 1, "echo_request": "ab"}));
    let unknown = Body::Unknown { message_type: 99, data: vec![1] };
    same(Message::new(1, unknown), json!({"xid": 1, "unknown": {"message_type": 99, "data": "01"}}));
    let line = Line { version: Some(Version::V1_3), message: Message::new(2, Body::BarrierReply) };
    same(line, json!({"version": "1.3", "xid": 2, "barrier_reply": null}));
    let empty: Message = serde_json::from_value(json!({"barrier_request": {}, "time": 1.5})).unwrap();
    assert_eq!(empty, Message::new(0, Body::BarrierRequest));
}

#[test]
fn what_is_left_out_has_its_default() {
    let text = json!({"flow_mod": {
        "match": {"in_port": "LOCAL"},
        "flags": ["send_flow_rem", "0x40"],
        "instructions": [{"apply_actions": [
            {"set_field": {"ipv4_dst": "10.0.0.1"}}, {"output": {"port": "CONTROLLER"}}, "pop_vlan", {"push_vlan": "0x8100"}
        ]}],
    }});
    let message: Message = serde_json::from_value(text).unwrap();
    let actions = vec![
        Action::set(Field::Ipv4Dst, 0x0a000001),
        Action::output(PortNo::CONTROLLER),
        Action::PopVlan,
        Action::PushVlan(0x8100),
    ];
    let expected = FlowMod {
        flags: FlowModFlags(0x41),
        ..FlowMod::add(0x8000, Match::any().with(Field::InPort, PortNo::LOCAL.0.into()), actions)
    };
    assert_eq!(message, Message::new(0, Body::FlowMod(expected)));
}

#[test]
fn codes_have_names_and_unknown_ones_numbers() {
    same(FlowModCommand::DeleteStrict, json!("delete_strict"));
    same(FlowModCommand::Unknown(200), json!(200));
    same(GroupType::FastFailover, json!("fast_failover"));
    same(ErrorCode::BadType, json!("OFPBRC_BAD_TYPE"));
    same(ErrorCode::Unknown { error_type: 3, code: 99 }, json!({"type": 3, "code": 99}));
    same(PortState(0x300 | 0x8000_0000), json!(["stp_block", "0x80000000"]));
    same(PortFeatures(0), json!([]));
}

#[test]
fn numbers_beyond_53_bits_are_text() {
    let stats = FlowMod { cookie: u64::MAX, ..FlowMod::default() };
    assert_eq!(serde_json::to_value(&stats).unwrap()["cookie"], json!("0xffffffffffffffff"));
}

#[test]
fn refusals_say_what_would_be_right() {
    assert!(refused::<FlowMod>(json!({"prioritty": 1})).contains("unknown field `prioritty`"));
    assert!(refused::<FlowModCommand>(json!("remove")).contains("\"delete_strict\""));
    assert!(refused::<FlowModCommand>(json!(256)).contains("up to 255"));
    assert!(refused::<Match>(json!({"ipv4_dst": "10.0.0"})).contains("for ipv4_dst, which has 32 bits"));
    assert!(refused::<Match>(json!({"vlan_pcp": 8})).contains("vlan_pcp"));
    assert!(refused::<Match>(json!({"nw_dst": "10.0.0.1"})).contains("no field is named \"nw_dst\""));
    assert!(refused::<Message>(json!({"xid": 1})).contains("type is missing"));
    assert!(refused::<Message>(json!({"barrier_request": null, "hello": {}})).contains("\"hello\" is more"));
    assert!(refused::<Message>(json!({"flowmod": {}})).contains("unknown variant `flowmod`"));
    assert!(refused::<Action>(json!({"set_field": {}})).contains("one field and its value"));
}
