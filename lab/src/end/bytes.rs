//! Applications of lossless sessions: one that writes, and one that reads and measures the delays.
//!
//! Each write begins with its time and its length, so that the reader can compute the delay of in-order delivery: from
//! the time at which the data was there until its last byte was read. All further bytes of a write are alike, and the
//! reader compares them.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use thalweg_core::session::Session;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Bytes;

use super::lossless::{Event, Lossless};
use super::session::Application;
use crate::statistics::delays::Delays;

/// The bytes of a write that hold its time and its length; shorter writes are as long.
pub const SHORTEST: usize = 12;

/// The data that a tunnel carries.
#[derive(Clone, PartialEq, Debug)]
pub enum Writes {
    /// The same number of bytes in regular intervals.
    Bursts {
        /// The bytes of a burst.
        burst: Bytes,
        /// The interval from one burst to the next, above zero.
        every: Span,
        /// The bytes of a write; a burst is several.
        write: usize,
        /// False if writes that the session does not accept at once are dropped, as by a source that adapts its rate.
        waits: bool,
    },
    /// As much as the session accepts.
    Bulk {
        /// The bytes of a write.
        write: usize,
    },
    /// Recorded writes, once.
    Log(Arc<[Write]>),
}

/// A recorded write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Write {
    /// Its time since the start.
    pub at: Span,
    /// Its length.
    pub len: usize,
}

/// The maximum length of a write, in bytes.
pub const LONGEST: usize = 1 << 20;
/// The maximum number of writes in a log: a day with twelve a second.
pub const MOST_WRITES: usize = 1_000_000;

impl Writes {
    /// Reads a log: a CSV text whose first line is `time_ms,bytes`, and whose others are writes in the order of time.
    ///
    /// # Errors
    /// Names the first line that cannot be read, and what was expected there.
    pub fn parse(text: &str) -> Result<Writes, String> {
        let mut lines = text.lines();
        if lines.next().map(str::trim) != Some("time_ms,bytes") {
            return Err("line 1: expected 'time_ms,bytes'".to_owned());
        }
        let mut writes: Vec<Write> = Vec::new();
        for (number, line) in (2..).zip(lines).filter(|(_, line)| !line.trim().is_empty()) {
            let write = read(line).ok_or_else(|| {
                format!("line {number}: '{line}', expected a time in ms and 1 to {LONGEST} bytes, as in 12.5,300")
            })?;
            if writes.last().is_some_and(|last| last.at > write.at) {
                return Err(format!("line {number}: earlier than the write before, expected ascending times"));
            }
            if writes.len() == MOST_WRITES {
                return Err(format!("line {number}: expected at most {MOST_WRITES} writes"));
            }
            writes.push(write);
        }
        if writes.is_empty() { Err("no writes".to_owned()) } else { Ok(Writes::Log(writes.into())) }
    }

    /// The time since the start at which write `number` is there, and its length; none after the last.
    fn nth(&self, number: u64) -> Option<Write> {
        match self {
            Writes::Bursts { burst, every, write, .. } => {
                let writes = burst.0.div_ceil(*write as u64).max(1);
                let (nth, part) = (number / writes, number % writes);
                let rest = burst.0.saturating_sub(part * *write as u64);
                Some(Write { at: *every * nth, len: rest.min(*write as u64) as usize })
            }
            Writes::Bulk { write } => Some(Write { at: Span::ZERO, len: *write }),
            Writes::Log(writes) => writes.get(usize::try_from(number).ok()?).copied(),
        }
    }
}

/// Parses `TIME,BYTES`.
fn read(line: &str) -> Option<Write> {
    let (time, len) = line.split_once(',')?;
    let (time, len): (f64, usize) = (time.trim().parse().ok()?, len.trim().parse().ok()?);
    let is_valid = (0.0..=1e9).contains(&time) && (1..=LONGEST).contains(&len);
    is_valid.then(|| Write { at: Span::from_secs_f64(time / 1e3), len })
}

/// An application that writes, and waits where the session accepts no more.
#[derive(Clone, PartialEq, Debug)]
pub struct Writer {
    writes: Writes,
    start: Time,
    /// The number of the next write.
    number: u64,
    /// The rest of a write that the session has accepted in part.
    rest: Vec<u8>,
    is_blocked: bool,
    written: Bytes,
}

impl Writer {
    /// An application that begins at `start`.
    pub fn new(writes: Writes, start: Time) -> Writer {
        Writer { writes, start, number: 0, rest: Vec::new(), is_blocked: false, written: Bytes(0) }
    }

    /// Bytes that the session has accepted.
    pub fn written(&self) -> Bytes {
        self.written
    }

    /// True if a write that the session does not accept at once is dropped.
    fn drops(&self) -> bool {
        matches!(self.writes, Writes::Bursts { waits: false, .. })
    }

    /// The time of the next write.
    fn due(&self) -> Option<Time> {
        self.writes.nth(self.number).map(|write| self.start + write.at)
    }

    /// Writes all that is there, as far as the session accepts it.
    fn write(&mut self, now: Time, session: &mut Lossless) {
        loop {
            let is_begun = !self.rest.is_empty();
            if !is_begun {
                let Some(due) = self.due().filter(|due| *due <= now) else { return };
                let Some(Write { len, .. }) = self.writes.nth(self.number) else { return };
                if self.drops() && due < now {
                    self.number += 1;
                    continue;
                }
                // Bulk is there when the session accepts it.
                let at = if matches!(self.writes, Writes::Bulk { .. }) { now } else { due };
                self.rest = message(at, len.max(SHORTEST));
            }
            let count = session.write(now, &self.rest);
            self.written.0 += count as u64;
            self.is_blocked = count < self.rest.len();
            if is_begun || count > 0 {
                self.number += u64::from(!is_begun);
                self.rest.drain(..count);
            } else {
                self.rest.clear();
                self.number += u64::from(self.drops());
                self.is_blocked = !self.drops();
            }
            if self.is_blocked {
                return;
            }
        }
    }
}

/// The bytes of a write.
fn message(at: Time, len: usize) -> Vec<u8> {
    let mut bytes = vec![len as u8; len];
    bytes[..8].copy_from_slice(&at.as_nanos().to_be_bytes());
    bytes[8..SHORTEST].copy_from_slice(&(len as u32).to_be_bytes());
    bytes
}

impl Application<Lossless> for Writer {
    fn next(&self) -> Option<Time> {
        self.due().filter(|_| !self.is_blocked)
    }

    fn feed(&mut self, now: Time, session: &mut Lossless) {
        if !self.is_blocked {
            self.write(now, session);
        }
    }

    fn drain(&mut self, now: Time, session: &mut Lossless) -> bool {
        let before = self.written;
        while let Some(event) = session.poll_event() {
            if event == Event::Writable {
                self.write(now, session);
            }
        }
        self.written > before
    }
}

/// An application that reads, and measures the delays of in-order delivery.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Reader {
    /// The time and length of the write that is being read.
    head: [u8; SHORTEST],
    /// The number of bytes of it that were read.
    read: usize,
    delivered: Bytes,
    delays: Delays,
    /// Bytes that differ from those written: a fault of the session.
    wrong: u64,
}

impl Reader {
    /// Bytes read.
    pub fn delivered(&self) -> Bytes {
        self.delivered
    }

    /// The delays of all writes that were read.
    pub fn delays(&self) -> &Delays {
        &self.delays
    }

    /// Bytes that differ from those written.
    pub fn wrong(&self) -> u64 {
        self.wrong
    }

    /// The length of the write that is being read, once its head is there.
    fn len(&self) -> usize {
        let [.., a, b, c, d] = self.head;
        (u32::from_be_bytes([a, b, c, d]) as usize).max(SHORTEST)
    }

    fn take(&mut self, now: Time, mut bytes: &[u8]) {
        self.delivered.0 += bytes.len() as u64;
        loop {
            if self.read < SHORTEST {
                let (part, rest) = bytes.split_at(bytes.len().min(SHORTEST - self.read));
                self.head[self.read..self.read + part.len()].copy_from_slice(part);
                (self.read, bytes) = (self.read + part.len(), rest);
                if self.read < SHORTEST {
                    return;
                }
            }
            let (part, rest) = bytes.split_at(bytes.len().min(self.len() - self.read));
            let expected = self.len() as u8;
            self.wrong += part.iter().filter(|byte| **byte != expected).count() as u64;
            (self.read, bytes) = (self.read + part.len(), rest);
            if self.read == self.len() {
                let [a, b, c, d, e, f, g, h, ..] = self.head;
                let at = Time::from_nanos(u64::from_be_bytes([a, b, c, d, e, f, g, h]));
                self.delays.record(now.since(at));
                self.read = 0;
            }
            if bytes.is_empty() {
                return;
            }
        }
    }
}

impl Application<Lossless> for Reader {
    fn drain(&mut self, now: Time, session: &mut Lossless) -> bool {
        let (before, mut buf) = (self.delivered, [0; 4096]);
        while session.poll_event().is_some() {}
        loop {
            match session.read(now, &mut buf) {
                0 => break self.delivered > before,
                count => self.take(now, &buf[..count]),
            }
        }
    }
}
