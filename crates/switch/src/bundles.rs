//! Bundles of one connection: requests that wait to take effect together (1.4.1, 6.9). The rules alone; what
//! the requests do is done elsewhere.

use flowgauge_openflow::{Body, BundleAdd, BundleControl, BundleFlags, ErrorCode, Header};
use std::collections::HashMap;

/// Bundles that a connection may have at a time.
const BUNDLES: usize = 64;
/// Messages in all of a connection's bundles.
const MESSAGES: usize = 1 << 20;
/// Bytes of a message that are quoted if it fails.
const QUOTE: usize = 64;

/// A request that waits.
#[derive(Debug)]
pub struct Stored {
    /// Its transaction id.
    pub xid: u32,
    /// What it says.
    pub body: Body,
    /// Its first bytes.
    pub quote: Vec<u8>,
}

/// Requests that take effect together.
#[derive(Debug)]
pub struct Bundle {
    flags: BundleFlags,
    is_closed: bool,
    /// In their order.
    pub requests: Vec<Stored>,
}

/// The bundles of one connection.
#[derive(Debug, Default)]
pub struct Bundles {
    open: HashMap<u32, Bundle>,
    messages: usize,
}

impl Bundles {
    /// Opens a bundle. One that is there already is discarded.
    ///
    /// # Errors
    /// It was there; flags that we can't do; too many bundles.
    pub fn open(&mut self, request: &BundleControl) -> Result<(), ErrorCode> {
        if self.remove(request.bundle_id).is_some() {
            return Err(ErrorCode::BundleExists);
        }
        self.create(request.bundle_id, request.flags)
    }

    fn create(&mut self, bundle_id: u32, flags: BundleFlags) -> Result<(), ErrorCode> {
        check_flags(flags)?;
        if self.open.len() >= BUNDLES {
            return Err(ErrorCode::BundleOutOfBundles);
        }
        self.open.insert(bundle_id, Bundle { flags, is_closed: false, requests: Vec::new() });
        Ok(())
    }

    /// Adds a message, whose bytes `inner` begins with; opens the bundle if it isn't there.
    ///
    /// # Errors
    /// The bundle is closed or has other flags; the message may not be in a bundle, or has another xid.
    pub fn add(&mut self, xid: u32, request: BundleAdd, inner: &[u8]) -> Result<(), ErrorCode> {
        if !self.open.contains_key(&request.bundle_id) {
            self.create(request.bundle_id, request.flags)?;
        }
        let bundle = self.open.get_mut(&request.bundle_id).expect("just seen");
        if bundle.is_closed {
            return Err(ErrorCode::BundleClosed);
        }
        if bundle.flags != request.flags {
            return Err(ErrorCode::BundleBadFlags);
        }
        let message = *request.message;
        if message.xid != xid {
            return Err(ErrorCode::BundleMessageBadXid);
        }
        if !may_be_bundled(&message.body) {
            return Err(ErrorCode::BundleMessageUnsupported);
        }
        if self.messages >= MESSAGES {
            return Err(ErrorCode::BundleTooMany);
        }
        self.messages += 1;
        let length = Header::parse(inner).map_or(0, |h| usize::from(h.length)).min(inner.len());
        let quote = inner[..length.min(QUOTE)].to_vec();
        bundle.requests.push(Stored { xid, body: message.body, quote });
        Ok(())
    }

    /// Closes a bundle: no more is added to it.
    ///
    /// # Errors
    /// It isn't there, is closed, or has other flags.
    pub fn close(&mut self, request: &BundleControl) -> Result<(), ErrorCode> {
        let bundle = self.open.get_mut(&request.bundle_id).ok_or(ErrorCode::BundleBadId)?;
        if bundle.is_closed {
            return Err(ErrorCode::BundleClosed);
        }
        if bundle.flags != request.flags {
            self.remove(request.bundle_id);
            return Err(ErrorCode::BundleBadFlags);
        }
        bundle.is_closed = true;
        Ok(())
    }

    /// Takes a bundle out to carry it out.
    ///
    /// # Errors
    /// It isn't there, or has other flags (and is gone then).
    pub fn take(&mut self, request: &BundleControl) -> Result<Bundle, ErrorCode> {
        let bundle = self.remove(request.bundle_id).ok_or(ErrorCode::BundleBadId)?;
        if bundle.flags == request.flags { Ok(bundle) } else { Err(ErrorCode::BundleBadFlags) }
    }

    /// Forgets a bundle.
    ///
    /// # Errors
    /// It isn't there.
    pub fn discard(&mut self, request: &BundleControl) -> Result<(), ErrorCode> {
        self.remove(request.bundle_id).map(|_| ()).ok_or(ErrorCode::BundleBadId)
    }

    fn remove(&mut self, bundle_id: u32) -> Option<Bundle> {
        let bundle = self.open.remove(&bundle_id)?;
        self.messages -= bundle.requests.len();
        Some(bundle)
    }
}

/// We do everything in order and at once, so each of these can be had; there are no schedules.
fn check_flags(flags: BundleFlags) -> Result<(), ErrorCode> {
    let known = BundleFlags::ATOMIC | BundleFlags::ORDERED;
    if flags.contains(BundleFlags::TIME) {
        Err(ErrorCode::BundleScheduleUnsupported)
    } else if flags.0 & !known.0 != 0 {
        Err(ErrorCode::BundleBadFlags)
    } else {
        Ok(())
    }
}

/// Whether a bundle may hold the message: whatever changes the switch, but no bundle.
fn may_be_bundled(body: &Body) -> bool {
    matches!(
        body,
        Body::FlowMod(_)
            | Body::GroupMod(_)
            | Body::MeterMod(_)
            | Body::PortMod(_)
            | Body::TableMod(_)
            | Body::PacketOut(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowgauge_openflow::{BundleControlType, FlowMod, Message};

    const ORDERED: BundleFlags = BundleFlags::ORDERED;

    fn control(bundle_id: u32, flags: BundleFlags) -> BundleControl {
        BundleControl::new(bundle_id, BundleControlType::OpenRequest, flags)
    }

    fn flow(bundle_id: u32, xid: u32) -> BundleAdd {
        BundleAdd::new(bundle_id, ORDERED, Message::new(xid, Body::FlowMod(FlowMod::default())))
    }

    #[test]
    fn the_rules_of_the_specification() {
        let mut bundles = Bundles::default();
        assert_eq!(bundles.open(&control(1, ORDERED)), Ok(()));
        assert_eq!(bundles.add(5, flow(1, 5), &[]), Ok(()));
        assert_eq!(bundles.add(5, flow(1, 6), &[]), Err(ErrorCode::BundleMessageBadXid));
        let echo = BundleAdd::new(1, ORDERED, Message::new(5, Body::EchoRequest(vec![])));
        assert_eq!(bundles.add(5, echo, &[]), Err(ErrorCode::BundleMessageUnsupported));
        let other = BundleAdd { flags: BundleFlags::ATOMIC, ..flow(1, 5) };
        assert_eq!(bundles.add(5, other, &[]), Err(ErrorCode::BundleBadFlags));
        assert_eq!(bundles.close(&control(1, ORDERED)), Ok(()));
        assert_eq!(bundles.close(&control(1, ORDERED)), Err(ErrorCode::BundleClosed));
        assert_eq!(bundles.add(5, flow(1, 5), &[]), Err(ErrorCode::BundleClosed));
        assert_eq!(bundles.take(&control(1, ORDERED)).unwrap().requests.len(), 1);
        assert_eq!(bundles.take(&control(1, ORDERED)).unwrap_err(), ErrorCode::BundleBadId);
    }

    #[test]
    fn a_bundle_that_is_opened_twice_is_gone() {
        let mut bundles = Bundles::default();
        assert_eq!(bundles.open(&control(1, ORDERED)), Ok(()));
        assert_eq!(bundles.open(&control(1, ORDERED)), Err(ErrorCode::BundleExists));
        assert_eq!(bundles.discard(&control(1, ORDERED)), Err(ErrorCode::BundleBadId));
        assert_eq!(bundles.add(5, flow(2, 5), &[]), Ok(()), "opened by its first message");
        assert_eq!(bundles.discard(&control(2, ORDERED)), Ok(()));
        assert_eq!(bundles.messages, 0);
        assert_eq!(bundles.open(&control(3, BundleFlags(8))), Err(ErrorCode::BundleBadFlags));
        for id in 0..BUNDLES as u32 {
            assert_eq!(bundles.open(&control(id, ORDERED)), Ok(()));
        }
        assert_eq!(bundles.open(&control(999, ORDERED)), Err(ErrorCode::BundleOutOfBundles));
    }
}
