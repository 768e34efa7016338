//! Connections that never run out of data.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use crate::connection::Connection;
use crate::noise;

/// What is written or read in one call.
const PIECE: usize = 1 << 18;

/// A bulk transfer under way; it ends with this value.
pub struct Flow {
    bytes: Arc<AtomicU64>,
    close: Option<Box<dyn FnOnce() + Send>>,
    threads: Vec<JoinHandle<()>>,
}

impl Flow {
    /// Writes as much as the connection takes, from now on.
    pub fn start(connection: Connection) -> Flow {
        let Connection { mut writer, mut reader, close } = connection;
        let bytes = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&bytes);
        // An error is the end of the connection, which `close` asks for.
        let writing = thread::spawn(move || {
            let piece = noise(&mut 1, PIECE);
            while writer.write_all(&piece).is_ok() {}
        });
        let reading = thread::spawn(move || {
            let mut piece = vec![0; PIECE];
            while let Ok(len @ 1..) = reader.read(&mut piece) {
                count.fetch_add(len as u64, Ordering::Relaxed);
            }
        });
        Flow { bytes, close: Some(close), threads: vec![writing, reading] }
    }

    /// Bytes that were read so far.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        if let Some(close) = self.close.take() {
            close();
        }
        self.threads.drain(..).for_each(|thread| thread.join().expect("no panic"));
    }
}

impl std::fmt::Debug for Flow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Flow").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}
