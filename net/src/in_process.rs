//! Connections of a tunnel for tasks of this process: the tasks' side of [`crate::endpoint::InProcess`].
//!
//! Tasks poll as in [`std::future`]: a pending one is woken when it should poll again. Between a task and the loop's
//! thread, each connection has a pair of bounded buffers.

mod buffers;

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use rustix::event::{EventfdFlags, eventfd};

pub(crate) use self::buffers::Buffers;
use crate::figures::Figures;
use crate::report::Report;

/// Limit on reports that wait to be read; above it, the oldest is dropped.
const MAX_REPORTS: usize = 1024;

/// State shared by the loop and the tasks.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The eventfd that wakes the loop.
    wake_fd: OwnedFd,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    /// Connections that tasks have opened.
    pub(crate) opened: VecDeque<Arc<Buffers>>,
    /// Connections that the peer has opened.
    pub(crate) arrived: VecDeque<Arc<Buffers>>,
    /// Tokens of connections on which a task has acted.
    pub(crate) ready: VecDeque<u64>,
    pub(crate) is_up: bool,
    /// Tasks that may still ask for connections, or wait for them.
    pub(crate) handles: usize,
    /// Reports that no task has read yet.
    reports: VecDeque<Report>,
    /// Figures at the end of the last second.
    figures: Option<Figures>,
    /// The outcome, once the tunnel has ended.
    end: Option<Result<(), String>>,
    waiting: Vec<Waker>,
}

/// A task's handle of a tunnel; the tunnel runs on while there is one.
#[derive(Debug)]
pub struct Handle {
    shared: Arc<Shared>,
}

/// A task's end of a connection.
#[derive(Debug)]
pub struct Stream {
    buffers: Arc<Buffers>,
    shared: Arc<Shared>,
}

impl Shared {
    pub(crate) fn new() -> io::Result<Arc<Shared>> {
        let wake_fd = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Arc::new(Shared { wake_fd, state: Mutex::default() }))
    }

    /// Locks the state. A panic of a task cannot corrupt it: each change is a single step.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the loop. The eventfd is never read: epoll reports each write to it (epoll(7), EPOLLET), and a read at the
    /// wrong moment would hide one.
    fn wake_loop(&self) {
        // Fails only if the counter is full, in a few hundred years.
        let _ = rustix::io::write(&self.wake_fd, &1u64.to_ne_bytes());
    }

    /// Changes the state, and wakes all tasks that wait for that.
    pub(crate) fn change(&self, change: impl FnOnce(&mut State)) {
        let waiting = {
            let mut state = self.state();
            change(&mut state);
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Notifies the loop that a task has acted on a connection.
    fn notify_loop(&self, buffers: &Buffers) {
        if let Some(token) = buffers.token() {
            self.state().ready.push_back(token);
            self.wake_loop();
        }
    }

    /// Passes a report to the tasks.
    pub(crate) fn report(&self, report: Report) {
        self.change(|state| {
            if state.reports.len() == MAX_REPORTS {
                state.reports.pop_front();
            }
            state.reports.push_back(report);
        });
    }

    /// Stores the figures of the last second, or the final ones.
    pub(crate) fn show(&self, figures: Figures) {
        self.state().figures = Some(figures);
    }

    /// Records the end of the tunnel; an error is the reason of an irregular one.
    pub(crate) fn end(&self, outcome: Result<(), String>) {
        self.change(|state| {
            state.end.get_or_insert(outcome);
            (state.opened, state.arrived) = (VecDeque::new(), VecDeque::new());
        });
    }
}

impl AsFd for Shared {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake_fd.as_fd()
    }
}

impl State {
    fn wait(&mut self, context: &mut Context<'_>) {
        if !self.waiting.iter().any(|waker| waker.will_wake(context.waker())) {
            self.waiting.push(context.waker().clone());
        }
    }

    fn ended(&self) -> Option<io::Error> {
        let why = match self.end.as_ref()? {
            Ok(()) => "the tunnel has ended",
            Err(why) => why,
        };
        Some(io::Error::new(io::ErrorKind::ConnectionAborted, why.to_owned()))
    }
}

impl Handle {
    pub(crate) fn new(shared: Arc<Shared>) -> Handle {
        shared.state().handles += 1;
        Handle { shared }
    }

    /// Waits until the peer has been reached.
    ///
    /// # Errors
    /// The peer cannot be reached, or the tunnel has ended.
    pub fn poll_up(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.shared.state();
        if let Some(error) = state.ended() {
            return Poll::Ready(Err(error));
        }
        if state.is_up {
            return Poll::Ready(Ok(()));
        }
        state.wait(context);
        Poll::Pending
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// The tunnel has ended.
    pub fn open(&self) -> io::Result<Stream> {
        let buffers = Arc::new(Buffers::default());
        {
            let mut state = self.shared.state();
            if let Some(error) = state.ended() {
                return Err(error);
            }
            state.opened.push_back(buffers.clone());
        }
        self.shared.wake_loop();
        Ok(Stream { buffers, shared: self.shared.clone() })
    }

    /// Waits for the next connection that the peer opens.
    ///
    /// # Errors
    /// The tunnel has ended.
    pub fn poll_accept(&self, context: &mut Context<'_>) -> Poll<io::Result<Stream>> {
        let mut state = self.shared.state();
        if let Some(buffers) = state.arrived.pop_front() {
            return Poll::Ready(Ok(Stream { buffers, shared: self.shared.clone() }));
        }
        if let Some(error) = state.ended() {
            return Poll::Ready(Err(error));
        }
        state.wait(context);
        Poll::Pending
    }

    /// The next event of the tunnel or of one of its connections. Reports that are not polled for are kept, the latest
    /// 1024 of them; `None` once the tunnel has ended and all were returned.
    pub fn poll_report(&self, context: &mut Context<'_>) -> Poll<Option<Report>> {
        let mut state = self.shared.state();
        if let Some(report) = state.reports.pop_front() {
            return Poll::Ready(Some(report));
        }
        if state.end.is_some() {
            return Poll::Ready(None);
        }
        state.wait(context);
        Poll::Pending
    }

    /// All figures at the end of the last second; none in the first second.
    pub fn figures(&self) -> Option<Figures> {
        self.shared.state().figures.clone()
    }

    /// Releases the handle, and returns a value that waits for the end.
    pub fn close(self) -> Closing {
        Closing { shared: self.shared.clone() }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let abandoned = {
            let mut state = self.shared.state();
            state.handles -= 1;
            if state.handles == 0 { std::mem::take(&mut state.arrived) } else { VecDeque::new() }
        };
        // No task is left to accept these.
        for buffers in abandoned {
            drop(Stream { buffers, shared: self.shared.clone() });
        }
        self.shared.wake_loop();
    }
}

/// A tunnel that ends once all its connections have ended and all written data has arrived.
#[derive(Debug)]
pub struct Closing {
    shared: Arc<Shared>,
}

impl Closing {
    /// Waits for the end, and returns the final figures.
    ///
    /// # Errors
    /// The peer was lost, or the tunnel never ran.
    pub fn poll_end(&self, context: &mut Context<'_>) -> Poll<io::Result<Figures>> {
        let mut state = self.shared.state();
        match &state.end {
            Some(Ok(())) => Poll::Ready(state.figures.clone().ok_or_else(|| io::Error::other("the tunnel never ran"))),
            Some(Err(why)) => Poll::Ready(Err(io::Error::new(io::ErrorKind::ConnectionAborted, why.clone()))),
            None => {
                state.wait(context);
                Poll::Pending
            }
        }
    }
}

impl Stream {
    /// Reads into the first bytes of `buf`, and returns their number; 0 at the end of the peer's data.
    ///
    /// # Errors
    /// The connection was reset.
    pub fn poll_read(&self, context: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.notify_if(self.buffers.poll_read(context, buf))
    }

    /// Writes the first of `bytes`, and returns their number.
    ///
    /// # Errors
    /// The connection was reset, or shut down before.
    pub fn poll_write(&self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.notify_if(self.buffers.poll_write(context, bytes))
    }

    /// Waits until the tunnel has taken all written data.
    ///
    /// # Errors
    /// The connection was reset.
    pub fn poll_flush(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.buffers.poll_flush(context)
    }

    /// Ends the written data, whose end the peer reads.
    ///
    /// # Errors
    /// The connection was reset.
    pub fn poll_shutdown(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.buffers.shutdown();
        self.shared.notify_loop(&self.buffers);
        self.buffers.poll_flush(context)
    }

    /// Notifies the loop if the outcome concerns it.
    fn notify_if(&self, (outcome, must_notify): (Poll<io::Result<usize>>, bool)) -> Poll<io::Result<usize>> {
        if must_notify {
            self.shared.notify_loop(&self.buffers);
        }
        outcome
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.buffers.detach();
        self.shared.notify_loop(&self.buffers);
    }
}
