//! FLOW_MODs of a whole flow set, one after another, at the speed of a copy.

use flowgauge_packet::{Field, FlowSet, Pattern};

use crate::{Body, EncodeError, FlowMod, Match, MatchError, Message, Version, encode};

/// Writes the FLOW_MOD of any flow of a set.
///
/// All messages of a set have the same layout and differ in a few bits. Where a field's bits stand is found by encoding
/// the first flow with single bits changed, so this knows nothing of the versions' layouts. If patched messages
/// don't equal encoded ones (OpenFlow 1.0 writes "no VLAN tag" in a way of its own), each message is encoded in full.
#[derive(Clone, Debug)]
pub struct FlowEncoder {
    flow: FlowMod,
    flows: FlowSet,
    fields: Vec<Field>,
    version: Version,
    first: Vec<u8>,
    /// `None`: encode each message in full.
    places: Option<Vec<Place>>,
}

/// Where a field stands in the message: bits, counted from the message's start, most significant first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    field: Field,
    /// The bit behind its lowest one.
    end: usize,
}

impl FlowEncoder {
    /// FLOW_MODs like `flow`, whose match gets the values of each flow of `flows` in `fields` besides its own entries.
    ///
    /// # Errors
    /// [`FlowEncodeError`]: the set has no value for a field, or the version can't express the message.
    pub fn new(
        flow: FlowMod,
        flows: FlowSet,
        fields: &[Field],
        version: Version,
    ) -> Result<FlowEncoder, FlowEncodeError> {
        let mut encoder =
            FlowEncoder { flow, flows, fields: fields.to_vec(), version, first: Vec::new(), places: None };
        let mut first = Vec::new();
        encoder.encode_in_full(0, 0, &mut first)?;
        encoder.places = encoder.find_places(&first);
        encoder.first = first;
        if !encoder.patches_rightly() {
            encoder.places = None;
            // Any flow that can't be encoded shall be found now, not while messages are being sent.
            (0..encoder.len()).try_for_each(|i| encoder.encode_in_full(i, 0, &mut Vec::new()))?;
        }
        Ok(encoder)
    }

    /// How many messages there are.
    pub fn len(&self) -> u32 {
        self.flows.count()
    }

    /// Never: a flow set has at least one flow.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Appends the FLOW_MOD of flow `i` with that transaction id to `out`.
    ///
    /// # Panics
    /// When `i` is not below [`FlowEncoder::len`].
    pub fn encode(&self, i: u32, xid: u32, out: &mut Vec<u8>) {
        assert!(i < self.len(), "flow {i} of {}", self.len());
        match &self.places {
            Some(places) => self.patch(places, i, xid, out),
            None => self.encode_in_full(i, xid, out).expect("each flow was encoded once before"),
        }
    }

    /// The FLOW_MOD of flow `i`, for who wants its text.
    ///
    /// # Errors
    /// As [`FlowEncoder::new`], which has tried those whose form may differ.
    pub fn flow_mod(&self, i: u32) -> Result<FlowMod, FlowEncodeError> {
        self.flow_mod_of(|field| self.value(field, i))
    }

    fn patch(&self, places: &[Place], i: u32, xid: u32, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.first);
        let message = &mut out[start..];
        message[4..8].copy_from_slice(&xid.to_be_bytes());
        for place in places {
            let value = self.flows.value(place.field, i).expect("the set has the field");
            write_bits(message, place.end, place.field.bits(), value);
        }
    }

    fn encode_in_full(&self, i: u32, xid: u32, out: &mut Vec<u8>) -> Result<(), FlowEncodeError> {
        let message = self.message(xid, |field| self.value(field, i))?;
        encode(&message, self.version, out).map_err(FlowEncodeError::Encode)
    }

    fn message(&self, xid: u32, value: impl Fn(Field) -> Option<u128>) -> Result<Message, FlowEncodeError> {
        Ok(Message { xid, body: Body::FlowMod(self.flow_mod_of(value)?) })
    }

    fn flow_mod_of(&self, value: impl Fn(Field) -> Option<u128>) -> Result<FlowMod, FlowEncodeError> {
        let mut match_ = self.flow.match_.clone();
        for &field in self.fields.iter().filter(|f| self.flow.match_.entry(**f).is_none()) {
            let value = value(field).ok_or(FlowEncodeError::NoValue { field })?;
            match_ = match_.with(field, value);
        }
        let match_: Match = match_.with_prerequisites(|f| self.value(f, 0));
        match_.check().map_err(FlowEncodeError::Match)?;
        Ok(FlowMod { match_, ..self.flow.clone() })
    }

    /// The value of a field in flow `i`: the set's own, or one of its default headers.
    fn value(&self, field: Field, i: u32) -> Option<u128> {
        self.flows.value(field, i).or_else(|| self.flows.flow(i).get(field))
    }

    /// Where each field that varies stands; `None` if it can't be found.
    fn find_places(&self, first: &[u8]) -> Option<Vec<Place>> {
        let varies = |f: &&Field| {
            let value = |i| self.flows.value(**f, i);
            self.flow.match_.entry(**f).is_none() && (1..self.len().min(64)).any(|i| value(i) != value(0))
                || self
                    .flows
                    .patterns()
                    .iter()
                    .any(|(p, pattern)| p == *f && !matches!(pattern, Pattern::Fixed(_)))
        };
        self.fields.iter().filter(varies).map(|&field| self.find_place(field, first)).collect()
    }

    fn find_place(&self, field: Field, first: &[u8]) -> Option<Place> {
        let flipped = |f: Field| {
            let value = self.value(f, 0)?;
            Some(if f == field { value ^ 1 } else { value })
        };
        let message = self.message(0, flipped).ok()?;
        let mut changed = Vec::new();
        encode(&message, self.version, &mut changed).ok()?;
        if changed.len() != first.len() {
            return None;
        }
        let mut different = (0..first.len()).filter(|&at| first[at] != changed[at]);
        let (at, None) = (different.next()?, different.next()) else { return None };
        let bit = first[at] ^ changed[at];
        (bit.count_ones() == 1).then(|| Place { field, end: at * 8 + 8 - bit.trailing_zeros() as usize })
    }

    /// Whether patched messages equal encoded ones: the first, the last, and some between.
    fn patches_rightly(&self) -> bool {
        let Some(places) = &self.places else { return false };
        let samples = (0..=16u64).map(|n| (n * u64::from(self.len() - 1) / 16) as u32);
        samples.into_iter().all(|i| {
            let (mut patched, mut encoded) = (Vec::new(), Vec::new());
            self.patch(places, i, 7, &mut patched);
            self.encode_in_full(i, 7, &mut encoded).is_ok() && patched == encoded
        })
    }
}

/// Why the FLOW_MODs of a set can't be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlowEncodeError {
    /// The flow set has no value for a field that was to be matched.
    #[error("the flow set has no {field} to match")]
    NoValue {
        /// The field.
        field: Field,
    },
    /// The match would be refused by any switch.
    #[error("the match is not sound: {0}")]
    Match(MatchError),
    /// The version can't express the message.
    #[error(transparent)]
    Encode(EncodeError),
}

/// Writes the low `bits` bits of `value` into `bytes` so that the lowest stands right before bit `end`.
fn write_bits(bytes: &mut [u8], end: usize, bits: u32, value: u128) {
    let (mut end, mut bits, mut value) = (end, bits as usize, value);
    while bits > 0 {
        let (at, in_byte) = ((end - 1) / 8, (end - 1) % 8 + 1);
        let take = in_byte.min(bits);
        let shift = 8 - in_byte;
        let mask = (0xffu8 >> (8 - take)) << shift;
        bytes[at] = bytes[at] & !mask | (((value as u8) << shift) & mask);
        value >>= take;
        bits -= take;
        end -= take;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, PortNo};

    fn flows(count: u32) -> FlowSet {
        let dst = Pattern::Increment { start: 0x0a00_0001, step: 1, mask: 0xff_ffff };
        let vlan = Pattern::Fixed(0);
        let port = Pattern::Random { base: 0, mask: 0xffff, seed: 3 };
        FlowSet::new(count, vec![(Field::Ipv4Dst, dst), (Field::UdpDst, port), (Field::VlanVid, vlan)])
            .unwrap()
    }

    fn encoder(count: u32, version: Version) -> FlowEncoder {
        let flow = FlowMod::add(9, Match::any().with(Field::InPort, 1), vec![Action::output(PortNo(2))]);
        FlowEncoder::new(flow, flows(count), &[Field::Ipv4Dst, Field::UdpDst, Field::VlanVid], version)
            .unwrap()
    }

    #[test]
    fn patched_messages_equal_encoded_ones_in_each_version() {
        for version in [Version::V1_0, Version::V1_3] {
            let encoder = encoder(1000, version);
            assert!(encoder.places.is_some(), "{version:?} can be patched");
            for i in 0..1000 {
                let (mut patched, mut encoded) = (Vec::new(), Vec::new());
                encoder.encode(i, i, &mut patched);
                encoder.encode_in_full(i, i, &mut encoded).unwrap();
                assert_eq!(patched, encoded);
            }
        }
    }

    #[test]
    fn a_field_that_changes_its_form_is_encoded_in_full() {
        let vlan = Pattern::List(vec![0x1005, 0x1006]);
        let set = FlowSet::new(2, vec![(Field::VlanVid, vlan)]).unwrap();
        let encoder = FlowEncoder::new(FlowMod::default(), set, &[Field::VlanVid], Version::V1_0).unwrap();
        let mut out = Vec::new();
        encoder.encode(1, 5, &mut out);
        let (_, message) = crate::decode(&out).unwrap();
        let crate::Body::FlowMod(flow) = message.body else { panic!("a FLOW_MOD") };
        assert_eq!(flow.match_.get(Field::VlanVid), Some(0x1006));
    }

    #[test]
    fn a_field_that_the_set_lacks_is_named() {
        let error = FlowEncoder::new(FlowMod::default(), flows(1), &[Field::TcpDst], Version::V1_3);
        assert_eq!(error.unwrap_err(), FlowEncodeError::NoValue { field: Field::TcpDst });
    }

    #[test]
    fn bits_land_where_a_naive_loop_puts_them() {
        for end in 1..=40 {
            for bits in 1..=end.min(24) {
                let (mut fast, mut naive) = (vec![0xa5; 5], vec![0xa5u8; 5]);
                let value = 0x00c3_5a96u128;
                write_bits(&mut fast, end, bits as u32, value);
                for k in 0..bits {
                    let (at, mask) = ((end - 1 - k) / 8, 0x80 >> ((end - 1 - k) % 8));
                    naive[at] = if value >> k & 1 == 1 { naive[at] | mask } else { naive[at] & !mask };
                }
                assert_eq!(fast, naive, "end {end} bits {bits}");
            }
        }
    }
}
