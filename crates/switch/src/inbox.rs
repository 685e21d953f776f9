//! Requests of one controller, taken a few at a time and in order.

use flowgauge_channel::{ChannelError, Connection, Log, Position};

/// The receiving side of a connection to a controller.
pub struct Inbox {
    connection: Connection,
    log: Log,
    at: Position,
}

impl Inbox {
    pub fn new(connection: Connection) -> Inbox {
        Inbox { connection, log: Log::new(), at: Position::default() }
    }

    /// The next request, if there is one.
    pub fn next(&mut self) -> Option<&[u8]> {
        // Looked up twice because of what the borrow checker can't see: a found message ends the function.
        let mut peek = self.at;
        if self.log.next(&mut peek).is_none() {
            self.at = Position::default();
            if self.connection.poll_log(&mut self.log) == 0 {
                return None;
            }
        }
        self.log.next(&mut self.at).map(|received| received.frame)
    }

    /// Why the connection has ended, if it has.
    pub fn ended(&self) -> Option<ChannelError> {
        self.connection.ended()
    }
}
