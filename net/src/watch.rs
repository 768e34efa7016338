//! Which of many files can go on: one descriptor to wait for, whatever their number.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;

/// What one look takes in; the rest is there at the next.
const BATCH: usize = 128;
const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// Tells of each change once (`epoll(7)`, edge-triggered): whoever is told goes on until the kernel would have it wait.
#[derive(Debug)]
pub struct Watch {
    epoll: OwnedFd,
}

/// How a file can go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The number that it was given.
    pub(crate) token: u64,
    /// There may be something to read, the end or an error included.
    pub(crate) readable: bool,
    /// It may take something, or say why it never will.
    pub(crate) writable: bool,
    /// It is broken; who neither reads nor writes now would not notice.
    pub(crate) broken: bool,
}

impl Watch {
    /// Watches nothing yet.
    pub(crate) fn new() -> io::Result<Watch> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        Ok(Watch { epoll })
    }

    /// From now on tells of `file` under `token`, until it is closed; false if it is one that can always go on, as
    /// those on disks.
    pub(crate) fn add(&self, file: impl AsFd, token: u64) -> io::Result<bool> {
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        match epoll::add(&self.epoll, file, EventData::new_u64(token), flags) {
            Ok(()) => Ok(true),
            Err(Errno::PERM) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Hands what has changed to `take`; whether more may have.
    pub(crate) fn look(&mut self, mut take: impl FnMut(Edge)) -> io::Result<bool> {
        let mut events = [const { MaybeUninit::uninit() }; BATCH];
        let told: &[Event] = match epoll::wait(&self.epoll, &mut events, Some(&AT_ONCE)) {
            Ok((told, _)) => told,
            Err(Errno::INTR) => &[],
            Err(error) => return Err(error.into()),
        };
        for event in told {
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
        Ok(told.len() == BATCH)
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

    fn look(watch: &mut Watch) -> Vec<Edge> {
        let mut edges = Vec::new();
        watch.look(|edge| edges.push(edge)).expect("a look");
        edges
    }

    #[test]
    fn a_change_is_told_once_with_its_token() {
        let mut watch = Watch::new().expect("epoll");
        let (near, mut far) = UnixStream::pair().expect("a pair");
        assert!(watch.add(&near, 7).expect("a socket can be watched"));
        let free = Edge { token: 7, readable: false, writable: true, broken: false };
        assert_eq!(look(&mut watch), [free]);
        assert_eq!(look(&mut watch), []);

        far.write_all(b"a").expect("room for a byte");
        assert!(readable(&watch, Duration::from_secs(10)).expect("ppoll"));
        assert_eq!(look(&mut watch), [Edge { readable: true, ..free }]);
        drop(far);
        assert_eq!(look(&mut watch), [Edge { readable: true, ..free }]);
    }

    #[test]
    fn more_changes_than_one_look_takes_are_told_at_the_next() {
        let mut watch = Watch::new().expect("epoll");
        let pairs: Vec<_> = (0..=BATCH as u64).map(|token| (token, UnixStream::pair().expect("a pair"))).collect();
        for (token, (near, _)) in &pairs {
            watch.add(near, *token).expect("a socket can be watched");
        }
        let mut tokens = Vec::new();
        while watch.look(|edge| tokens.push(edge.token)).expect("a look") {}
        tokens.sort_unstable();
        assert_eq!(tokens, (0..=BATCH as u64).collect::<Vec<_>>());
    }

    #[test]
    fn a_file_on_disk_can_always_go_on() {
        let watch = Watch::new().expect("epoll");
        let file = std::fs::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).expect("our own manifest");
        assert!(!watch.add(&file, 1).expect("an answer"));
    }
}
