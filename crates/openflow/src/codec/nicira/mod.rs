//! Nicira's extensions: experimenter actions, messages and statistics, and the NXM names of fields.
//!
//! What can't be read as one of them stays an experimenter's, byte for byte: an extension that nobody here knows, or
//! that says more than the model has room for, is not lost. So reading never fails.
//!
//! ```text
//! action   type 0xffff 16 | length 16 | 0x00002320 32 | subtype 16 | arguments, padded to a multiple of 8 bytes
//! message  header | 0x00002320 32 | subtype 32 | content
//! ```

mod controller;
mod field;
mod learn;
mod load_balance;
mod message;
mod nxm;
mod packet_in;
mod property;
mod read_action;
mod statistics;
mod subtype;
mod write_action;

pub(crate) use field::field_of as nxm_field;
pub(crate) use message::{read_message, table_byte, write_message, write_role};
pub(crate) use nxm::{add_raw, read_fields, read_set_field, write_fields};
pub(crate) use read_action::read_action;
pub(crate) use statistics::{read_reply, read_request, write_aggregate, write_reply, write_request};
pub(crate) use write_action::{write_action, write_native};

use super::error::{DecodeError, EncodeError};
use super::reader::Reader;
use super::writer::Writer;
