//! One frame on its way through the pipeline: its bytes, its key, and how both are changed.
//!
//! It knows headers, nothing of ports, groups or controllers: those are [`act`](crate::act)'s.

use flowgauge_packet::edit::{self, EditError, FrameBuf};
use flowgauge_packet::flow_key::slot::slot;
use flowgauge_packet::{Field, FlowKey};
use std::ops::Range;

/// Room in front of a frame for the tags that actions push.
const HEADROOM: usize = 128;
/// In `vlan_vid`: there is a tag.
const VLAN_PRESENT: u128 = flowgauge_packet::flow_key::VLAN_PRESENT as u128;
/// The longest frame that actions may change, in bytes.
const LONGEST: usize = 65_536;
/// Words of a key that hold fields of the pipeline alone: they survive when the key is read anew.
const CARRIED: [usize; 4] = [
    slot(Field::InPort).word as usize,
    slot(Field::Metadata).word as usize,
    slot(Field::TunnelId).word as usize,
    slot(Field::ActsetOutput).word as usize,
];
/// The registers and tunnels of the Nicira extensions, likewise: from this word on.
const REGISTERS: usize = slot(Field::Reg0).word as usize;

/// Where frames are changed: the frames that came in stay as they are. Reused for every frame.
#[derive(Debug)]
pub struct Workbench {
    slot: Box<[u8]>,
}

impl Default for Workbench {
    fn default() -> Self {
        Workbench { slot: vec![0; HEADROOM + LONGEST].into_boxed_slice() }
    }
}

/// Why a frame goes no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dead {
    /// A time to live would have fallen to 0.
    TtlExpired,
    /// A meter's rate was exceeded.
    Metered,
    /// An action says so.
    Exit,
}

/// One frame and its state in the pipeline.
pub struct Journey<'a> {
    original: &'a [u8],
    slot: &'a mut [u8],
    /// Where the changed frame lies in `slot`; `None` while it is as it came.
    changed: Option<Range<usize>>,
    /// Whether `key` no longer tells the frame's headers.
    is_stale: bool,
    /// Kept by the caller: it is large, and never copied this way.
    key: &'a mut FlowKey,
    in_port: u32,
    queue: Option<u32>,
    /// How many bytes of it leave at most.
    pub truncate_to: usize,
}

impl<'a> Journey<'a> {
    /// A frame that has just come in on `in_port`, with its key.
    #[inline]
    pub fn new(
        original: &'a [u8],
        in_port: u32,
        key: &'a mut FlowKey,
        bench: &'a mut Workbench,
    ) -> Journey<'a> {
        let slot = &mut bench.slot;
        let (changed, is_stale, queue, truncate_to) = (None, false, None, usize::MAX);
        Journey { original, slot, changed, is_stale, key, in_port, queue, truncate_to }
    }

    /// A copy of the frame that goes its own way, with `key` for a copy of its key: what is done to it doesn't show
    /// here. Bytes are copied only when it is changed.
    pub fn fork<'b>(&'b mut self, key: &'b mut FlowKey, bench: &'b mut Workbench) -> Journey<'b> {
        *key = *self.key();
        let (queue, truncate_to) = (self.queue, self.truncate_to);
        Journey { queue, truncate_to, ..Journey::new(self.bytes(), self.in_port, key, bench) }
    }

    /// The frame as it is now.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match &self.changed {
            None => self.original,
            Some(range) => &self.slot[range.clone()],
        }
    }

    /// The bytes that leave.
    #[inline]
    pub fn leaving(&self) -> &[u8] {
        let bytes = self.bytes();
        &bytes[..self.truncate_to.min(bytes.len())]
    }

    /// Where it came in.
    #[inline]
    pub fn in_port(&self) -> u32 {
        self.in_port
    }

    /// Makes it one that came in elsewhere.
    pub fn set_in_port(&mut self, port: u32) {
        self.in_port = port;
        self.key.set(Field::InPort, port.into());
    }

    /// The queue that it leaves by; `None`: the port's default.
    #[inline]
    pub fn queue(&self) -> Option<u32> {
        self.queue
    }

    /// Chooses the queue that it leaves by.
    pub fn set_queue(&mut self, queue: Option<u32>) {
        self.queue = queue;
    }

    /// The key of the frame as it is now.
    #[inline]
    pub fn key(&mut self) -> &FlowKey {
        if self.is_stale {
            self.read_anew();
        }
        self.key
    }

    /// The frame as it is now, and a key whose pipeline fields are right: what the controller is told.
    #[inline]
    pub fn told(&self) -> (&[u8], &FlowKey) {
        (self.bytes(), self.key)
    }

    fn read_anew(&mut self) {
        let mut words = *FlowKey::parse(self.bytes(), self.in_port).words();
        let old = self.key.words();
        CARRIED.iter().for_each(|&word| words[word] = old[word]);
        words[REGISTERS..].copy_from_slice(&old[REGISTERS..]);
        let mark = self.key.get(Field::PktMark).unwrap_or(0);
        *self.key = FlowKey::from_words(words);
        self.key.set(Field::PktMark, mark);
        self.is_stale = false;
    }

    /// Changes metadata in the bits of `mask`.
    pub fn write_metadata(&mut self, metadata: u64, mask: u64) {
        let old = self.key.get(Field::Metadata).unwrap_or(0) as u64;
        self.key.set(Field::Metadata, u128::from(old & !mask | metadata & mask));
    }

    /// Says which output the action set has.
    pub fn set_actset_output(&mut self, port: u32) {
        self.key.set(Field::ActsetOutput, port.into());
    }

    /// Sets the bits of `mask` in a field of the frame or of the pipeline. A frame without it stays as it is.
    pub fn set_field(&mut self, field: Field, value: u128, mask: u128) -> Result<(), Dead> {
        let value = if mask == field.full_mask() {
            value
        } else {
            let Some(old) = self.key().get(field) else { return Ok(()) };
            old & !mask | value & mask
        };
        if is_of_the_pipeline(field) {
            self.key.set(field, value);
            return Ok(());
        }
        self.edit(|frame| edit::set_field(frame.bytes_mut(), field, value))
    }

    /// Copies `n` bits from one field to another, from and to bits counted from the lowest. Does nothing when
    /// the frame hasn't both.
    pub fn copy_field(&mut self, from: (Field, u32), to: (Field, u32), n: u32) -> Result<(), Dead> {
        let Some(value) = self.key().get(from.0) else { return Ok(()) };
        let bits = u128::MAX.checked_shr(128 - n).unwrap_or(0);
        let (value, mask) = (((value >> from.1) & bits) << to.1, bits << to.1);
        self.set_field(to.0, value, mask)
    }

    /// Sets a field of the VLAN tag as 1.0 does: an untagged frame gets one.
    pub fn set_tag(&mut self, field: Field, value: u128) -> Result<(), Dead> {
        if !self.key().has(Field::VlanPcp) {
            self.edit(|frame| edit::push_vlan(frame, 0x8100))?;
        }
        let value = if field == Field::VlanVid { value | VLAN_PRESENT } else { value };
        self.set_field(field, value, field.full_mask())
    }

    /// Sets whichever of the fields the frame has.
    pub fn set_port(&mut self, fields: [Field; 3], port: u16) -> Result<(), Dead> {
        let key = *self.key();
        let present = fields.into_iter().find(|&field| key.has(field));
        present.map_or(Ok(()), |field| self.set_field(field, u128::from(port), field.full_mask()))
    }

    /// Changes a copy of the frame. A frame that hasn't what is to be changed stays as it is.
    pub fn edit(
        &mut self,
        change: impl FnOnce(&mut FrameBuf<'_>) -> Result<(), EditError>,
    ) -> Result<(), Dead> {
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
            Err(EditError::TtlExpired) => Err(Dead::TtlExpired),
            Ok(())
            | Err(EditError::Absent(_) | EditError::NotInFrames(_) | EditError::NoTag | EditError::NoRoom) => {
                Ok(())
            }
        }
    }
}

/// Whether a field is the pipeline's own: frames don't hold it.
fn is_of_the_pipeline(field: Field) -> bool {
    matches!(field, Field::Metadata | Field::TunnelId) || field.is_nicira()
}
