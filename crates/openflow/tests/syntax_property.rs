//! What prints as a flow, a group or a meter parses to the same; no text makes the parsers panic.

#[allow(dead_code)]
mod strategy;

use flowgauge_openflow::syntax::{parse_actions, parse_flow, parse_group, parse_meter};
use flowgauge_openflow::*;
use proptest::collection::vec;
use proptest::prelude::*;

/// Text that looks like what the parsers read: words of theirs, and noise.
fn text() -> impl Strategy<Value = String> {
    let words = [
        "actions=",
        "action=",
        "bucket=",
        "bands=",
        "type=",
        "group_id=",
        "meter=",
        "select",
        "drop",
        "output:",
        "1",
        "0x5",
        "(",
        ")",
        "[",
        "]",
        "..",
        ",",
        " ",
        "->",
        "/",
        ":",
        "=",
        "learn(",
        "load:",
        "move:",
        "reg0",
        "NXM_NX_REG0",
        "NXM_OF_VLAN_TCI[0..11]",
        "xreg1",
        "set_field:",
        "ip_dst",
        "tcp",
        "ip",
        "ct_state=",
        "+trk",
        "-new",
        "resubmit(",
        "controller(",
        "userdata=",
        "note:",
        "bundle(",
        "multipath(",
        "conjunction(",
        "delete",
        "table=",
        "cookie=",
        "-1",
        "10.0.0.1",
        "fields(",
        "selection_method=",
        "weight:",
        "rate=",
        "burst_size=",
        "é",
        "oxm_00010004=",
    ];
    let piece = prop_oneof![
        6 => prop::sample::select(words.to_vec()).prop_map(String::from),
        1 => "\\PC{0,3}",
        1 => any::<u64>().prop_map(|n| n.to_string()),
    ];
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn nicira_flow() -> impl Strategy<Value = FlowMod> {
    (vec(strategy::nicira::action(Version::V1_0), 1..4), any::<u16>(), any::<u64>()).prop_map(
        |(actions, priority, cookie)| {
            let actions = actions.into_iter().map(Action::Nicira).filter(has_text).collect();
            FlowMod { cookie, ..FlowMod::add(priority, Match::any(), actions) }
        },
    )
}

/// Whether ovs-ofctl has words for all of it.
fn has_text(action: &Action) -> bool {
    let known = |fields: HashFields| !matches!(fields, HashFields::Unknown(_));
    match action {
        Action::Nicira(Nicira::Multipath(m)) => {
            known(m.fields) && !matches!(m.choice, LinkChoice::Unknown(_))
        }
        Action::Nicira(Nicira::Bundle(b)) => {
            known(b.fields) && !matches!(b.choice, BundleChoice::Unknown(_)) && !b.members.is_empty()
        }
        // A clause beyond the last, and output with a limit, have none.
        Action::Nicira(Nicira::Conjunction { clause, clauses, .. }) => {
            clause < clauses && *clauses >= 2 && *clauses <= 64
        }
        Action::Nicira(Nicira::OutputReg { max_len, .. }) => *max_len == Action::NO_BUFFER,
        Action::Nicira(Nicira::Controller(to)) => {
            let plain = SendToController { max_len: to.max_len, ..SendToController::default() };
            *to != plain
        }
        Action::Nicira(Nicira::SetField { value, mask, .. }) => value & !mask == 0,
        _ => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    #[test]
    fn no_text_makes_a_parser_panic(text in text()) {
        let _ = (parse_flow(&text), parse_actions(&text), parse_group(&text), parse_meter(&text));
    }

    #[test]
    fn what_is_understood_prints_as_the_same(text in text()) {
        if let Ok(flow) = parse_flow(&text) {
            prop_assert_eq!(parse_flow(&flow.to_string()).map(|f| f.to_string()), Ok(flow.to_string()));
        }
        if let Ok(group) = parse_group(&text) {
            prop_assert_eq!(parse_group(&group.to_string()), Ok(group));
        }
        if let Ok(meter) = parse_meter(&text) {
            prop_assert_eq!(parse_meter(&meter.to_string()), Ok(meter));
        }
    }

    #[test]
    fn nicira_actions_print_and_parse(flow in nicira_flow()) {
        let printed = flow.to_string();
        prop_assert_eq!(parse_flow(&printed), Ok(flow), "{}", printed);
    }
}
