//! A lossless stream: bytes in order, with the least delay that the path allows.
//!
//! The sending side cuts what is written into numbered *originals* and asks a [`Schedule`] at every opportunity to send
//! what goes into the next packet: a new original, a combination of those that the other end may lack, or one of them
//! again. When there is an opportunity is an [`Allowance`]'s to say. The receiving side decodes, hands out bytes in order
//! and acknowledges each packet by itself. An [`End`] is both sides.
//!
//! | S. Mehrotra, J. Li, Y. Huang | here |
//! |---|---|
//! | original, coded packet | an original holds what was written up to [`Config::longest`] bytes; [`crate::wire::stream::coded`] |
//! | B, D, E, F | [`crate::law::schedule::Queue`]; B follows the edge that the receiver tells |
//! | loss is known | overdue by the measured reordering where later packets have come, by a timer where none has |
//! | epsilon (§II-D) | [`crate::law::schedule::loss::LossRate`] |
//! | round trip | smoothed (RFC 6298) |
//!
//! Both ends exchange *frames*, which a secure association seals and opens: this layer never sees an address. After every
//! `handle_*`, `write` and `read`, drain [`End::poll_frame`] and ask [`End::poll_timeout`] again. The end of the stream is
//! an original without bytes; each direction ends by itself.
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
use crate::law::schedule::{Schedule, adaptive};
use crate::law::{ParameterError, within};
use crate::probe::{Probe, Visitor};
use crate::time::{Span, Time};
use crate::wire::stream::acknowledgement::{HEADER, MAX_RUNS};
use crate::wire::stream::coded::REPAIR_HEADER;
use crate::wire::stream::{Part, QUESTION};
use crate::wire::{self};

/// What both ends of a stream agree on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// The longest frame in bytes, 128 to 65535.
    pub frame: usize,
    /// Originals that are not known to have arrived, or have arrived and are not read: 2 to [`MAX_WINDOW`]. Combinations
    /// cover the first 4095 of them at most.
    pub window: usize,
    /// How long an acknowledgement may wait, at most 5 ms.
    pub ack_delay: Span,
    /// Bytes that a frame has around it on the wire: what the rate counts as well.
    pub overhead: usize,
    /// Packets that the rate would let go within so long leave together, at its end: to be woken for each costs more than
    /// the packet. Rates with less than one packet in it keep their spacing.
    pub grain: Span,
}

impl Default for Config {
    /// Datagrams of 1200 bytes over IPv4, sealed.
    fn default() -> Config {
        let sealing = super::secure::OVERHEAD;
        let ack_delay = Span::from_millis(3);
        Config { frame: 1200 - sealing, window: 1024, ack_delay, overhead: sealing + 28, grain: Span::ZERO }
    }
}

/// The largest window. The first original that was lost is a round trip old when that is known and two when it has come again,
/// three if that was lost, too; meanwhile others leave. So a path that holds as many as one combination covers goes on at its
/// full rate through losses.
pub const MAX_WINDOW: usize = 4 * rlc::MAX_WINDOW;
const _: () = assert!(adaptive::LARGEST == rlc::MAX_WINDOW);

/// The fewest originals that a bound leaves.
const FEWEST: usize = 64;

/// The shortest frame that an acknowledgement always fits.
const SHORTEST: usize = 128;
const _: () = assert!(SHORTEST >= HEADER + MAX_RUNS);

impl Config {
    /// The longest original, in bytes: a combination of such fits a frame.
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

/// What the code refuses, in the words of a value that is out of its range.
fn refused(error: rlc::Error) -> ParameterError {
    ParameterError::Refused(error.to_string())
}

/// What an end tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// There is something to read, or the end of the stream, where there was nothing.
    Readable,
    /// There is room again for writing after there was too little.
    Writable,
    /// All that was written here has arrived, to the end of the stream.
    Delivered,
    /// All that the other end wrote was read, to the end of the stream.
    Finished,
}

/// One end: what is written to it is read from the other, and the other way round.
#[derive(Clone, PartialEq, Debug)]
pub struct End<S, A> {
    config: Config,
    sender: Sender<S, A>,
    receiver: Receiver,
    /// What was told already.
    told_readable: bool,
    told_finished: bool,
}

impl<S: Schedule, A: Allowance> End<S, A> {
    /// An end that sends what `schedule` says when `allowance` says.
    ///
    /// # Errors
    /// A value of `config` is out of its range; the error says which.
    pub fn new(config: Config, schedule: S, allowance: A) -> Result<End<S, A>, ParameterError> {
        let code = config.code()?;
        let (sender, receiver) = (Sender::new(config, code, schedule, allowance)?, Receiver::new(config, code)?);
        Ok(End { config, sender, receiver, told_readable: false, told_finished: false })
    }

    /// Takes a frame from the other end.
    ///
    /// # Errors
    /// The frame is none of this stream's; what came before its fault counts, the rest is forgotten.
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

    /// Takes the first of `bytes`, and tells how many: less than all if too much is under way or unread, none after
    /// [`End::finish`].
    pub fn write(&mut self, now: Time, bytes: &[u8]) -> usize {
        self.sender.write(now, bytes)
    }

    /// Nothing more will be written.
    pub fn finish(&mut self, now: Time) {
        self.sender.finish(now);
    }

    /// Reads over the first bytes of `buf`, and tells how many; none if there is nothing yet, or no more.
    pub fn read(&mut self, now: Time, buf: &mut [u8]) -> usize {
        let count = self.receiver.read(now, buf);
        self.told_readable &= self.receiver.is_readable();
        count
    }

    /// The next bytes, as many as there are in one piece; none if there is nothing yet, or no more. Until there are none,
    /// [`Event::Readable`] does not tell of others.
    pub fn take(&mut self, now: Time) -> Option<&[u8]> {
        let taken = self.receiver.take(now);
        self.told_readable &= taken.is_some();
        taken
    }

    /// The time of [`End::poll_timeout`] has come.
    pub fn handle_timeout(&mut self, now: Time) {
        self.sender.handle_timeout(now);
        self.receiver.handle_timeout(now);
    }

    /// Goes on over another association after an interruption. Nothing is known of its path: what was measured is forgotten,
    /// and `allowance` begins anew (RFC 9000 §9.4). Both ends tell each other at once all that has come.
    pub fn resume(&mut self, now: Time, allowance: A) {
        self.sender.resume(now, allowance);
        self.receiver.resume(now);
    }

    /// Writes the next frame that is due into `buf`, which must hold [`Config::frame`] bytes, and tells its length.
    pub fn poll_frame(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        let buf = &mut buf[..self.config.frame];
        let coded = self.sender.poll(now, buf);
        if let Some(len) = coded {
            return Some(self.ride(now, buf, len));
        }
        if self.receiver.is_due(now) {
            let len = self.receiver.acknowledge(now, buf)?;
            self.sender.aside(len + self.config.overhead);
            return Some(len);
        }
        self.sender.poll_question(now).then(|| {
            buf[0] = QUESTION;
            1
        })
    }

    /// When the end next wants to be called, if nothing happens before.
    pub fn poll_timeout(&self) -> Option<Time> {
        [self.sender.poll_timeout(), self.receiver.poll_timeout()].into_iter().flatten().min()
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        if self.receiver.is_readable() && !self.told_readable {
            self.told_readable = true;
            return Some(Event::Readable);
        }
        if self.receiver.is_finished() && !self.told_finished {
            self.told_finished = true;
            return Some(Event::Finished);
        }
        self.sender.poll_event()
    }

    /// Bytes that are kept at most: what has not arrived at the other end, and what has arrived out of order.
    pub fn kept(&self) -> u64 {
        ((self.sender.queue().len() + self.receiver.kept()) * self.config.longest()) as u64
    }

    /// Lets as many originals wait here each way, and at least a few, however large the window is; what the other end was promised
    /// before it may still send.
    pub fn bound(&mut self, originals: usize) {
        let most = originals.max(FEWEST);
        self.sender.bound(most);
        self.receiver.bound(most);
    }

    /// What both ends have agreed on.
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

    /// Puts an acknowledgement in front of the packet of `len` bytes in `buf`, if there is one and it fits.
    fn ride(&mut self, now: Time, buf: &mut [u8], len: usize) -> usize {
        let mut first = [0; HEADER + MAX_RUNS];
        let room = (buf.len() - len).min(first.len());
        if !self.receiver.has_news() {
            return len;
        }
        let Some(more) = self.receiver.acknowledge(now, &mut first[..room]) else { return len };
        buf.copy_within(..len, more);
        buf[..more].copy_from_slice(&first[..more]);
        self.sender.aside(more);
        len + more
    }
}

impl<S: Schedule, A: Allowance> Probe for End<S, A> {
    /// Shows what the sending side shows ([`Sender`]), and of the receiving side `innovative`, `redundant`, `duplicate` and
    /// `refused` packets.
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
