//! Access units to an MPEG transport stream, and that to the outputs.

use thalweg_core::time::Time;
use thalweg_mpegts::mux::{self, Muxer};
use thalweg_net::error::Error;
use thalweg_net::output::Outputs;

use crate::tracks::{Tracks, Unit};

/// The outputs, and the muxer once the tracks are known.
#[derive(Debug)]
pub struct Sink {
    pub(crate) outputs: Outputs,
    muxer: Option<Muxer>,
    /// True if the end of a command is to be waited for.
    is_command: bool,
}

impl Sink {
    /// A sink. With `is_command`, the outputs are one command, whose end is waited for.
    pub fn new(outputs: Outputs, is_command: bool) -> Sink {
        Sink { outputs, muxer: None, is_command }
    }

    /// Begins with these tracks, or continues with another part of them.
    pub(crate) fn begin(&mut self, tracks: &Tracks) {
        match &mut self.muxer {
            Some(muxer) => muxer.discontinuity(),
            None => self.muxer = Some(Muxer::new(&tracks.streams())),
        }
    }

    /// Takes access units in the order of decoding.
    ///
    /// # Errors
    /// No output is left.
    pub(crate) fn write(&mut self, now: Time, units: &[Unit]) -> Result<(), Error> {
        let Some(muxer) = self.muxer.as_mut().filter(|_| !units.is_empty()) else { return Ok(()) };
        for Unit { track, data, pts, dts, is_random_access } in units {
            let unit = mux::Unit { data, pts: *pts, dts: *dts, is_random_access: *is_random_access };
            // A unit that has no form in a transport stream is left out.
            let _ = muxer.push(*track, &unit);
            while let Some(datagram) = muxer.poll() {
                self.outputs.write(now, datagram);
            }
        }
        self.outputs.flush()
    }

    /// Writes the rest: nothing follows.
    pub(crate) fn finish(&mut self, now: Time) {
        if let Some(muxer) = &mut self.muxer {
            muxer.flush();
            while let Some(datagram) = muxer.poll() {
                self.outputs.write(now, datagram);
            }
        }
        self.outputs.finish();
    }

    /// True once nothing waits for a reader, and a command has ended.
    pub(crate) fn is_drained(&self) -> bool {
        let is_running = self.is_command && self.outputs.exit_code().is_none();
        !self.outputs.is_waiting() && !is_running
    }
}
