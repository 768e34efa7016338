//! Connections of a tunnel for tasks of this process.

use std::io;
use std::sync::Arc;

use thalweg_core::session::tunnel::Id;
use thalweg_core::time::Time;

use super::tunnel::{LocalSide, LocalStream};
use crate::figures::Figures;
use crate::in_process::{Buffers, Handle, Shared};
use crate::report::Report;
use crate::reporter::Audience;
use crate::watch::Watch;

/// Accepts the connections that tasks open, and passes on to tasks those that the peer opens.
#[derive(Debug)]
pub struct InProcess {
    shared: Arc<Shared>,
    /// True if this side calls the peer, and ends if it is never reached.
    calls: bool,
}

/// One connection.
#[derive(Debug)]
pub struct Task(Arc<Buffers>);

impl InProcess {
    /// The endpoint's side, and a handle for tasks. With `calls`, the endpoint ends if the peer cannot be reached at
    /// first.
    ///
    /// # Errors
    /// The kernel has no `eventfd`.
    pub fn new(calls: bool) -> io::Result<(InProcess, Handle)> {
        let shared = Shared::new()?;
        let handle = Handle::new(shared.clone());
        Ok((InProcess { shared, calls }, handle))
    }

    /// The receiver of the loop's events, for the same tasks.
    pub fn audience(&self) -> Tasks {
        Tasks { shared: self.shared.clone() }
    }

    /// The receiver of the final outcome, for the same tasks.
    pub fn ending(&self) -> Ending {
        Ending { shared: self.shared.clone() }
    }
}

/// Passes events and figures on to the tasks.
#[derive(Debug)]
pub struct Tasks {
    shared: Arc<Shared>,
}

impl Audience for Tasks {
    fn on_report(&mut self, _now: Time, report: &Report) {
        self.shared.report(report.clone());
    }

    fn on_figures(&mut self, _now: Time, figures: &[Figures]) {
        if let [figures] = figures {
            self.shared.show(figures.clone());
        }
    }

    fn on_end(&mut self, now: Time, figures: &[Figures]) {
        self.on_figures(now, figures);
    }
}

/// Passes the final outcome on to the tasks, even if the loop's thread dies.
#[derive(Debug)]
pub struct Ending {
    shared: Arc<Shared>,
}

impl Ending {
    /// Passes on the outcome; an error is the reason of an irregular end.
    pub fn report(&self, outcome: Result<(), String>) {
        self.shared.end(outcome);
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.shared.end(Err("the tunnel's thread has ended".to_owned()));
    }
}

impl LocalSide for InProcess {
    type LocalStream = Task;

    const SIDE: &'static str = "tunnel";

    fn watch(&self, watch: &Watch, token: u64) -> io::Result<()> {
        watch.add(&*self.shared, token).map(drop)
    }

    fn accept(&mut self) -> io::Result<Option<Task>> {
        Ok(self.shared.state().opened.pop_front().map(Task))
    }

    fn admit(&mut self, _id: Id) -> io::Result<Task> {
        let buffers = Arc::new(Buffers::default());
        let mut is_wanted = false;
        self.shared.change(|state| {
            is_wanted = state.handles > 0;
            state.arrived.extend(is_wanted.then(|| buffers.clone()));
        });
        match is_wanted {
            true => Ok(Task(buffers)),
            false => Err(io::Error::other("this program no longer accepts connections")),
        }
    }

    fn take_ready(&mut self) -> Option<u64> {
        self.shared.state().ready.pop_front()
    }

    fn is_over(&self) -> bool {
        let state = self.shared.state();
        state.handles == 0 && state.opened.is_empty()
    }

    fn survives(&self, was_up: bool) -> bool {
        was_up || !self.calls
    }

    fn on_up(&mut self) {
        self.shared.change(|state| state.is_up = true);
    }
}

impl LocalStream for Task {
    fn name(&self) -> String {
        "a task".to_owned()
    }

    fn settle(&mut self, _watch: &Watch, token: u64) -> io::Result<bool> {
        self.0.settle(token);
        Ok(true)
    }

    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.read(buf)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.0.finish();
        Ok(())
    }

    fn abort(self, why: &str) {
        self.0.fail(why);
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        // No effect if both directions have ended.
        self.0.fail("the tunnel has ended");
    }
}
