//! The two buffers between a task and the loop.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Bytes that wait at most, each way.
const LIMIT: usize = 64 << 10;

/// One connection; a task at one side, the loop at the other.
#[derive(Debug, Default)]
pub(crate) struct Duct(Mutex<Inside>);

#[derive(Debug, Default)]
struct Inside {
    /// What the loop calls it.
    token: Option<u64>,
    /// From the task into the tunnel.
    inward: Buffer,
    /// From the tunnel to the task.
    outward: Buffer,
    /// Why it was broken off.
    failure: Option<String>,
    /// The task has gone.
    is_left: bool,
}

#[derive(Debug, Default)]
struct Buffer {
    bytes: VecDeque<u8>,
    is_ended: bool,
    /// The task that waits at it.
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

/// The task's side. Where a pair is returned, the second says whether the loop has to know.
impl Duct {
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

    pub(super) fn leave(&self) {
        let mut inside = self.inside();
        inside.inward.is_ended = true;
        inside.is_left = true;
    }

    pub(super) fn token(&self) -> Option<u64> {
        self.inside().token
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The loop's side.
impl Duct {
    pub(crate) fn settle(&self, token: u64) {
        self.inside().token = Some(token);
    }

    /// As [`io::Read::read`].
    pub(crate) fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
        let (count, waker) = {
            let mut inside = self.inside();
            // RFC 1122 §4.2.2.13: the other end must learn that what it wrote has not been read.
            if inside.is_left && !inside.outward.bytes.is_empty() {
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

    /// As [`io::Write::write`].
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let (count, waker) = {
            let mut inside = self.inside();
            if inside.is_left {
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

    /// The other end has written all.
    pub(crate) fn finish(&self) {
        let waker = {
            let mut inside = self.inside();
            inside.outward.is_ended = true;
            inside.outward.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    /// It is broken off, unless both ends have ended.
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
    fn a_full_buffer_makes_its_writer_wait_and_the_loop_is_told_when_there_is_room() {
        let duct = Duct::default();
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(duct.write(&[7; LIMIT + 1]).expect("room"), LIMIT);
        assert_eq!(duct.write(&[7]).expect_err("no room").kind(), ErrorKind::WouldBlock);
        let (read, stirs) = duct.poll_read(&mut context, &mut [0; 100]);
        assert!(matches!(read, Poll::Ready(Ok(100))) && stirs);
        assert_eq!(duct.write(&[7; LIMIT]).expect("room"), 100);

        let (written, stirs) = duct.poll_write(&mut context, &[8; LIMIT + 1]);
        assert!(matches!(written, Poll::Ready(Ok(LIMIT))) && stirs);
        assert!(duct.poll_write(&mut context, &[8]).0.is_pending());
        assert!(duct.poll_flush(&mut context).is_pending());
        assert_eq!(duct.read(&mut [0; LIMIT]).expect("what was written"), LIMIT);
        assert!(duct.poll_flush(&mut context).is_ready());
    }

    #[test]
    fn ends_and_breaks_are_told_behind_the_bytes() {
        let duct = Duct::default();
        let mut context = Context::from_waker(Waker::noop());
        duct.write(b"a").expect("room");
        duct.fail("why");
        assert!(matches!(duct.poll_read(&mut context, &mut [0; 9]).0, Poll::Ready(Ok(1))));
        assert!(matches!(duct.poll_read(&mut context, &mut [0; 9]).0, Poll::Ready(Err(_))));
        let duct = Duct::default();
        duct.finish();
        assert!(matches!(duct.poll_read(&mut context, &mut [0; 9]).0, Poll::Ready(Ok(0))));
        duct.leave();
        assert_eq!(duct.read(&mut [0; 9]).expect("the end"), 0);
        assert_eq!(duct.write(b"a").expect_err("nobody reads").kind(), ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_task_that_leaves_bytes_unread_breaks_its_connection_off() {
        let duct = Duct::default();
        duct.write(b"a").expect("room");
        duct.leave();
        assert_eq!(duct.read(&mut [0; 9]).expect_err("nobody will read it").kind(), ErrorKind::BrokenPipe);
    }
}
