//! What a connection's bytes travel through: TCP, or TLS over it.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, RawFd};

use crate::error::{ChannelError, broken};
use crate::tcp::{Read, Tcp};
use crate::tls::TlsStream;

/// A connected socket. Counts and positions are those of our own bytes, with TLS or without.
pub struct Socket {
    tcp: Tcp,
    tls: Option<Box<TlsStream>>,
}

impl Socket {
    /// Takes over a connected stream: non-blocking, without Nagle's delay, with receive stamps.
    pub fn new(stream: TcpStream, tls: Option<TlsStream>) -> io::Result<Socket> {
        Ok(Socket { tcp: Tcp::new(stream)?, tls: tls.map(Box::new) })
    }

    /// The peer's address.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.tcp.peer()
    }

    /// The peer's name by its certificate.
    pub fn peer_name(&self) -> Option<String> {
        self.tls.as_ref()?.peer_name()
    }

    /// Whether TLS is not established yet.
    pub fn is_handshaking(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_handshaking())
    }

    /// Reads what is there.
    #[inline]
    pub fn read(&mut self, room: &mut [u8]) -> Result<Read, ChannelError> {
        match &mut self.tls {
            None => self.tcp.read(room).map_err(|e| broken(&e)),
            Some(tls) => tls.read(&mut self.tcp, room),
        }
    }

    /// Hands bytes over; fewer than all, or 0, when the kernel takes no more now.
    #[inline]
    pub fn write(&mut self, bytes: &[u8]) -> Result<usize, ChannelError> {
        match &mut self.tls {
            None => self.tcp.write(bytes).map_err(|e| broken(&e)),
            Some(tls) => tls.write(&mut self.tcp, bytes),
        }
    }

    /// Hands over what was written and still waits here (with TLS); whether all is gone.
    #[inline]
    pub fn flush(&mut self) -> Result<bool, ChannelError> {
        match &mut self.tls {
            None => Ok(true),
            Some(tls) => tls.flush(&mut self.tcp),
        }
    }

    /// Tells the peer that we will send no more.
    pub fn shutdown_write(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.close(&mut self.tcp);
        }
        self.tcp.shutdown_write();
    }

    /// Last words were said: makes it likely that the peer hears them. (A socket that is closed with unread bytes resets the
    /// connection, and the peer loses what it has not read yet.)
    pub fn part(&mut self) {
        self.shutdown_write();
        let mut unread = [0; 4096];
        for _ in 0..16 {
            if !matches!(self.tcp.read(&mut unread), Ok(Read::Bytes(..))) {
                return;
            }
        }
    }

    /// Bytes handed over since the connection began.
    pub fn written(&self) -> u64 {
        match &self.tls {
            None => self.tcp.written(),
            Some(tls) => tls.written(),
        }
    }

    /// Of those, bytes that the peer's TCP has acknowledged.
    pub fn acknowledged(&mut self) -> u64 {
        match &mut self.tls {
            None => self.tcp.acknowledged(),
            Some(tls) => tls.acknowledged(&self.tcp),
        }
    }
}

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        self.tcp.as_raw_fd()
    }
}
