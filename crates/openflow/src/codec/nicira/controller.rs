//! The action that sends to one of the controllers: of fixed form, or with properties.

use super::subtype::{CONTROLLER, CONTROLLER2};
use super::write_action::write as write_head;
use super::{DecodeError, EncodeError, Reader, Writer};
use crate::model::SendToController;

const MAX_LEN: u16 = 0;
const CONTROLLER_ID: u16 = 1;
const REASON: u16 = 2;
const USERDATA: u16 = 3;
const PAUSE: u16 = 4;
const METER_ID: u16 = 5;

pub(super) fn read(r: &mut Reader) -> Result<SendToController, DecodeError> {
    let (max_len, controller_id) = (r.u16("max_len")?, r.u16("controller_id")?);
    Ok(SendToController { max_len, controller_id, reason: r.u8("reason")?, ..SendToController::default() })
}

/// `None` if there is a property that is not known here.
pub(super) fn read_properties(r: &mut Reader) -> Result<Option<SendToController>, DecodeError> {
    let mut to = SendToController::default();
    r.skip(6)?;
    while !r.is_empty() {
        let (property, mut content) = super::property::read_property(r)?;
        match property {
            MAX_LEN => to.max_len = content.u16("max_len")?,
            CONTROLLER_ID => to.controller_id = content.u16("controller_id")?,
            REASON => to.reason = content.u8("reason")?,
            USERDATA => to.userdata = content.rest().to_vec(),
            PAUSE => to.pause = true,
            METER_ID => to.meter_id = Some(content.u32("meter_id")?),
            _ => return Ok(None),
        }
        if !content.is_empty() {
            return Ok(None);
        }
    }
    Ok(Some(to).filter(|to| !is_plain(to)))
}

/// Whether the action of fixed form can say it.
fn is_plain(to: &SendToController) -> bool {
    to.userdata.is_empty() && !to.pause && to.meter_id.is_none()
}

pub(super) fn write(to: &SendToController, w: &mut Writer) -> Result<(), EncodeError> {
    if is_plain(to) {
        return write_head(CONTROLLER, w, |w| {
            w.u16(to.max_len);
            w.u16(to.controller_id);
            w.u8(to.reason);
            Ok(())
        });
    }
    let default = SendToController::default();
    write_head(CONTROLLER2, w, |w| {
        w.zeros(6);
        if to.max_len != default.max_len {
            property(MAX_LEN, &to.max_len.to_be_bytes(), w);
        }
        if to.controller_id != default.controller_id {
            property(CONTROLLER_ID, &to.controller_id.to_be_bytes(), w);
        }
        if to.reason != default.reason {
            property(REASON, &[to.reason], w);
        }
        if !to.userdata.is_empty() {
            property(USERDATA, &to.userdata, w);
        }
        if to.pause {
            property(PAUSE, &[], w);
        }
        to.meter_id.into_iter().for_each(|meter| property(METER_ID, &meter.to_be_bytes(), w));
        Ok(())
    })
}

fn property(property_type: u16, content: &[u8], w: &mut Writer) {
    super::property::write_property(property_type, w, |w| w.bytes(content));
}
