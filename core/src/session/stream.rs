//! A lossless stream: bytes in order, with the least delay that the path allows.
//!
//! The sending side cuts what is written into numbered *originals* and asks a [`Schedule`] at every opportunity to send
//! what goes into the next packet: a new original, a combination of those that the peer may lack, or one of them again.
//! An [`Allowance`] decides when there is an opportunity. The receiving side decodes, delivers bytes in order and
//! acknowledges each packet individually. An [`End`] is both sides.
//!
//! | S. Mehrotra, J. Li, Y. Huang | here |
//! |---|---|
//! | original, coded packet | an original holds up to [`Config::longest`] bytes; [`crate::wire::stream::coded`] |
//! | B, D, E, F | [`crate::law::schedule::Queue`]; B follows the edge that the receiver reports |
//! | loss is known | overdue: by the measured reordering if a later packet has arrived, else by a timer |
//! | epsilon (§II-D) | [`crate::law::schedule::loss::LossRate`] |
//! | round trip | smoothed (RFC 6298) |
//!
//! Both ends exchange *frames*, which a secure association seals and opens: this layer never sees an address. After
//! every `handle_*`, `write` and `read`, drain [`End::poll_frame`] and ask [`End::poll_timeout`] again. The end of the
//! stream is an original without bytes; each direction ends independently.
//!
//! ```
//! use thalweg_core::law::rate::fixed::Fixed;
//! use thalweg_core::law::schedule::arq::Arq;
//! use thalweg_core::session::stream::{Config, End};
//! use thalweg_core::time::{Span, Time};
//! use thalweg_core::units::Rate;
//!
//! let end = || End::new(Config::default(), Arq, Fixed::new(Rate::from_mbps(10), Span::ZERO));
//! let (mut here, mut there) = (end()?, end()?);
//! assert_eq!(here.write(Time::ZERO, b"hello"), 5);
//! let mut frame = [0; 1500];
//! while let Some(len) = here.poll_frame(Time::ZERO, &mut frame) {
//!     there.handle_frame(Time::ZERO + Span::from_millis(20), &frame[..len])?;
//! }
//! let mut bytes = [0; 100];
//! assert_eq!(there.read(Time::ZERO + Span::from_millis(20), &mut bytes), 5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod receiver;
pub mod sender;

pub use self::receiver::Receiver;
pub use self::sender::Sender;

use crate::code::rlc;
use crate::law::rate::Allowance;
use crate::law::schedule::{self, Schedule};
use crate::law::{ParameterError, within};
use crate::probe::{Probe, Visitor};
use crate::time::{Span, Time};
use crate::wire::secure::sealed::Sealed;
use crate::wire::stream::acknowledgement::{HEADER, MAX_RUNS};
use crate::wire::stream::coded::REPAIR_HEADER;
use crate::wire::stream::{Part, QUESTION};
use crate::wire::{self};

/// The parameters that both ends of a stream agree on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// The longest frame in bytes, 128 to 65535.
    pub frame: usize,
    /// The window, 2 to [`MAX_WINDOW`] originals: those not known to have arrived, and those that have arrived and are
    /// not read. Combinations cover the first 4095 of them at most.
    pub window: usize,
    /// The longest delay of an acknowledgement, at most 5 ms.
    pub ack_delay: Span,
    /// Bytes added to each frame on the wire; they count against the rate.
    pub overhead: usize,
    /// The granularity of pacing. Packets that the rate would release within one grain leave together at its end, since
    /// a wake-up for each costs more than the packet. Rates with less than one packet in a grain keep their spacing.
    pub grain: Span,
}

impl Default for Config {
    /// Datagrams of 1200 bytes over IPv4, sealed.
    fn default() -> Config {
        let sealing = Sealed::OVERHEAD;
        let ack_delay = Span::from_millis(3);
        Config { frame: 1200 - sealing, window: 1024, ack_delay, overhead: sealing + 28, grain: Span::ZERO }
    }
}

/// The largest window, in originals. The first lost original is one round trip old when its loss is detected, two when
/// its retransmission arrives, and three if that was lost, too; meanwhile new ones leave. So a path that holds as many
/// as one combination covers keeps its full rate through losses.
pub const MAX_WINDOW: usize = 4 * rlc::MAX_WINDOW;
const _: () = assert!(schedule::LARGEST == rlc::MAX_WINDOW);

/// The lowest limit that [`End::bound`] sets, in originals. Ours: 75 kB, so that a link that shares memory with many
/// still fills a slow path.
const FEWEST: usize = 64;

/// The shortest frame that has space for every acknowledgement, bytes.
const SHORTEST: usize = 128;
const _: () = assert!(SHORTEST >= HEADER + MAX_RUNS);

impl Config {
    /// The longest original, in bytes: a combination of such originals fits a frame.
    pub fn longest(&self) -> usize {
        self.frame.saturating_sub(REPAIR_HEADER + rlc::LENGTH)
    }

    fn code(&self) -> Result<rlc::Config, ParameterError> {
        within("frame", self.frame as f64, SHORTEST as f64..=f64::from(u16::MAX))?;
        within("window", self.window as f64, 2.0..=MAX_WINDOW as f64)?;
        within("ack_delay in ms", self.ack_delay.as_millis_f64(), 0.0..=sender::MAX_ACK_DELAY.as_millis_f64())?;
        Ok(rlc::Config { window: self.window.min(rlc::MAX_WINDOW), buffer: self.window, longest: self.longest() })
    }
}

/// Wraps an error of the code as that of a value out of its range.
fn refused(error: rlc::Error) -> ParameterError {
    ParameterError::Refused(error.to_string())
}

/// The events of an end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// Data, or the end of the stream, to read after there was nothing.
    Readable,
    /// Free space for writing after there was too little.
    Writable,
    /// Arrival of all that was written here, to the end of the stream.
    Delivered,
    /// End of reading: all that the peer wrote was read, to the end of the stream.
    Finished,
}

/// One end of a stream: bytes written to it are read from the other end, and vice versa.
#[derive(Clone, PartialEq, Debug)]
pub struct End<S, A> {
    config: Config,
    sender: Sender<S, A>,
    receiver: Receiver,
    /// True if [`Event::Readable`] was reported since there was last nothing to read.
    is_readable_reported: bool,
    is_finish_reported: bool,
}

impl<S: Schedule, A: Allowance> End<S, A> {
    /// Makes an end that sends what `schedule` chooses when `allowance` permits.
    ///
    /// # Errors
    /// A value of `config` is out of its range; the error names it.
    pub fn new(config: Config, schedule: S, allowance: A) -> Result<End<S, A>, ParameterError> {
        let code = config.code()?;
        let (sender, receiver) = (Sender::new(config, code, schedule, allowance)?, Receiver::new(config, code)?);
        Ok(End { config, sender, receiver, is_readable_reported: false, is_finish_reported: false })
    }

    /// Takes a frame from the peer.
    ///
    /// # Errors
    /// The frame is not valid in this stream. The parts before the fault take effect; the rest is dropped.
    pub fn handle_frame(&mut self, now: Time, frame: &[u8]) -> Result<(), wire::Error> {
        let mut rest = frame;
        while !rest.is_empty() {
            let (part, behind) = Part::parse(rest)?;
            match part {
                Part::Coded(coded) => self.receiver.handle(now, &coded)?,
                Part::Acknowledgement(acknowledgement) => self.sender.handle(now, &acknowledgement)?,
                Part::Question => self.receiver.handle_question(now),
            }
            rest = behind;
        }
        Ok(())
    }

    /// Accepts a prefix of `bytes` and returns its length: less than all if too much is in flight or unread, 0 after
    /// [`End::finish`].
    pub fn write(&mut self, now: Time, bytes: &[u8]) -> usize {
        self.sender.write(now, bytes)
    }

    /// Ends the stream: nothing more will be written.
    pub fn finish(&mut self, now: Time) {
        self.sender.finish(now);
    }

    /// Reads into the start of `buf` and returns the number of bytes; 0 if there is nothing yet, or no more.
    pub fn read(&mut self, now: Time, buf: &mut [u8]) -> usize {
        let count = self.receiver.read(now, buf);
        self.is_readable_reported &= self.receiver.is_readable();
        count
    }

    /// Returns the next bytes, as many as are contiguous; none if there is nothing yet, or no more. [`Event::Readable`]
    /// is not reported again until this has returned none.
    pub fn take(&mut self, now: Time) -> Option<&[u8]> {
        let taken = self.receiver.take(now);
        self.is_readable_reported &= taken.is_some();
        taken
    }

    /// Handles the expiry of [`End::poll_timeout`].
    pub fn handle_timeout(&mut self, now: Time) {
        self.sender.handle_timeout(now);
        self.receiver.handle_timeout(now);
    }

    /// Continues over another association after an interruption. Nothing is known of its path, so the measured round
    /// trip is discarded and `allowance` starts anew (RFC 9000 §9.4). Both ends report at once all that they have
    /// received.
    pub fn resume(&mut self, now: Time, allowance: A) {
        self.sender.resume(now, allowance);
        self.receiver.resume(now);
    }

    /// Writes the next frame that is due into `buf`, which must hold [`Config::frame`] bytes, and returns its length.
    pub fn poll_frame(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        let buf = &mut buf[..self.config.frame];
        let coded = self.sender.poll(now, buf);
        if let Some(len) = coded {
            return Some(self.prepend_acknowledgement(now, buf, len));
        }
        if self.receiver.is_due(now) {
            let len = self.receiver.acknowledge(now, buf)?;
            self.sender.on_control(len + self.config.overhead);
            return Some(len);
        }
        self.sender.poll_question(now).then(|| {
            buf[0] = QUESTION;
            1
        })
    }

    /// The time at which the end next needs to be called, if nothing happens before.
    pub fn poll_timeout(&self) -> Option<Time> {
        [self.sender.poll_timeout(), self.receiver.poll_timeout()].into_iter().flatten().min()
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        if self.receiver.is_readable() && !self.is_readable_reported {
            self.is_readable_reported = true;
            return Some(Event::Readable);
        }
        if self.receiver.is_finished() && !self.is_finish_reported {
            self.is_finish_reported = true;
            return Some(Event::Finished);
        }
        self.sender.poll_event()
    }

    /// An upper bound on the bytes kept: originals not known to have arrived at the peer, and originals in the decoder.
    pub fn kept(&self) -> u64 {
        ((self.sender.queue().len() + self.receiver.kept()) * self.config.longest()) as u64
    }

    /// Limits the originals that wait here each way to `originals`, at least 64, at most the window. The peer may still
    /// send what was advertised to it before.
    pub fn bound(&mut self, originals: usize) {
        let most = originals.max(FEWEST);
        self.sender.bound(most);
        self.receiver.bound(most);
    }

    /// The parameters that both ends have agreed on.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The sending side.
    pub fn sender(&self) -> &Sender<S, A> {
        &self.sender
    }

    /// The receiving side.
    pub fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// Puts an acknowledgement in front of the packet of `len` bytes in `buf`, if one is pending and fits, and returns
    /// the new length.
    fn prepend_acknowledgement(&mut self, now: Time, buf: &mut [u8], len: usize) -> usize {
        let mut first = [0; HEADER + MAX_RUNS];
        let free = (buf.len() - len).min(first.len());
        if !self.receiver.is_pending() {
            return len;
        }
        let Some(more) = self.receiver.acknowledge(now, &mut first[..free]) else { return len };
        buf.copy_within(..len, more);
        buf[..more].copy_from_slice(&first[..more]);
        self.sender.on_control(more);
        len + more
    }
}

impl<S: Schedule, A: Allowance> Probe for End<S, A> {
    /// Shows the values of the sending side ([`Sender`]), and the packets of the receiving side that were `innovative`,
    /// `redundant`, `duplicate` and `refused`.
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.sender.probe(visit);
        let counts = self.receiver.counts();
        visit("innovative", counts.innovative as f64);
        visit("redundant", counts.redundant as f64);
        visit("duplicate", counts.duplicate as f64);
        visit("refused", counts.refused as f64);
    }
}

#[cfg(test)]
mod tests;
