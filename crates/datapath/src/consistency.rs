//! Whether actions fit what an entry matches: "set `ipv4_dst`" needs frames known to be IPv4 (OpenFlow 1.3.5,
//! 7.2.5: otherwise OFPBAC_MATCH_INCONSISTENT).
//!
//! A set-field action without its prerequisites is refused, as the specification asks. Pushes and pops count: what
//! is known of a frame changes with them. Other actions are refused only where the match says that they can't
//! apply, such as popping the tag of untagged frames. 1.0 knows no such error.

use crate::rule::{Rule, Term};
use flowgauge_openflow::{Action, ErrorCode, OxmId, Prerequisite, Version, prerequisites};
use flowgauge_packet::Field;
use std::borrow::Cow;

const ETH_TYPE_PBB: u16 = 0x88e7;
/// In `vlan_vid`: there is a tag.
const VLAN_PRESENT: u128 = 0x1000;

/// What is known of the frames that come to an action. `None`: nothing is held against it.
#[derive(Clone, Debug)]
pub struct Known<'a> {
    terms: Option<Cow<'a, [Term]>>,
}

impl<'a> Known<'a> {
    /// What an entry's match says.
    pub fn of(rule: &'a Rule, version: Version) -> Known<'a> {
        let terms = (version != Version::V1_0).then(|| Cow::Borrowed(rule.terms()));
        Known { terms }
    }

    /// Frames of whatever kind may come.
    pub fn nothing() -> Known<'a> {
        Known { terms: None }
    }

    /// Passes an action: what is known behind it.
    ///
    /// # Errors
    /// It can't be applied to these frames.
    pub fn pass(&mut self, action: &Action) -> Result<(), ErrorCode> {
        let Some(terms) = &self.terms else { return Ok(()) };
        if applies(terms, action) {
            self.change(action);
            Ok(())
        } else {
            Err(ErrorCode::ActionMatchInconsistent)
        }
    }

    fn change(&mut self, action: &Action) {
        match *action {
            Action::PushVlan(_) | Action::SetVlanVid(_) | Action::SetVlanPcp(_) => {
                self.forget(|field| matches!(field, Field::VlanVid | Field::VlanPcp));
                self.learn(Field::VlanVid, VLAN_PRESENT, VLAN_PRESENT);
            }
            Action::PopVlan => self.forget(|field| matches!(field, Field::VlanVid | Field::VlanPcp)),
            Action::PushMpls(eth_type) | Action::PopMpls(eth_type) => self.becomes(eth_type),
            Action::PushPbb(_) => {
                self.becomes(ETH_TYPE_PBB);
                self.forget(|field| matches!(field, Field::VlanVid | Field::VlanPcp));
            }
            // The customer's frame may be anything.
            Action::PopPbb => self.forget(|_| true),
            Action::SetField { field: field @ (Field::EthType | Field::IpProto), value, mask } => {
                self.learn(field, value, mask);
            }
            // Values change, headers don't. What extensions do is theirs to answer for.
            Action::SetField { .. }
            | Action::CopyField { .. }
            | Action::SetTpSrc(_)
            | Action::SetTpDst(_)
            | Action::CopyTtlOut
            | Action::CopyTtlIn
            | Action::SetMplsTtl(_)
            | Action::DecMplsTtl
            | Action::SetNwTtl(_)
            | Action::DecNwTtl
            | Action::Output { .. }
            | Action::Enqueue { .. }
            | Action::SetQueue(_)
            | Action::Group(_)
            | Action::Meter(_)
            | Action::Nicira(_)
            | Action::Experimenter { .. }
            | Action::Unknown { .. } => {}
        }
    }

    /// Nothing behind the EtherType is known any more.
    fn becomes(&mut self, eth_type: u16) {
        self.forget(|field| !matches!(field, Field::VlanVid | Field::VlanPcp));
        self.learn(Field::EthType, eth_type.into(), Field::EthType.full_mask());
    }

    fn forget(&mut self, which: impl Fn(Field) -> bool) {
        if let Some(terms) = &mut self.terms {
            terms.to_mut().retain(|t| !which(t.field));
        }
    }

    fn learn(&mut self, field: Field, value: u128, mask: u128) {
        self.forget(|other| other == field);
        if let Some(terms) = &mut self.terms {
            terms.to_mut().push(Term { field, value, mask });
        }
    }
}

/// Whether frames with these fields may have the action.
fn applies(terms: &[Term], action: &Action) -> bool {
    match *action {
        Action::SetField { field: Field::VlanVid, .. } | Action::PopVlan => !is_untagged(terms),
        Action::SetField { field, .. } => prerequisites(field).iter().all(|p| holds(terms, p)),
        Action::CopyField { src, dst, .. } => [src, dst].into_iter().all(|id| match id {
            OxmId::Field { field, .. } => prerequisites(field).iter().all(|p| holds(terms, p)),
            OxmId::Unknown { .. } => true,
        }),
        Action::PopMpls(_) | Action::SetMplsTtl(_) | Action::DecMplsTtl => may_be(terms, &[0x8847, 0x8848]),
        Action::PopPbb => may_be(terms, &[ETH_TYPE_PBB.into()]),
        Action::SetNwTtl(_) | Action::DecNwTtl => may_be(terms, &[0x0800, 0x86dd]),
        Action::PushVlan(_)
        | Action::PushMpls(_)
        | Action::PushPbb(_)
        | Action::SetVlanVid(_)
        | Action::SetVlanPcp(_)
        | Action::SetTpSrc(_)
        | Action::SetTpDst(_)
        | Action::CopyTtlOut
        | Action::CopyTtlIn
        | Action::Output { .. }
        | Action::Enqueue { .. }
        | Action::SetQueue(_)
        | Action::Group(_)
        | Action::Meter(_)
        | Action::Nicira(_)
        | Action::Experimenter { .. }
        | Action::Unknown { .. } => true,
    }
}

fn term(terms: &[Term], field: Field) -> Option<&Term> {
    terms.iter().find(|t| t.field == field)
}

fn is_untagged(terms: &[Term]) -> bool {
    term(terms, Field::VlanVid).is_some_and(|t| t.mask & VLAN_PRESENT != 0 && t.value & VLAN_PRESENT == 0)
}

/// Whether the EtherType is not known to be another one.
fn may_be(terms: &[Term], eth_types: &[u128]) -> bool {
    term(terms, Field::EthType).is_none_or(|t| eth_types.contains(&t.value))
}

fn holds(terms: &[Term], needed: &Prerequisite) -> bool {
    term(terms, needed.field).is_some_and(|t| {
        let is_one = needed.any_of.is_empty() || needed.any_of.contains(&(t.value & needed.mask));
        t.mask & needed.mask == needed.mask && is_one
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: &[(Field, u128)], actions: &[Action]) -> Result<(), ErrorCode> {
        let rule = Rule::new(rule.iter().map(|&(field, value)| (field, value, field.full_mask())));
        let mut known = Known::of(&rule, Version::V1_3);
        actions.iter().try_for_each(|action| known.pass(action))
    }

    const REFUSED: Result<(), ErrorCode> = Err(ErrorCode::ActionMatchInconsistent);

    #[test]
    fn fields_are_set_only_where_they_are() {
        let dst = Action::set(Field::Ipv4Dst, 1);
        assert_eq!(check(&[], std::slice::from_ref(&dst)), REFUSED);
        assert_eq!(check(&[(Field::EthType, 0x86dd)], std::slice::from_ref(&dst)), REFUSED);
        assert_eq!(check(&[(Field::EthType, 0x800)], &[dst]), Ok(()));
        let port = Action::set(Field::UdpDst, 1);
        assert_eq!(
            check(&[(Field::EthType, 0x800), (Field::IpProto, 6)], std::slice::from_ref(&port)),
            REFUSED
        );
        assert_eq!(check(&[(Field::EthType, 0x800), (Field::IpProto, 17)], &[port]), Ok(()));
        assert_eq!(check(&[], &[Action::set(Field::EthDst, 1)]), Ok(()));
    }

    #[test]
    fn pushes_and_pops_change_what_is_known() {
        let pcp = Action::set(Field::VlanPcp, 3);
        let label = Action::set(Field::MplsLabel, 3);
        let dst = Action::set(Field::Ipv4Dst, 1);
        let ip = [(Field::EthType, 0x800)];
        assert_eq!(check(&[], std::slice::from_ref(&pcp)), REFUSED);
        assert_eq!(check(&[], &[Action::PushVlan(0x8100), pcp.clone()]), Ok(()));
        assert_eq!(check(&[(Field::VlanVid, 0x1005)], &[Action::PopVlan, pcp]), REFUSED);
        assert_eq!(check(&ip, &[Action::PushMpls(0x8847), label.clone()]), Ok(()));
        assert_eq!(check(&ip, &[Action::PushMpls(0x8847), dst.clone()]), REFUSED);
        let there_and_back = [Action::PushMpls(0x8847), Action::PopMpls(0x800), dst];
        assert_eq!(check(&ip, &there_and_back), Ok(()));
        assert_eq!(check(&ip, &[Action::PushPbb(0x88e7), Action::set(Field::PbbIsid, 1)]), Ok(()));
    }

    #[test]
    fn what_the_match_rules_out_is_refused() {
        assert_eq!(check(&[(Field::VlanVid, 0)], &[Action::PopVlan]), REFUSED);
        assert_eq!(check(&[(Field::EthType, 0x800)], &[Action::PopMpls(0x800)]), REFUSED);
        assert_eq!(check(&[(Field::EthType, 0x806)], &[Action::DecNwTtl]), REFUSED);
        assert_eq!(check(&[], &[Action::PopVlan, Action::PopMpls(0x800), Action::DecNwTtl]), Ok(()));
    }
}
