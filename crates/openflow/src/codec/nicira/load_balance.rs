//! Actions that choose by a hash: multipath and bundle.

use super::field::{self, from_ofs_nbits, ofs_nbits};
use super::subtype::{BUNDLE, BUNDLE_LOAD, MULTIPATH};
use super::write_action::write as write_head;
use super::{DecodeError, EncodeError, Reader, Writer};
use crate::codec::wire::{Port16, Wire};
use crate::model::{Bundle, BundleChoice, HashFields, LinkChoice, Multipath, NxField, Subfield};

pub(super) fn read_multipath(r: &mut Reader) -> Result<Multipath, DecodeError> {
    let (fields, basis) = (HashFields::from_code(r.u16("fields")?), r.u16("basis")?);
    r.skip(2)?;
    let choice = LinkChoice::from_code(r.u16("algorithm")?);
    let (links, argument) = (u32::from(r.u16("max_link")?) + 1, r.u32("arg")?);
    r.skip(2)?;
    let bits = r.u16("bits")?;
    let to = from_ofs_nbits(field::field_of(r.u32("field")?), bits);
    Ok(Multipath { fields, basis, choice, links, argument, to })
}

pub(super) fn write_multipath(multipath: &Multipath, w: &mut Writer) -> Result<(), EncodeError> {
    let links = multipath.links;
    write_head(MULTIPATH, w, |w| {
        w.u16(multipath.fields.code());
        w.u16(multipath.basis);
        w.zeros(2);
        w.u16(multipath.choice.code());
        let max_link = links.checked_sub(1).and_then(|n| u16::try_from(n).ok());
        w.u16(max_link.ok_or_else(|| w.out_of_range("links of multipath", links.into()))?);
        w.u32(multipath.argument);
        w.zeros(2);
        w.u16(ofs_nbits(multipath.to, w)?);
        field::write(multipath.to.field, w)
    })
}

/// `None` if its members are not ports.
pub(super) fn read_bundle(subtype: u16, r: &mut Reader) -> Result<Option<Bundle>, DecodeError> {
    let choice = BundleChoice::from_code(r.u16("algorithm")?);
    let (fields, basis) = (HashFields::from_code(r.u16("fields")?), r.u16("basis")?);
    if field::field_of(r.u32("slave_type")?) != NxField::InPort16 {
        return Ok(None);
    }
    let (count, bits) = (r.u16("n_slaves")?, r.u16("bits")?);
    let header = r.u32("field")?;
    let to = (subtype == BUNDLE_LOAD).then(|| from_ofs_nbits(field::field_of(header), bits));
    r.skip(4)?;
    let members = (0..count).map(|_| Port16::read(r, "slave")).collect::<Result<_, _>>()?;
    Ok(Some(Bundle { fields, basis, choice, members, to }))
}

pub(super) fn write_bundle(bundle: &Bundle, w: &mut Writer) -> Result<(), EncodeError> {
    let subtype = if bundle.to.is_some() { BUNDLE_LOAD } else { BUNDLE };
    write_head(subtype, w, |w| {
        w.u16(bundle.choice.code());
        w.u16(bundle.fields.code());
        w.u16(bundle.basis);
        field::write(NxField::InPort16, w)?;
        w.u16(bundle.members.len() as u16);
        w.u16(bundle.to.map_or(Ok(0), |to: Subfield| ofs_nbits(to, w))?);
        match bundle.to {
            Some(to) => field::write(to.field, w)?,
            None => w.zeros(4),
        }
        w.zeros(4);
        bundle.members.iter().try_for_each(|port| Port16::write(port, "bundle", w))
    })
}
