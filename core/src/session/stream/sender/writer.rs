//! Gathering of written bytes into originals, and the end of the stream.

use super::{Encoder, Queue, Time};

/// The original that ends the stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Last {
    /// None yet: more may be written.
    Open,
    /// To be sent after all that is written.
    Due,
    /// The number of that original.
    Is(u64),
}

/// Bytes that are not an original yet, and the originals that are not known to have arrived.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Writer {
    encoder: Encoder,
    /// The longest original, in bytes.
    longest: usize,
    gathered: Vec<u8>,
    /// The time since which the first gathered byte waits.
    since: Time,
    /// The time of the last write.
    written: Time,
    last: Last,
    is_blocked: bool,
    is_delivery_reported: bool,
}

impl Writer {
    pub(super) fn new(encoder: Encoder, longest: usize) -> Writer {
        Writer {
            encoder,
            longest,
            gathered: Vec::new(),
            since: Time::ZERO,
            written: Time::ZERO,
            last: Last::Open,
            is_blocked: false,
            is_delivery_reported: false,
        }
    }

    pub(super) fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// The time of the last write.
    pub(super) fn written(&self) -> Time {
        self.written
    }

    /// True until the end of the stream was written.
    pub(super) fn is_open(&self) -> bool {
        self.last == Last::Open
    }

    /// True if the gathered bytes are an original.
    pub(super) fn is_full(&self) -> bool {
        self.gathered.len() == self.longest
    }

    /// True if nothing is gathered.
    pub(super) fn is_empty(&self) -> bool {
        self.gathered.is_empty()
    }

    /// True if anything waits to become an original: bytes, or the end of the stream.
    pub(super) fn waits(&self) -> bool {
        !self.gathered.is_empty() || self.last == Last::Due
    }

    /// True if the original that ends the stream is the next.
    pub(super) fn is_end_next(&self) -> bool {
        self.last == Last::Due && self.gathered.is_empty()
    }

    /// True if all has arrived of which `queue` knows, to the end of the stream.
    pub(super) fn is_delivered(&self, queue: &Queue) -> bool {
        matches!(self.last, Last::Is(last) if queue.b() > last)
    }

    /// Gathers a prefix of `bytes`, up to a full original, and returns its length.
    pub(super) fn gather(&mut self, now: Time, bytes: &[u8]) -> usize {
        if self.gathered.is_empty() {
            self.since = now;
        }
        let count = (self.longest - self.gathered.len()).min(bytes.len());
        self.gathered.extend_from_slice(&bytes[..count]);
        self.written = now;
        count
    }

    /// Makes an original of the gathered bytes, if the code has space for it, and returns the time since which it waits.
    pub(super) fn close(&mut self, now: Time) -> Option<Time> {
        self.encoder.push(&self.gathered).ok()?;
        self.gathered.clear();
        Some(self.since.min(now))
    }

    /// Makes the original that ends the stream wait from `now` on.
    pub(super) fn begin_end(&mut self, now: Time) {
        self.since = now;
    }

    /// Records that `original` ends the stream.
    pub(super) fn end_with(&mut self, original: u64) {
        self.last = Last::Is(original);
    }

    /// Ends the stream after all that is written; false if it was ended before.
    pub(super) fn finish(&mut self) -> bool {
        let is_open = self.is_open();
        if is_open {
            self.last = Last::Due;
        }
        is_open
    }

    /// Forgets the originals before `edge`, all of which have arrived.
    pub(super) fn forget(&mut self, edge: u64) {
        self.encoder.forget(edge);
    }

    /// Records that the program could not write all it had.
    pub(super) fn block(&mut self) {
        self.is_blocked = true;
    }

    /// Returns true once after [`Writer::block`], when there is capacity again.
    pub(super) fn poll_writable(&mut self, has_capacity: bool) -> bool {
        has_capacity && core::mem::take(&mut self.is_blocked)
    }

    /// Returns true once when all has arrived.
    pub(super) fn poll_delivered(&mut self, queue: &Queue) -> bool {
        self.is_delivered(queue) && !core::mem::replace(&mut self.is_delivery_reported, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::rlc;

    #[test]
    fn bytes_fill_originals_and_an_empty_one_ends_the_stream_once() {
        let code = rlc::Config { window: 8, buffer: 8, longest: 10 };
        let mut writer = Writer::new(Encoder::new(code).expect("in range"), 10);
        let at = Time::from_nanos;
        assert_eq!(writer.gather(at(5), &[1; 15]), 10);
        assert!(writer.is_full());
        assert_eq!(writer.close(at(7)), Some(at(5)), "it waits since its first byte");
        assert_eq!(writer.gather(at(7), &[1; 5]), 5);
        assert!(writer.finish() && !writer.finish());
        assert!(writer.waits() && !writer.is_end_next(), "the bytes are first");
        assert_eq!(writer.close(at(8)), Some(at(7)));
        assert!(writer.is_end_next());
        writer.begin_end(at(9));
        assert_eq!(writer.close(at(9)), Some(at(9)));
        writer.end_with(2);
        assert!(!writer.waits());
        assert!(!writer.poll_delivered(&Queue::new(2)), "0 and 1 have arrived");
        assert!(writer.poll_delivered(&Queue::new(3)) && !writer.poll_delivered(&Queue::new(3)));
    }

    #[test]
    fn capacity_is_reported_once_to_a_blocked_program() {
        let code = rlc::Config { window: 8, buffer: 8, longest: 10 };
        let mut writer = Writer::new(Encoder::new(code).expect("in range"), 10);
        assert!(!writer.poll_writable(true), "it was not blocked");
        writer.block();
        assert!(!writer.poll_writable(false));
        assert!(writer.poll_writable(true) && !writer.poll_writable(true));
    }
}
