//! Looking through the folder from time to time, and whether the kernel has the law, apart from those who are served.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;

use rustix::process::setpriority_process;

use crate::server::{Event, Shared};

/// Addition to the niceness of the thread that looks: those who are served go first.
const NICENESS: i32 = 10;

/// Looks until what it returns is dropped, or as long as one look takes behind that.
///
/// A thread of its own: those of the runtime and those that wait for disks are there for connections.
///
/// # Errors
/// There is no further thread.
pub(crate) fn again_and_again(shared: Arc<Shared>) -> io::Result<Sender<()>> {
    let (sender, until) = channel();
    thread::Builder::new().name("look".to_owned()).spawn(move || {
        // On Linux it is the calling thread's alone (setpriority(2)).
        let _ = setpriority_process(None, NICENESS);
        while until.recv_timeout(shared.limits.look) == Err(RecvTimeoutError::Timeout) {
            look(&shared);
        }
    })?;
    Ok(sender)
}

fn look(shared: &Shared) {
    if let Some(event) = shared.law.look() {
        shared.tell(event);
    }
    // A folder that is away for a while, as a network drive may be, keeps what it had.
    if let Ok(faults) = shared.site.look_again() {
        faults.into_iter().for_each(|(name, why)| shared.tell(Event::Fault { name, why }));
        shared.ledger.films.store(shared.site.catalog().films.len() as u64, Ordering::Relaxed);
    }
}
