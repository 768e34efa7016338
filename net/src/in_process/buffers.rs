//! The two buffers between a task and the event loop.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Limit in bytes on each buffer.
const LIMIT: usize = 64 << 10;

/// One connection: a task on one side, the event loop on the other.
#[derive(Debug, Default)]
pub(crate) struct Buffers(Mutex<Inside>);

#[derive(Debug, Default)]
struct Inside {
    /// The loop's token for the connection.
    token: Option<u64>,
    /// Data from the task into the tunnel.
    inward: Buffer,
    /// Data from the tunnel to the task.
    outward: Buffer,
    /// The reason of a reset.
    failure: Option<String>,
    /// True if the task has dropped its end.
    is_dropped: bool,
}

#[derive(Debug, Default)]
struct Buffer {
    bytes: VecDeque<u8>,
    is_ended: bool,
    /// The task that waits for the buffer.
    waker: Option<Waker>,
}

impl Buffer {
    fn put(&mut self, bytes: &[u8]) -> usize {
        let count = bytes.len().min(LIMIT - self.bytes.len());
        self.bytes.extend(&bytes[..count]);
        count
    }

    fn take(&mut self, buf: &mut [u8]) -> usize {
        let count = buf.len().min(self.bytes.len());
        let (front, back) = self.bytes.as_slices();
        let split = count.min(front.len());
        buf[..split].copy_from_slice(&front[..split]);
        buf[split..count].copy_from_slice(&back[..count - split]);
        self.bytes.drain(..count);
        if self.bytes.is_empty() {
            // An idle connection keeps no buffers.
            self.bytes = VecDeque::new();
        }
        count
    }

    fn wait<T>(&mut self, context: &mut Context<'_>) -> Poll<T> {
        self.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

fn would_block() -> io::Error {
    ErrorKind::WouldBlock.into()
}

impl Inside {
    fn broken(&self) -> Option<io::Error> {
        self.failure.as_ref().map(|why| io::Error::new(ErrorKind::ConnectionReset, why.clone()))
    }
}

/// The task's side. The second value of a returned pair is true if the loop must be notified.
impl Buffers {
    pub(super) fn poll_read(&self, context: &mut Context<'_>, buf: &mut [u8]) -> (Poll<io::Result<usize>>, bool) {
        let mut inside = self.inside();
        let was_full = inside.outward.bytes.len() == LIMIT;
        let count = inside.outward.take(buf);
        if count > 0 || buf.is_empty() {
            return (Poll::Ready(Ok(count)), was_full);
        }
        if let Some(error) = inside.broken() {
            return (Poll::Ready(Err(error)), false);
        }
        match inside.outward.is_ended {
            true => (Poll::Ready(Ok(0)), false),
            false => (inside.outward.wait(context), false),
        }
    }

    pub(super) fn poll_write(&self, context: &mut Context<'_>, bytes: &[u8]) -> (Poll<io::Result<usize>>, bool) {
        let mut inside = self.inside();
        if let Some(error) = inside.broken() {
            return (Poll::Ready(Err(error)), false);
        }
        if inside.inward.is_ended {
            return (Poll::Ready(Err(ErrorKind::BrokenPipe.into())), false);
        }
        let was_empty = inside.inward.bytes.is_empty();
        match inside.inward.put(bytes) {
            0 if !bytes.is_empty() => (inside.inward.wait(context), false),
            count => (Poll::Ready(Ok(count)), was_empty),
        }
    }

    pub(super) fn poll_flush(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut inside = self.inside();
        match inside.broken() {
            Some(error) => Poll::Ready(Err(error)),
            None if inside.inward.bytes.is_empty() => Poll::Ready(Ok(())),
            None => inside.inward.wait(context),
        }
    }

    pub(super) fn shutdown(&self) {
        self.inside().inward.is_ended = true;
    }

    pub(super) fn detach(&self) {
        let mut inside = self.inside();
        inside.inward.is_ended = true;
        inside.is_dropped = true;
    }

    pub(super) fn token(&self) -> Option<u64> {
        self.inside().token
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The loop's side.
impl Buffers {
    pub(crate) fn settle(&self, token: u64) {
        self.inside().token = Some(token);
    }

    /// Reads like [`io::Read::read`].
    pub(crate) fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
        let (count, waker) = {
            let mut inside = self.inside();
            // RFC 1122 §4.2.2.13: the peer must learn that data it wrote has not been read.
            if inside.is_dropped && !inside.outward.bytes.is_empty() {
                return Err(ErrorKind::BrokenPipe.into());
            }
            let count = inside.inward.take(buf);
            if count == 0 && !inside.inward.is_ended {
                return Err(would_block());
            }
            (count, inside.inward.waker.take())
        };
        waker.into_iter().for_each(Waker::wake);
        Ok(count)
    }

    /// Writes like [`io::Write::write`].
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let (count, waker) = {
            let mut inside = self.inside();
            if inside.is_dropped {
                return Err(ErrorKind::BrokenPipe.into());
            }
            match inside.outward.put(bytes) {
                0 => return Err(would_block()),
                count => (count, inside.outward.waker.take()),
            }
        };
        waker.into_iter().for_each(Waker::wake);
        Ok(count)
    }

    /// Ends the data from the peer.
    pub(crate) fn finish(&self) {
        let waker = {
            let mut inside = self.inside();
            inside.outward.is_ended = true;
            inside.outward.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    /// Records a reset, unless both directions have ended.
    pub(crate) fn fail(&self, why: &str) {
        let wakers = {
            let mut inside = self.inside();
            let is_done = inside.outward.is_ended && inside.inward.is_ended && inside.inward.bytes.is_empty();
            if !is_done && inside.failure.is_none() {
                inside.failure = Some(why.to_owned());
            }
            [inside.inward.waker.take(), inside.outward.waker.take()]
        };
        wakers.into_iter().flatten().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_buffer_blocks_its_writer_until_the_loop_is_notified() {
        let buffers = Buffers::default();
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(buffers.write(&[7; LIMIT + 1]).expect("room"), LIMIT);
        assert_eq!(buffers.write(&[7]).expect_err("no room").kind(), ErrorKind::WouldBlock);
        let (read, must_notify) = buffers.poll_read(&mut context, &mut [0; 100]);
        assert!(matches!(read, Poll::Ready(Ok(100))) && must_notify);
        assert_eq!(buffers.write(&[7; LIMIT]).expect("room"), 100);

        let (written, must_notify) = buffers.poll_write(&mut context, &[8; LIMIT + 1]);
        assert!(matches!(written, Poll::Ready(Ok(LIMIT))) && must_notify);
        assert!(buffers.poll_write(&mut context, &[8]).0.is_pending());
        assert!(buffers.poll_flush(&mut context).is_pending());
        assert_eq!(buffers.read(&mut [0; LIMIT]).expect("what was written"), LIMIT);
        assert!(buffers.poll_flush(&mut context).is_ready());
    }

    #[test]
    fn ends_and_resets_are_reported_after_the_bytes() {
        let buffers = Buffers::default();
        let mut context = Context::from_waker(Waker::noop());
        buffers.write(b"a").expect("room");
        buffers.fail("why");
        assert!(matches!(buffers.poll_read(&mut context, &mut [0; 9]).0, Poll::Ready(Ok(1))));
        assert!(matches!(buffers.poll_read(&mut context, &mut [0; 9]).0, Poll::Ready(Err(_))));
        let buffers = Buffers::default();
        buffers.finish();
        assert!(matches!(buffers.poll_read(&mut context, &mut [0; 9]).0, Poll::Ready(Ok(0))));
        buffers.detach();
        assert_eq!(buffers.read(&mut [0; 9]).expect("the end"), 0);
        assert_eq!(buffers.write(b"a").expect_err("nobody reads").kind(), ErrorKind::BrokenPipe);
    }

    #[test]
    fn dropping_unread_bytes_resets_the_connection() {
        let buffers = Buffers::default();
        buffers.write(b"a").expect("room");
        buffers.detach();
        assert_eq!(buffers.read(&mut [0; 9]).expect_err("nobody will read it").kind(), ErrorKind::BrokenPipe);
    }
}
