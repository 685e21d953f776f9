//! The writing side: a thread of its own takes full chunks, writes them, and hands them back empty.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use flowgauge_ports::pcap::{Format, OutputFile};

use super::Shared;

/// Bytes after which a chunk is handed over.
pub(super) const CHUNK: usize = 1 << 18;
/// Room beyond that, for the frame that fills it.
const SPARE: usize = 1 << 17;

/// Whole records of a file.
#[derive(Default)]
pub(super) struct Chunk {
    pub records: Vec<u8>,
    /// How many of them are frames.
    pub frames: u64,
}

/// The way to the file. There are always as many chunks as at the start, wherever they are.
pub(super) struct Queue {
    full: SyncSender<Chunk>,
    empty: Receiver<Chunk>,
    thread: JoinHandle<io::Result<()>>,
    /// The file's format.
    pub format: Format,
}

impl Queue {
    pub fn start(mut output: OutputFile, bytes: usize, shared: Arc<Shared>) -> io::Result<Queue> {
        let chunks = (bytes / CHUNK).max(2);
        let (full, to_write) = sync_channel::<Chunk>(chunks);
        let (give_back, empty) = sync_channel(chunks);
        for _ in 0..chunks {
            // There is room for each.
            let _ = give_back.send(Chunk { records: Vec::with_capacity(CHUNK + SPARE), frames: 0 });
        }
        let format = output.format();
        let write = move || {
            for mut chunk in to_write {
                let before = output.written();
                let result = output.write(&chunk.records);
                shared.written.store(output.written(), Relaxed);
                let kept = (output.written() - before) as usize;
                // A file's start is no frame, though pcap's looks like one.
                let cut = || format.frames(&chunk.records[..kept]).min(chunk.frames);
                let frames = if result.is_ok() { chunk.frames } else { cut() };
                shared.in_file.fetch_add(frames, Relaxed);
                result?;
                chunk.records.clear();
                chunk.frames = 0;
                // At the end nobody takes it.
                let _ = give_back.send(chunk);
            }
            Ok(())
        };
        let thread = std::thread::Builder::new().name("fg-writer".into()).spawn(write)?;
        Ok(Queue { full, empty, thread, format })
    }

    /// An empty chunk, if there is one now.
    pub fn take(&self) -> Option<Chunk> {
        self.empty.try_recv().ok()
    }

    /// An empty chunk, waited for; `None` when the file can't be written any more.
    pub fn wait(&self) -> Option<Chunk> {
        self.empty.recv().ok()
    }

    /// Hands a chunk over; whether the file can still be written.
    pub fn give(&self, chunk: Chunk) -> bool {
        self.full.send(chunk).is_ok()
    }

    /// Whether writing has ended, which before [`Queue::finish`] is a failure.
    pub fn broken(&self) -> bool {
        self.thread.is_finished()
    }

    /// Until all is written.
    pub fn finish(self) -> io::Result<()> {
        drop(self.full);
        match self.thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}
