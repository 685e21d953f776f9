//! One frame on its way through the pipeline: its bytes, its key, and what actions do to them.

use crate::pipeline::PortRule;
use crate::sink::{Punt, Sink};
use flowgauge_openflow::{Action, PacketInReason, PortNo};
use flowgauge_packet::edit::{self, EditError, FrameBuf};
use flowgauge_packet::{Field, FlowKey};
use std::ops::Range;

/// Room in front of a frame for the tags that actions push.
const HEADROOM: usize = 128;
/// In `vlan_vid`: there is a tag.
const VLAN_PRESENT: u128 = flowgauge_packet::flow_key::VLAN_PRESENT as u128;
/// The longest frame that actions may change, in bytes.
const LONGEST: usize = 65_536;

/// Where frames are changed: the frames that came in stay as they are. Reused for every frame.
#[derive(Debug)]
pub struct Workbench {
    slot: Box<[u8]>,
}

impl Workbench {
    /// One that can't be worked on, and costs nothing: a stand-in.
    pub fn none() -> Workbench {
        Workbench { slot: Box::default() }
    }
}

impl Default for Workbench {
    fn default() -> Self {
        Workbench { slot: vec![0; HEADROOM + LONGEST].into_boxed_slice() }
    }
}

/// Which entry acts on the frame now: what the controller is told with it.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// The entry's table.
    pub table_id: u8,
    /// The entry's cookie.
    pub cookie: u64,
    /// Why a frame is sent to the controller from here.
    pub reason: PacketInReason,
}

/// The time to live ran out: the frame goes nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dead;

/// One frame and its state in the pipeline.
pub struct Journey<'a> {
    original: &'a [u8],
    slot: &'a mut [u8],
    /// Where the changed frame lies in `slot`; `None` while it is as it came.
    changed: Option<Range<usize>>,
    /// Whether `key` no longer tells the frame's headers.
    is_stale: bool,
    key: FlowKey,
    in_port: u32,
}

impl<'a> Journey<'a> {
    /// A frame that has just come in.
    #[inline]
    pub fn new(original: &'a [u8], in_port: u32, bench: &'a mut Workbench) -> Journey<'a> {
        let key = FlowKey::parse(original, in_port);
        Journey { original, slot: &mut bench.slot, changed: None, is_stale: false, key, in_port }
    }

    /// The frame as it is now.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match &self.changed {
            None => self.original,
            Some(range) => &self.slot[range.clone()],
        }
    }

    /// The key of the frame as it is now.
    #[inline]
    pub fn key(&mut self) -> &FlowKey {
        if self.is_stale {
            let mut key = FlowKey::parse(self.bytes(), self.in_port);
            key.inherit(&self.key);
            self.key = key;
            self.is_stale = false;
        }
        &self.key
    }

    /// Changes metadata in the bits of `mask`.
    pub fn write_metadata(&mut self, metadata: u64, mask: u64) {
        let old = self.key.get(Field::Metadata).unwrap_or(0) as u64;
        self.key.set(Field::Metadata, u128::from(old & !mask | metadata & mask));
    }

    /// Executes one action.
    ///
    /// # Errors
    /// [`Dead`] when the frame must not go on.
    #[inline]
    pub fn act(
        &mut self,
        action: &Action,
        from: Origin,
        ports: &[PortRule],
        sink: &mut dyn Sink,
    ) -> Result<(), Dead> {
        match *action {
            Action::Output { port, max_len } => {
                self.output(port, max_len, from, ports, sink);
                Ok(())
            }
            Action::SetField { field, value, .. } if field == Field::TunnelId || field.is_nicira() => {
                self.key.set(field, value);
                Ok(())
            }
            Action::SetField { field, value, .. } => self.set_field(field, value),
            Action::SetVlanVid(vid) => self.set_tag(Field::VlanVid, VLAN_PRESENT | u128::from(vid)),
            Action::SetVlanPcp(pcp) => self.set_tag(Field::VlanPcp, u128::from(pcp)),
            Action::SetTpSrc(port) => self.set_port([Field::TcpSrc, Field::UdpSrc, Field::SctpSrc], port),
            Action::SetTpDst(port) => self.set_port([Field::TcpDst, Field::UdpDst, Field::SctpDst], port),
            Action::PushVlan(tpid) => self.edit(|f| edit::push_vlan(f, tpid)),
            Action::PopVlan => self.edit(edit::pop_vlan),
            Action::PushMpls(eth_type) => self.edit(|f| edit::push_mpls(f, eth_type)),
            Action::PopMpls(eth_type) => self.edit(|f| edit::pop_mpls(f, eth_type)),
            Action::PushPbb(_) => self.edit(edit::push_pbb),
            Action::PopPbb => self.edit(edit::pop_pbb),
            Action::SetNwTtl(ttl) => self.edit(|f| edit::set_ttl(f.bytes_mut(), ttl)),
            Action::DecNwTtl => self.edit(|f| edit::dec_ttl(f.bytes_mut())),
            Action::SetMplsTtl(ttl) => self.edit(|f| edit::set_mpls_ttl(f.bytes_mut(), ttl)),
            Action::DecMplsTtl => self.edit(|f| edit::dec_mpls_ttl(f.bytes_mut())),
            Action::CopyTtlOut => self.edit(|f| edit::copy_ttl_out(f.bytes_mut())),
            Action::CopyTtlIn => self.edit(|f| edit::copy_ttl_in(f.bytes_mut())),
            // Refused when the entry was added.
            Action::Group(_)
            | Action::SetQueue(_)
            | Action::Enqueue { .. }
            | Action::Nicira(_)
            | Action::Experimenter { .. }
            | Action::Unknown { .. } => Ok(()),
        }
    }

    fn set_field(&mut self, field: Field, value: u128) -> Result<(), Dead> {
        self.edit(|frame| edit::set_field(frame.bytes_mut(), field, value))
    }

    /// Sets a field of the VLAN tag as 1.0 does: an untagged frame gets one.
    fn set_tag(&mut self, field: Field, value: u128) -> Result<(), Dead> {
        if !self.key().has(Field::VlanPcp) {
            self.edit(|frame| edit::push_vlan(frame, 0x8100))?;
        }
        self.set_field(field, value)
    }

    /// Sets whichever of the fields the frame has.
    fn set_port(&mut self, fields: [Field; 3], port: u16) -> Result<(), Dead> {
        let key = *self.key();
        let present = fields.into_iter().find(|&field| key.has(field));
        present.map_or(Ok(()), |field| self.set_field(field, u128::from(port)))
    }

    fn output(&mut self, port: PortNo, max_len: u16, from: Origin, ports: &[PortRule], sink: &mut dyn Sink) {
        match port {
            PortNo::IN_PORT => sink.output(self.in_port, self.bytes()),
            PortNo::ALL | PortNo::FLOOD => {
                let others = ports.iter().filter(|p| p.number != self.in_port);
                for other in others.filter(|p| port == PortNo::ALL || p.flood) {
                    sink.output(other.number, self.bytes());
                }
            }
            PortNo::CONTROLLER => self.punt(max_len, from, sink),
            // We have no network stack of our own; TABLE is dealt with where PACKET_OUT is.
            PortNo::LOCAL | PortNo::NORMAL | PortNo::TABLE | PortNo::ANY => {}
            // A frame goes back where it came from only through IN_PORT (OpenFlow 1.3.5, 5.1).
            PortNo(number) if number != self.in_port => sink.output(number, self.bytes()),
            PortNo(_) => {}
        }
    }

    /// Sends the frame to the controller.
    pub fn punt(&mut self, max_len: u16, from: Origin, sink: &mut dyn Sink) {
        let Origin { table_id, cookie, reason } = from;
        sink.punt(&Punt { bytes: self.bytes(), max_len, reason, table_id, cookie, key: &self.key });
    }

    /// Changes a copy of the frame. A frame that hasn't what the action changes stays as it is.
    fn edit(&mut self, change: impl FnOnce(&mut FrameBuf<'_>) -> Result<(), EditError>) -> Result<(), Dead> {
        let range = match self.changed.take() {
            Some(range) => range,
            None => {
                let range = HEADROOM..HEADROOM + self.original.len().min(LONGEST);
                self.slot[range.clone()].copy_from_slice(&self.original[..range.len()]);
                range
            }
        };
        let mut frame = FrameBuf::new(self.slot, range);
        let result = change(&mut frame);
        self.changed = Some(frame.range());
        self.is_stale = true;
        match result {
            Err(EditError::TtlExpired) => Err(Dead),
            Ok(())
            | Err(EditError::Absent(_) | EditError::NotInFrames(_) | EditError::NoTag | EditError::NoRoom) => {
                Ok(())
            }
        }
    }
}
