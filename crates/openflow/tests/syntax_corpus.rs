//! Texts of flows, groups and meters: each prints as its canonical text, which means the same.

mod syntax;

use flowgauge_openflow::syntax::{parse_flow, parse_group, parse_meter};
use syntax::corpus;

const FLOWS: [&str; 2] =
    [include_str!("syntax_corpus/flows.txt"), include_str!("syntax_corpus/flows_ours.txt")];
const GROUPS: [&str; 2] =
    [include_str!("syntax_corpus/groups.txt"), include_str!("syntax_corpus/groups_ours.txt")];

#[test]
fn flows_print_canonically() {
    for (text, canonical) in corpus(FLOWS.concat().as_str()) {
        let flow = parse_flow(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(flow.to_string(), canonical);
        assert_eq!(parse_flow(canonical), Ok(flow), "{text}");
    }
}

#[test]
fn groups_print_canonically() {
    for (text, canonical) in corpus(GROUPS.concat().as_str()) {
        let group = parse_group(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(group.to_string(), canonical);
        assert_eq!(parse_group(canonical), Ok(group), "{text}");
    }
}

#[test]
fn meters_print_canonically() {
    for (text, canonical) in corpus(include_str!("syntax_corpus/meters.txt")) {
        let meter = parse_meter(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(meter.to_string(), canonical);
        assert_eq!(parse_meter(canonical), Ok(meter), "{text}");
    }
}

/// The lines of a page's blocks in a language.
fn examples<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    let blocks = page.split(fence.as_str()).skip(1).filter_map(|rest| rest.split("```").next());
    blocks.flat_map(str::lines).collect()
}

#[test]
fn the_documentations_examples_are_understood() {
    let page = include_str!("../../../docs/reference/flow-syntax.md");
    let (flows, groups, meters) = (examples(page, "flow"), examples(page, "group"), examples(page, "meter"));
    assert!(flows.len() > 20 && groups.len() > 5 && meters.len() > 3);
    for text in flows {
        let flow = parse_flow(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let printed = flow.to_string();
        assert_eq!(parse_flow(&printed).map(|f| f.to_string()), Ok(printed), "{text}");
    }
    for text in groups {
        assert_eq!(parse_group(text).unwrap_or_else(|e| panic!("{text}: {e}")).to_string(), text);
    }
    for text in meters {
        assert_eq!(parse_meter(text).unwrap_or_else(|e| panic!("{text}: {e}")).to_string(), text);
    }
}
