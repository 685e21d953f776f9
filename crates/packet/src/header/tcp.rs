//! TCP (RFC 9293, 3.1).

use super::error::{split, split_at};
use super::{Header, HeaderError, Options};
use crate::bytes::{be16, be32};
use crate::checksum::Sum;

/// A view of a TCP header and what follows it.
#[derive(Clone, Copy, Debug)]
pub struct TcpView<'a> {
    header: &'a [u8; 20],
    whole: &'a [u8],
    payload: &'a [u8],
}

impl<'a> TcpView<'a> {
    /// The header at the start of `bytes`. Errors: cut off, a data offset below 5 words.
    pub fn new_checked(bytes: &'a [u8]) -> Result<TcpView<'a>, HeaderError> {
        let (header, _) = split("tcp", bytes)?;
        let header_len = usize::from(header[12] >> 4) * 4;
        if header_len < 20 {
            let found = header[12].into();
            let expected = "a header of at least 5 words";
            return Err(HeaderError::Malformed { header: "tcp", offset: 12, expected, found });
        }
        let (whole, payload) = split_at("tcp", bytes, header_len)?;
        Ok(TcpView { header, whole, payload })
    }

    /// Source port.
    pub fn src(&self) -> u16 {
        be16(self.header, 0)
    }

    /// Destination port.
    pub fn dst(&self) -> u16 {
        be16(self.header, 2)
    }

    /// Sequence number.
    pub fn seq(&self) -> u32 {
        be32(self.header, 4)
    }

    /// Acknowledgement number.
    pub fn ack(&self) -> u32 {
        be32(self.header, 8)
    }

    /// Flags, 12 bits: the four reserved ones on top, FIN lowest.
    pub fn flags(&self) -> u16 {
        be16(self.header, 12) & 0x0fff
    }

    /// Window.
    pub fn window(&self) -> u16 {
        be16(self.header, 14)
    }

    /// Checksum.
    pub fn checksum(&self) -> u16 {
        be16(self.header, 16)
    }

    /// Urgent pointer.
    pub fn urgent(&self) -> u16 {
        be16(self.header, 18)
    }

    /// Options.
    pub fn options(&self) -> &'a [u8] {
        self.whole.get(20..).unwrap_or_default()
    }

    /// What follows.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Whether the checksum is right, given IP's pseudo header.
    pub fn verifies(&self, pseudo: Sum) -> bool {
        pseudo.bytes(self.whole).bytes(self.payload).verifies()
    }
}

/// A TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tcp {
    /// Source port.
    pub src: u16,
    /// Destination port.
    pub dst: u16,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Flags, 12 bits: the four reserved ones on top, FIN lowest.
    pub flags: u16,
    /// Window.
    pub window: u16,
    /// Checksum.
    pub checksum: u16,
    /// Urgent pointer.
    pub urgent: u16,
    /// Options.
    pub options: Options,
}

impl Tcp {
    /// With the checksum over a payload of that sum, given IP's pseudo header.
    #[must_use]
    pub fn filled(mut self, pseudo: Sum, payload: Sum) -> Tcp {
        self.checksum = 0;
        let mut buf = [0; 60];
        self.emit(&mut buf);
        self.checksum = pseudo.bytes(&buf).sum(payload).checksum();
        self
    }
}

impl Header for Tcp {
    fn parse(bytes: &[u8]) -> Result<Tcp, HeaderError> {
        let view = TcpView::new_checked(bytes)?;
        Ok(Tcp {
            src: view.src(),
            dst: view.dst(),
            seq: view.seq(),
            ack: view.ack(),
            flags: view.flags(),
            window: view.window(),
            checksum: view.checksum(),
            urgent: view.urgent(),
            options: Options::new(view.options()).unwrap_or_default(),
        })
    }

    fn buffer_len(&self) -> usize {
        20 + self.options.as_bytes().len()
    }

    fn emit(&self, buf: &mut [u8]) {
        let len = self.buffer_len();
        buf[0..2].copy_from_slice(&self.src.to_be_bytes());
        buf[2..4].copy_from_slice(&self.dst.to_be_bytes());
        buf[4..8].copy_from_slice(&self.seq.to_be_bytes());
        buf[8..12].copy_from_slice(&self.ack.to_be_bytes());
        let offset_and_flags = (len as u16 / 4) << 12 | self.flags & 0x0fff;
        buf[12..14].copy_from_slice(&offset_and_flags.to_be_bytes());
        buf[14..16].copy_from_slice(&self.window.to_be_bytes());
        buf[16..18].copy_from_slice(&self.checksum.to_be_bytes());
        buf[18..20].copy_from_slice(&self.urgent.to_be_bytes());
        buf[20..len].copy_from_slice(self.options.as_bytes());
    }
}
