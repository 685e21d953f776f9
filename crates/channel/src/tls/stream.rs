//! One TLS connection over a non-blocking socket.
//!
//! What is written counts as taken once it is encrypted; as long as ciphertext waits for the kernel nothing more is taken, so
//! that what we hold stays at a few records. Positions and acknowledgements are told in bytes of plain text, as without TLS:
//! *marks* say where in the ciphertext each write ended.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read as _, Write as _};
use std::sync::Arc;

use rustls::Connection;

use super::{TlsFiles, words};
use crate::certificate::Certificate;
use crate::error::{ChannelError, broken};
use crate::tcp::{Read, Tcp};

/// Reads of the socket in one call, so that records without contents can't keep us.
const PASSES: usize = 8;
/// Marks kept; more of them merge.
const MARKS: usize = 4096;

/// Up to `cipher` bytes of the socket's stream carry `plain` bytes of ours.
#[derive(Clone, Copy)]
struct Mark {
    cipher: u64,
    plain: u64,
}

/// One TLS connection.
pub struct TlsStream {
    connection: Connection,
    files: Arc<TlsFiles>,
    /// Whether nothing has been read yet.
    is_new: bool,
    written: u64,
    marks: VecDeque<Mark>,
    acknowledged: u64,
}

impl TlsStream {
    pub(super) fn new(connection: Connection, files: Arc<TlsFiles>) -> TlsStream {
        TlsStream { connection, files, is_new: true, written: 0, marks: VecDeque::new(), acknowledged: 0 }
    }

    /// Whether the handshake is still under way.
    pub fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Bytes taken.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// The peer's name by its certificate.
    pub fn peer_name(&self) -> Option<String> {
        let leaf = self.connection.peer_certificates()?.first()?;
        Certificate::parse(leaf)?.common_name()
    }

    /// Reads what is there. Without a stamp: the kernel knows when records came, not what they held.
    pub fn read(&mut self, tcp: &mut Tcp, room: &mut [u8]) -> Result<Read, ChannelError> {
        for _ in 0..PASSES {
            match self.connection.reader().read(room) {
                Ok(0) => return Ok(Read::End),
                Ok(n) => return Ok(Read::Bytes(n, None)),
                Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                // It ended TCP without saying so in TLS first, as many do.
                Err(_) => return Ok(Read::End),
            }
            if !self.look_at_start(tcp)? {
                return Ok(Read::Empty);
            }
            match self.connection.read_tls(&mut tcp.stream()) {
                Ok(0) if self.is_handshaking() => return Err(words::cut_off()),
                Ok(_) => self.process(tcp)?,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(Read::Empty),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(broken(&e)),
            }
        }
        Ok(Read::Bytes(0, None))
    }

    fn process(&mut self, tcp: &mut Tcp) -> Result<(), ChannelError> {
        if let Err(error) = self.connection.process_new_packets() {
            // The alert that tells the peer why.
            let _ = self.flush(tcp);
            return Err(words::failed(&error, &self.files));
        }
        self.flush(tcp).map(|_| ())
    }

    /// Before the first byte is taken: is it TLS at all? `false` while there is none.
    fn look_at_start(&mut self, tcp: &Tcp) -> Result<bool, ChannelError> {
        if !self.is_new {
            return Ok(true);
        }
        let mut start = [0; 8];
        match tcp.stream().peek(&mut start) {
            // The end of the stream: reading tells.
            Ok(0) => Ok(true),
            Ok(n) if words::speaks_tls(&start[..n]) => {
                self.is_new = false;
                Ok(true)
            }
            Ok(1) if words::speaks_tls(&[start[0], 3]) => Ok(false),
            Ok(n) => Err(words::plain_peer(&start[..n])),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(false),
            Err(e) => Err(broken(&e)),
        }
    }

    /// Takes as many bytes as can leave soon; 0 while earlier ones wait.
    pub fn write(&mut self, tcp: &mut Tcp, bytes: &[u8]) -> Result<usize, ChannelError> {
        let mut taken = 0;
        while taken < bytes.len() && self.flush(tcp)? {
            match self.connection.writer().write(&bytes[taken..]) {
                Ok(0) => break,
                Ok(n) => taken += n,
                Err(e) => return Err(broken(&e)),
            }
        }
        self.written += taken as u64;
        self.flush(tcp)?;
        Ok(taken)
    }

    /// Hands waiting ciphertext to the kernel; whether all is gone.
    pub fn flush(&mut self, tcp: &mut Tcp) -> Result<bool, ChannelError> {
        while self.connection.wants_write() {
            match self.connection.write_tls(tcp) {
                Ok(_) => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(e) => return Err(broken(&e)),
            }
        }
        if !self.is_handshaking() && self.marks.back().is_none_or(|last| last.plain < self.written) {
            if self.marks.len() == MARKS {
                self.marks.pop_back();
            }
            self.marks.push_back(Mark { cipher: tcp.written(), plain: self.written });
        }
        Ok(true)
    }

    /// Of the bytes written, those that the peer's TCP has acknowledged: whole writes.
    pub fn acknowledged(&mut self, tcp: &Tcp) -> u64 {
        let cipher = tcp.acknowledged();
        while let Some(mark) = self.marks.front().filter(|mark| mark.cipher <= cipher) {
            self.acknowledged = mark.plain;
            self.marks.pop_front();
        }
        self.acknowledged
    }

    /// Tells the peer that we will send no more.
    pub fn close(&mut self, tcp: &mut Tcp) {
        self.connection.send_close_notify();
        // Best effort: the peer also sees the end of TCP.
        let _ = self.flush(tcp);
    }
}
