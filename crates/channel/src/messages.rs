//! The same requests in terms of messages instead of bytes.

use std::time::Duration;

use flowgauge_clock::Nanos;
use flowgauge_openflow::{Body, Features, Message, Version, decode, encode};

use crate::connection::Connection;
use crate::error::{ChannelError, version_name};

impl Connection {
    /// The version agreed on.
    ///
    /// # Errors
    /// [`ChannelError::Encode`] when it is one that has no model (1.1, 1.2).
    pub fn protocol(&self) -> Result<Version, ChannelError> {
        Version::from_wire(self.version()).ok_or_else(|| {
            ChannelError::Encode(format!("OpenFlow {} has no codec", version_name(self.version())))
        })
    }

    /// What the switch said of itself when it connected.
    ///
    /// # Errors
    /// [`ChannelError::Decode`] when that is malformed, or on the switch's side, where there is none.
    pub fn switch_features(&self) -> Result<Features, ChannelError> {
        match read(self.features())?.body {
            Body::FeaturesReply(features) => Ok(features),
            other => Err(ChannelError::Decode(format!("expected FEATURES_REPLY, found {:?}", other.kind()))),
        }
    }

    /// Queues a message as it is, transaction id included: for replies, and for what is not replied to.
    ///
    /// # Errors
    /// [`ChannelError::Encode`] when the version can't say it; why the connection has ended.
    pub fn send(&self, message: &Message) -> Result<(), ChannelError> {
        self.send_raw(&self.bytes(message)?)
    }

    /// Sends a request under a new transaction id and waits for its reply, all parts of it.
    ///
    /// # Errors
    /// As [`Connection::transact_raw`]; [`ChannelError::Encode`], [`ChannelError::Decode`].
    pub fn transact(&self, request: Body, timeout: Duration) -> Result<Vec<Message>, ChannelError> {
        let bytes = self.bytes(&Message::new(self.reserve_xids(1), request))?;
        self.transact_raw(&bytes, timeout)?.iter().map(|reply| read(&reply.frame)).collect()
    }

    /// Sends messages that have no reply, then a barrier, and waits for it: see [`Connection::apply_raw`].
    ///
    /// # Errors
    /// As [`Connection::apply_raw`]; [`ChannelError::Encode`], before anything is sent.
    pub fn apply(&self, bodies: Vec<Body>, timeout: Duration) -> Result<Nanos, ChannelError> {
        let encoded = bodies.into_iter().map(|body| self.bytes(&Message::new(0, body)));
        let mut messages = encoded.collect::<Result<Vec<_>, _>>()?;
        self.apply_raw(&mut messages, timeout)
    }

    fn bytes(&self, message: &Message) -> Result<Vec<u8>, ChannelError> {
        let mut bytes = Vec::new();
        encode(message, self.protocol()?, &mut bytes).map_err(|e| ChannelError::Encode(e.to_string()))?;
        Ok(bytes)
    }
}

fn read(frame: &[u8]) -> Result<Message, ChannelError> {
    decode(frame).map(|(_, message)| message).map_err(|e| ChannelError::Decode(e.to_string()))
}
