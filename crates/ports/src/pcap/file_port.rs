//! A port whose link is a capture file: what it sends is written down, and nothing ever arrives.
//!
//! For trying a generator without a network. Frames are stamped when they are handed over. Writing happens in the sending loop, a large
//! piece at a time, and may delay frames: for looking, not for measuring.

use std::fs::File;
use std::io;
use std::path::Path;

use flowgauge_clock::{Clock, Nanos};

use super::{Format, OutputFile};
use crate::error::{CREATE_FILE, WRITE_FILE};
use crate::pool::Pool;
use crate::{BURST, Burst, Capabilities, Port, PortError, PortStats, RxCapacity};

/// Bytes kept before they are written.
const PIECE: usize = 1 << 18;
const SLOTS: usize = 4 * BURST;
/// As large as our largest frames, without FCS.
const SLOT_SIZE: usize = 9_216;

/// A capture file as a port.
pub struct FilePort {
    name: String,
    output: OutputFile,
    buffer: Vec<u8>,
    pool: Pool,
    sent: u64,
    /// Frames in the buffer.
    waiting: u64,
    lost: u64,
    failed: Option<io::Error>,
}

impl FilePort {
    /// Makes the file, or empties it.
    ///
    /// # Errors
    /// [`PortError::System`]: it can't be made.
    pub fn create(path: &Path) -> Result<FilePort, PortError> {
        let name = format!("pcap {}", path.display());
        let file = File::create(path);
        let file =
            file.map_err(|source| PortError::System { port: name.clone(), call: CREATE_FILE, source })?;
        let format = Format::of_name(&path.to_string_lossy());
        let mut buffer = Vec::with_capacity(PIECE + BURST * (SLOT_SIZE + 64));
        format.start(&["flowgauge"], 0, &mut buffer);
        Ok(FilePort {
            name,
            output: OutputFile::new(file, format),
            buffer,
            pool: Pool::new(SLOTS, SLOT_SIZE),
            sent: 0,
            waiting: 0,
            lost: 0,
            failed: None,
        })
    }

    fn write_out(&mut self) {
        if self.failed.is_none() && !self.buffer.is_empty() {
            self.failed = self.output.write(&self.buffer).err();
            self.lost += if self.failed.is_some() { self.waiting } else { 0 };
            self.waiting = 0;
            self.buffer.clear();
        }
    }

    fn outcome(&mut self) -> Result<(), PortError> {
        match &self.failed {
            None => Ok(()),
            Some(error) => {
                let source = io::Error::new(error.kind(), error.to_string());
                Err(PortError::System { port: self.name.clone(), call: WRITE_FILE, source })
            }
        }
    }
}

impl Port for FilePort {
    fn describe(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::plain(SLOT_SIZE, RxCapacity::Frames(1))
    }

    fn alloc(&mut self, burst: &mut Burst, n: usize) -> usize {
        let n = n.min(burst.room()).min(self.pool.available());
        (0..n).for_each(|_| burst.push(self.pool.get().expect("as many as are available")));
        n
    }

    fn tx(&mut self, burst: &mut Burst) -> Result<usize, PortError> {
        self.outcome()?;
        let now = Clock.now();
        let wall = Clock.offset_from_wall().to_wall(now);
        let n = burst.len();
        for slot in burst.take(n) {
            self.output.format().record(0, wall, slot.bytes(), 0, &mut self.buffer);
            self.pool.put(slot);
        }
        self.sent += n as u64;
        self.waiting += n as u64;
        if self.buffer.len() >= PIECE {
            self.write_out();
            self.outcome()?;
        }
        Ok(n)
    }

    fn rx(&mut self, _burst: &mut Burst, _max: usize) -> Result<usize, PortError> {
        Ok(0)
    }

    fn free(&mut self, burst: &mut Burst) {
        burst.take(BURST).for_each(|slot| self.pool.put(slot));
    }

    fn stats(&mut self) -> PortStats {
        self.write_out();
        PortStats {
            tx_frames: self.sent - self.lost,
            tx_errors: self.lost,
            link_up: self.failed.is_none(),
            ..PortStats::default()
        }
    }

    fn check(&mut self) -> Result<(), PortError> {
        self.write_out();
        self.outcome()
    }

    fn next_event(&self) -> Option<Nanos> {
        None
    }
}

impl Drop for FilePort {
    fn drop(&mut self) {
        self.write_out();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(port: &mut FilePort, lengths: &[usize]) -> Result<(), PortError> {
        let mut burst = Burst::new();
        for &len in lengths {
            port.alloc(&mut burst, 1);
            burst.last_mut().unwrap().set_len(len);
        }
        let sent = port.tx(&mut burst);
        port.free(&mut burst);
        sent.map(drop)
    }

    #[test]
    fn what_is_sent_is_in_the_file() {
        let path = std::env::temp_dir().join(format!("fg-file-port-{}.pcap", std::process::id()));
        let mut port = FilePort::create(&path).unwrap();
        send(&mut port, &[60, 1514]).unwrap();
        assert_eq!((port.stats().tx_frames, port.stats().tx_errors), (2, 0));
        drop(port);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(bytes.len(), 24 + 2 * 16 + 60 + 1514);
        assert_eq!(Format::Pcap.whole(&bytes[24..]), bytes.len() - 24);
    }

    #[test]
    fn a_full_disk_breaks_the_port_and_says_so() {
        let mut port = FilePort::create(Path::new("/dev/full")).unwrap();
        send(&mut port, &[60]).unwrap();
        let error = port.check().unwrap_err().to_string();
        assert!(error.starts_with("writing on pcap /dev/full failed: No space left"), "{error}");
        assert!(send(&mut port, &[60]).is_err());
        assert_eq!(port.stats().tx_errors, 1);
    }
}
