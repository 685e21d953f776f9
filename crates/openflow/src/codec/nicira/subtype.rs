//! The numbers of Nicira's actions, and the values that stand for nothing.

use crate::model::PortNo;

pub(super) const EXPERIMENTER: u16 = 0xffff;

pub(super) const RESUBMIT: u16 = 1;
pub(super) const SET_TUNNEL: u16 = 2;
pub(super) const SET_QUEUE: u16 = 4;
pub(super) const POP_QUEUE: u16 = 5;
pub(super) const REG_MOVE: u16 = 6;
pub(super) const REG_LOAD: u16 = 7;
pub(super) const NOTE: u16 = 8;
pub(super) const SET_TUNNEL64: u16 = 9;
pub(super) const MULTIPATH: u16 = 10;
pub(super) const BUNDLE: u16 = 12;
pub(super) const BUNDLE_LOAD: u16 = 13;
pub(super) const RESUBMIT_TABLE: u16 = 14;
pub(super) const OUTPUT_REG: u16 = 15;
pub(super) const LEARN: u16 = 16;
pub(super) const EXIT: u16 = 17;
pub(super) const DEC_TTL: u16 = 18;
pub(super) const FIN_TIMEOUT: u16 = 19;
pub(super) const CONTROLLER: u16 = 20;
pub(super) const DEC_TTL_CNT_IDS: u16 = 21;
pub(super) const PUSH_MPLS: u16 = 23;
pub(super) const POP_MPLS: u16 = 24;
pub(super) const SET_MPLS_TTL: u16 = 25;
pub(super) const DEC_MPLS_TTL: u16 = 26;
pub(super) const STACK_PUSH: u16 = 27;
pub(super) const STACK_POP: u16 = 28;
pub(super) const SET_MPLS_LABEL: u16 = 30;
pub(super) const SET_MPLS_TC: u16 = 31;
pub(super) const REG_LOAD2: u16 = 33;
pub(super) const CONJUNCTION: u16 = 34;
pub(super) const CONTROLLER2: u16 = 37;
pub(super) const OUTPUT_TRUNC: u16 = 39;
pub(super) const GROUP: u16 = 40;
pub(super) const LEARN2: u16 = 45;

/// The port that stands for none where the extensions have 16 bits for it.
pub(super) const NO_PORT: PortNo = PortNo::IN_PORT;
pub(super) const SAME_TABLE: u8 = 0xff;
