//! Connections that never run out of data.

use thalweg_testbed::Transfer;

use crate::connection::Connection;
use crate::noise;

/// The bytes written or read in one call.
const PIECE: usize = 1 << 18;

/// A running bulk transfer. Dropping it ends the transfer.
pub struct Flow {
    transfer: Option<Transfer>,
    close: Option<Box<dyn FnOnce() + Send>>,
}

impl Flow {
    /// Starts to write as much as the connection takes.
    pub fn start(connection: Connection) -> Flow {
        let Connection { writer, reader, close } = connection;
        Flow { transfer: Some(Transfer::start(writer, reader, noise(&mut 1, PIECE))), close: Some(close) }
    }

    /// The number of bytes read so far.
    pub fn bytes(&self) -> u64 {
        self.transfer.as_ref().map_or(0, |transfer| transfer.read().0)
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        if let Some(close) = self.close.take() {
            close();
        }
        if let Some(transfer) = self.transfer.take() {
            transfer.end(|| ());
        }
    }
}

impl std::fmt::Debug for Flow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Flow").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}
