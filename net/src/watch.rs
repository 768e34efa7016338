//! Readiness of many files: one descriptor to wait for, whatever their number.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;

/// Changes that one call of [`Watch::poll`] takes; the rest stay for the next.
const BATCH: usize = 128;
const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// Reports each change once (`epoll(7)`, edge-triggered): a notified owner continues until the kernel would block.
#[derive(Debug)]
pub struct Watch {
    epoll: OwnedFd,
}

/// A change of a file's readiness.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The number under which the file was added.
    pub(crate) token: u64,
    /// True if there may be something to read, the end or an error included.
    pub(crate) readable: bool,
    /// True if the file may take data, or report why it never will.
    pub(crate) writable: bool,
    /// True if the file is broken; an owner that neither reads nor writes now would not notice.
    pub(crate) broken: bool,
}

impl Watch {
    /// A watch of no files.
    pub(crate) fn new() -> io::Result<Watch> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        Ok(Watch { epoll })
    }

    /// Reports changes of `file` under `token` from now on, until it is closed; false if the file is always ready, like
    /// those on disks.
    pub(crate) fn add(&self, file: impl AsFd, token: u64) -> io::Result<bool> {
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        match epoll::add(&self.epoll, file, EventData::new_u64(token), flags) {
            Ok(()) => Ok(true),
            Err(Errno::PERM) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Passes changes to `take`; returns true if there may be more.
    pub(crate) fn poll(&mut self, mut take: impl FnMut(Edge)) -> io::Result<bool> {
        let mut events = [const { MaybeUninit::uninit() }; BATCH];
        let reported: &[Event] = match epoll::wait(&self.epoll, &mut events, Some(&AT_ONCE)) {
            Ok((reported, _)) => reported,
            Err(Errno::INTR) => &[],
            Err(error) => return Err(error.into()),
        };
        for event in reported {
            let flags = event.flags;
            let has = |wanted: EventFlags| flags.intersects(wanted);
            let cut = has(EventFlags::ERR | EventFlags::HUP);
            take(Edge {
                token: event.data.u64(),
                readable: cut || has(EventFlags::IN | EventFlags::RDHUP),
                writable: cut || has(EventFlags::OUT),
                broken: has(EventFlags::ERR),
            });
        }
        Ok(reported.len() == BATCH)
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poll::readable;
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    fn poll(watch: &mut Watch) -> Vec<Edge> {
        let mut edges = Vec::new();
        watch.poll(|edge| edges.push(edge)).expect("a look");
        edges
    }

    #[test]
    fn change_is_reported_once_with_its_token() {
        let mut watch = Watch::new().expect("epoll");
        let (near, mut far) = UnixStream::pair().expect("a pair");
        assert!(watch.add(&near, 7).expect("a socket can be watched"));
        let free = Edge { token: 7, readable: false, writable: true, broken: false };
        assert_eq!(poll(&mut watch), [free]);
        assert_eq!(poll(&mut watch), []);

        far.write_all(b"a").expect("room for a byte");
        assert!(readable(&watch, Duration::from_secs(10)).expect("ppoll"));
        assert_eq!(poll(&mut watch), [Edge { readable: true, ..free }]);
        drop(far);
        assert_eq!(poll(&mut watch), [Edge { readable: true, ..free }]);
    }

    #[test]
    fn changes_beyond_a_batch_are_reported_by_the_next_poll() {
        let mut watch = Watch::new().expect("epoll");
        let pairs: Vec<_> = (0..=BATCH as u64).map(|token| (token, UnixStream::pair().expect("a pair"))).collect();
        for (token, (near, _)) in &pairs {
            watch.add(near, *token).expect("a socket can be watched");
        }
        let mut tokens = Vec::new();
        while watch.poll(|edge| tokens.push(edge.token)).expect("a look") {}
        tokens.sort_unstable();
        assert_eq!(tokens, (0..=BATCH as u64).collect::<Vec<_>>());
    }

    #[test]
    fn disk_file_is_not_watched() {
        let watch = Watch::new().expect("epoll");
        let file = std::fs::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).expect("our own manifest");
        assert!(!watch.add(&file, 1).expect("an answer"));
    }
}
