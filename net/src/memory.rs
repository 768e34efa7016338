//! Connections of a tunnel for tasks of this process: what [`crate::station::Memory`] is to the loop, these are to them.
//!
//! A task asks in the way of [`std::future`]: it is woken when it may ask again. Everything between it and the loop's thread is a
//! pair of bounded buffers for each connection.

mod duct;

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use rustix::event::{EventfdFlags, eventfd};

pub(crate) use self::duct::Duct;
use crate::figures::Figures;
use crate::report::Report;

/// So much of what happens waits to be heard; of more, the oldest is dropped.
const MOST_NEWS: usize = 1024;

/// What the loop and the tasks share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Wakes the loop.
    bell: OwnedFd,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    /// Connections that tasks have asked for.
    pub(crate) asked: VecDeque<Arc<Duct>>,
    /// Connections that the other end has opened.
    pub(crate) arrived: VecDeque<Arc<Duct>>,
    /// Tokens of connections at which a task has done something.
    pub(crate) stirred: VecDeque<u64>,
    pub(crate) is_up: bool,
    /// Tasks that may still ask for connections, or wait for them.
    pub(crate) handles: usize,
    /// What has happened and nobody has heard.
    news: VecDeque<Report>,
    /// As they were when the last second was over.
    figures: Option<Figures>,
    /// How it ended, once it has.
    end: Option<Result<(), String>>,
    waiting: Vec<Waker>,
}

/// A task's hold on a tunnel; while there is one, the tunnel goes on.
#[derive(Debug)]
pub struct Handle {
    shared: Arc<Shared>,
}

/// A task's end of a connection.
#[derive(Debug)]
pub struct Stream {
    duct: Arc<Duct>,
    shared: Arc<Shared>,
}

impl Shared {
    pub(crate) fn new() -> io::Result<Arc<Shared>> {
        let bell = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Arc::new(Shared { bell, state: Mutex::default() }))
    }

    /// What no panic of a task can spoil: each change is a single step.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the loop. The bell is never silenced: who watches it is told of each ring (epoll(7), EPOLLET), and one that
    /// was silenced in the wrong moment would be missed.
    fn ring(&self) {
        // Only a counter that is full would refuse, in a few hundred years.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }

    /// Wakes all tasks that wait for a change of the state.
    pub(crate) fn change(&self, change: impl FnOnce(&mut State)) {
        let waiting = {
            let mut state = self.state();
            change(&mut state);
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Tells the loop that a task has done something at a connection.
    fn stir(&self, duct: &Duct) {
        if let Some(token) = duct.token() {
            self.state().stirred.push_back(token);
            self.ring();
        }
    }

    /// Something has happened.
    pub(crate) fn tell(&self, report: Report) {
        self.change(|state| {
            if state.news.len() == MOST_NEWS {
                state.news.pop_front();
            }
            state.news.push_back(report);
        });
    }

    /// A second has passed, or all is over.
    pub(crate) fn show(&self, figures: Figures) {
        self.state().figures = Some(figures);
    }

    /// All is over; with its reason where that was not for the good.
    pub(crate) fn end(&self, outcome: Result<(), String>) {
        self.change(|state| {
            state.end.get_or_insert(outcome);
            (state.asked, state.arrived) = (VecDeque::new(), VecDeque::new());
        });
    }
}

impl AsFd for Shared {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
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

    /// Whether the other end has been reached.
    ///
    /// # Errors
    /// It cannot be, or the tunnel has ended.
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
        let duct = Arc::new(Duct::default());
        {
            let mut state = self.shared.state();
            if let Some(error) = state.ended() {
                return Err(error);
            }
            state.asked.push_back(duct.clone());
        }
        self.shared.ring();
        Ok(Stream { duct, shared: self.shared.clone() })
    }

    /// The next connection that the other end has opened.
    ///
    /// # Errors
    /// The tunnel has ended.
    pub fn poll_accept(&self, context: &mut Context<'_>) -> Poll<io::Result<Stream>> {
        let mut state = self.shared.state();
        if let Some(duct) = state.arrived.pop_front() {
            return Poll::Ready(Ok(Stream { duct, shared: self.shared.clone() }));
        }
        if let Some(error) = state.ended() {
            return Poll::Ready(Err(error));
        }
        state.wait(context);
        Poll::Pending
    }

    /// What happens next, to the tunnel or to one of its connections. What nobody waits for is kept, up to a thousand and
    /// some; `None` once the tunnel has ended and all was told.
    pub fn poll_report(&self, context: &mut Context<'_>) -> Poll<Option<Report>> {
        let mut state = self.shared.state();
        if let Some(report) = state.news.pop_front() {
            return Poll::Ready(Some(report));
        }
        if state.end.is_some() {
            return Poll::Ready(None);
        }
        state.wait(context);
        Poll::Pending
    }

    /// All figures as they were when the last second was over; none in the first second.
    pub fn figures(&self) -> Option<Figures> {
        self.shared.state().figures.clone()
    }

    /// Gives the hold up, and says how to wait for the end.
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
        // Nobody will ever take these.
        for duct in abandoned {
            drop(Stream { duct, shared: self.shared.clone() });
        }
        self.shared.ring();
    }
}

/// A tunnel that ends, once all its connections have and what was written has arrived.
#[derive(Debug)]
pub struct Closing {
    shared: Arc<Shared>,
}

impl Closing {
    /// Whether it has ended, and its figures then.
    ///
    /// # Errors
    /// The other end was lost.
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
    /// Reads over the first bytes of `buf`, and tells how many; 0 at the end of what the other end wrote.
    ///
    /// # Errors
    /// The connection was broken off.
    pub fn poll_read(&self, context: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.stirring(self.duct.poll_read(context, buf))
    }

    /// Takes the first of `bytes`, and tells how many.
    ///
    /// # Errors
    /// The connection was broken off, or shut down before.
    pub fn poll_write(&self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.stirring(self.duct.poll_write(context, bytes))
    }

    /// Whether the tunnel has taken all that was written.
    ///
    /// # Errors
    /// The connection was broken off.
    pub fn poll_flush(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.duct.poll_flush(context)
    }

    /// Nothing more will be written: the other end reads to its end.
    ///
    /// # Errors
    /// The connection was broken off.
    pub fn poll_shutdown(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.duct.shutdown();
        self.shared.stir(&self.duct);
        self.duct.poll_flush(context)
    }

    /// Lets the loop know where the outcome is one that concerns it.
    fn stirring(&self, (outcome, stirs): (Poll<io::Result<usize>>, bool)) -> Poll<io::Result<usize>> {
        if stirs {
            self.shared.stir(&self.duct);
        }
        outcome
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.duct.leave();
        self.shared.stir(&self.duct);
    }
}
