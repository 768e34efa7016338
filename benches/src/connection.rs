//! One connection of a program at the near end to a program at the far end, over any transport.

use std::fmt;
use std::io::{Read, Write};

/// A connection from the near end to the far end.
pub struct Connection {
    /// The near program's writer.
    pub writer: Box<dyn Write + Send>,
    /// The far program's reader.
    pub reader: Box<dyn Read + Send>,
    /// Closes both ends, even with data in flight.
    pub close: Box<dyn FnOnce() + Send>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}
