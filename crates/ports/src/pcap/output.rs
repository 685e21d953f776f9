//! A capture file that stays readable, whatever becomes of its disk.

use std::fs::File;
use std::io::{self, Write};

use super::Format;

/// A capture file that is being written. After a failed write it ends with its last whole record.
#[derive(Debug)]
pub struct OutputFile {
    file: File,
    format: Format,
    /// Bytes of whole records.
    written: u64,
}

impl OutputFile {
    /// A file that holds nothing yet.
    pub fn new(file: File, format: Format) -> OutputFile {
        OutputFile { file, format, written: 0 }
    }

    /// Its format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Bytes written so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Adds whole records, or the start or end of a file.
    ///
    /// # Errors
    /// The system's. What was not written whole is cut off again, where the file can be cut.
    pub fn write(&mut self, records: &[u8]) -> io::Result<()> {
        let mut done = 0;
        while done < records.len() {
            match self.file.write(&records[done..]) {
                Ok(0) => return Err(self.cut(&records[..done], io::ErrorKind::WriteZero.into())),
                Ok(n) => done += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.cut(&records[..done], error)),
            }
        }
        self.written += done as u64;
        Ok(())
    }

    fn cut(&mut self, partial: &[u8], error: io::Error) -> io::Error {
        self.written += self.format.whole(partial) as u64;
        // A pipe can't be cut; its reader sees a record that breaks off.
        let _ = self.file.set_len(self.written);
        error
    }
}
