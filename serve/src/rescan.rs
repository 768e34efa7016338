//! Periodic scans of the folder and checks of the kernel's law, on a thread apart from serving.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;

use rustix::process::setpriority_process;

use crate::event::Event;
use crate::shared::Shared;

/// Addition to the niceness of the scanning thread: serving has priority.
const NICENESS: i32 = 10;

/// Scans until the returned value is dropped; a scan that is then in progress is completed.
///
/// A separate thread: those of the runtime and those that wait for disks are for connections.
///
/// # Errors
/// No further thread can be started.
pub(crate) fn start(shared: Arc<Shared>) -> io::Result<Sender<()>> {
    let (sender, until) = channel();
    thread::Builder::new().name("look".to_owned()).spawn(move || {
        // On Linux this applies to the calling thread alone (setpriority(2)).
        let _ = setpriority_process(None, NICENESS);
        while until.recv_timeout(shared.limits.recheck) == Err(RecvTimeoutError::Timeout) {
            recheck(&shared);
        }
    })?;
    Ok(sender)
}

fn recheck(shared: &Shared) {
    if let Some(change) = shared.law.recheck() {
        shared.report(change.into());
    }
    // A folder that is away for a while, as a network drive may be, keeps its catalog.
    if let Ok(faults) = shared.site.rescan() {
        faults.into_iter().for_each(|(name, why)| shared.report(Event::Fault { name, why }));
        shared.count_videos();
    }
}
