//! Waiting for descriptors and for time, to the nanosecond.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use thalweg_core::time::Span;

use crate::clock::timespec;

/// Sleeps for `span`, or less if a signal arrives.
pub fn sleep(span: Span) {
    if span > Span::ZERO {
        // An error is ignored here: it recurs in the calls that matter.
        let _ = rustix::event::poll(&mut [], Some(&timespec(span)));
    }
}

/// The descriptors that one turn of a loop waits for.
#[derive(Debug, Default)]
pub struct Interests<'fd>(Vec<PollFd<'fd>>);

impl<'fd> Interests<'fd> {
    /// An empty set.
    pub fn new() -> Interests<'fd> {
        Interests(Vec::with_capacity(16))
    }

    /// The number of descriptors.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Waits for `fd` to be readable.
    pub fn read(&mut self, fd: &'fd impl AsFd) {
        self.0.push(PollFd::new(fd, PollFlags::IN));
    }

    /// Waits for `fd` to be writable.
    pub fn write(&mut self, fd: &'fd impl AsFd) {
        self.0.push(PollFd::new(fd, PollFlags::OUT));
    }

    /// Keeps a place in [`Ready`] for a descriptor that has nothing to wait for now.
    pub fn nothing(&mut self, fd: &'fd impl AsFd) {
        self.0.push(PollFd::new(fd, PollFlags::empty()));
    }

    /// Sleeps until a descriptor is ready, a signal arrives or `timeout` has passed.
    ///
    /// # Errors
    /// The kernel refuses to wait.
    pub fn wait(mut self, timeout: Span) -> io::Result<Ready> {
        match rustix::event::poll(&mut self.0, Some(&timespec(timeout))) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut bits = 0;
        for (nth, fd) in self.0.iter().enumerate() {
            // Errors and hang-ups count as ready: the next read or write reports them.
            bits |= u128::from(!fd.revents().is_empty()) << nth.min(127);
        }
        Ok(Ready(bits))
    }
}

/// The ready descriptors, in the order in which they were registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ready(u128);

impl Ready {
    /// No descriptor is ready.
    pub const NOTHING: Ready = Ready(0);

    /// Passes over the next `count` descriptors; returns those that are ready.
    pub fn take_several(&mut self, count: usize) -> Ready {
        let several = Ready(self.0 & !(u128::MAX.checked_shl(count as u32).unwrap_or(0)));
        self.0 = self.0.checked_shr(count as u32).unwrap_or(0);
        several
    }

    /// True if the next descriptor is ready; each call advances by one.
    pub fn take(&mut self) -> bool {
        let ready = self.0 & 1 == 1;
        self.0 >>= 1;
        ready
    }
}

/// True if `fd` becomes readable within `timeout`; the end of its data counts.
///
/// # Errors
/// The kernel refuses to wait.
pub fn readable(fd: &impl AsFd, timeout: Duration) -> io::Result<bool> {
    let mut interests = Interests::new();
    interests.read(fd);
    Ok(interests.wait(Span::from_nanos(timeout.as_nanos() as u64))?.take())
}
