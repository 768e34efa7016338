//! Connections of a tunnel that are for tasks of this process.

use std::io;
use std::sync::Arc;

use thalweg_core::session::tunnel::Id;
use thalweg_core::time::Time;

use super::carrying::{Outlet, Outside};
use crate::figures::Figures;
use crate::memory::{Duct, Handle, Shared};
use crate::report::Report;
use crate::reporter::Audience;
use crate::watch::Watch;

/// Takes the connections that tasks ask for, and hands out those that the other side opens.
#[derive(Debug)]
pub struct Memory {
    shared: Arc<Shared>,
    /// Whether it calls the other side, and ends if that is in vain.
    calls: bool,
}

/// One connection.
#[derive(Debug)]
pub struct Task(Arc<Duct>);

impl Memory {
    /// A station's side, and a hold on it. With `calls`, it ends where nobody can be reached at first.
    ///
    /// # Errors
    /// The kernel has no `eventfd`.
    pub fn new(calls: bool) -> io::Result<(Memory, Handle)> {
        let shared = Shared::new()?;
        let handle = Handle::new(shared.clone());
        Ok((Memory { shared, calls }, handle))
    }

    /// Another side of the same, which the loop tells what happens.
    pub fn audience(&self) -> Tasks {
        Tasks { shared: self.shared.clone() }
    }

    /// Another side of the same, for who tells how it ended.
    pub fn ending(&self) -> Ending {
        Ending { shared: self.shared.clone() }
    }
}

/// Tells the tasks what happens.
#[derive(Debug)]
pub struct Tasks {
    shared: Arc<Shared>,
}

impl Audience for Tasks {
    fn hear(&mut self, _now: Time, report: &Report) {
        self.shared.tell(report.clone());
    }

    fn see(&mut self, _now: Time, figures: &Figures) {
        self.shared.show(figures.clone());
    }

    fn leave(&mut self, now: Time, figures: &Figures) {
        self.see(now, figures);
    }
}

/// Tells the tasks how it ended, whatever becomes of the loop.
#[derive(Debug)]
pub struct Ending {
    shared: Arc<Shared>,
}

impl Ending {
    /// It ended, with a reason where that was not for the good.
    pub fn tell(&self, outcome: Result<(), String>) {
        self.shared.end(outcome);
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.shared.end(Err("the tunnel's thread is gone".to_owned()));
    }
}

impl Outside for Memory {
    type Outlet = Task;

    const SIDE: &'static str = "tunnel";

    fn watch(&self, watch: &Watch, token: u64) -> io::Result<()> {
        watch.add(&*self.shared, token).map(drop)
    }

    fn accept(&mut self) -> io::Result<Option<Task>> {
        Ok(self.shared.state().asked.pop_front().map(Task))
    }

    fn admit(&mut self, _id: Id) -> io::Result<Task> {
        let duct = Arc::new(Duct::default());
        let mut is_wanted = false;
        self.shared.change(|state| {
            is_wanted = state.handles > 0;
            state.arrived.extend(is_wanted.then(|| duct.clone()));
        });
        match is_wanted {
            true => Ok(Task(duct)),
            false => Err(io::Error::other("nobody accepts connections any more")),
        }
    }

    fn stirred(&mut self) -> Option<u64> {
        self.shared.state().stirred.pop_front()
    }

    fn is_over(&self) -> bool {
        let state = self.shared.state();
        state.handles == 0 && state.asked.is_empty()
    }

    fn survives(&self, was_up: bool) -> bool {
        was_up || !self.calls
    }

    fn on_up(&mut self) {
        self.shared.change(|state| state.is_up = true);
    }
}

impl Outlet for Task {
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
        // Nothing, where both ways have ended.
        self.0.fail("the tunnel has ended");
    }
}
