//! Bytes that are written and read as fast as a connection takes them, and counted.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use thalweg_core::units::Bytes;

/// A transfer that never runs out of data, until its connection is closed.
#[derive(Debug)]
pub struct Transfer {
    read: Arc<AtomicU64>,
    writer: JoinHandle<()>,
    reader: JoinHandle<()>,
}

impl Transfer {
    /// Writes `piece` again and again, and reads as many bytes at a time.
    pub fn start(
        mut writer: impl Write + Send + 'static,
        mut reader: impl Read + Send + 'static,
        piece: Vec<u8>,
    ) -> Transfer {
        let read = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&read);
        let mut received = vec![0; piece.len()];
        // An error of either end means that the connection was closed.
        let writer = thread::spawn(move || while writer.write_all(&piece).is_ok() {});
        let reader = thread::spawn(move || {
            while let Ok(length @ 1..) = reader.read(&mut received) {
                count.fetch_add(length as u64, Ordering::Relaxed);
            }
        });
        Transfer { read, writer, reader }
    }

    /// The bytes that were read so far.
    pub fn read(&self) -> Bytes {
        Bytes(self.read.load(Ordering::Relaxed))
    }

    /// Closes the connection by `close` once nothing is written, and waits for the reader.
    pub fn end(self, close: impl FnOnce()) {
        let _ = self.writer.join();
        close();
        let _ = self.reader.join();
    }
}
