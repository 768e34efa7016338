//! A client and a server, a path in each direction, and programs at both ends, over virtual time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;

use thalweg_core::rng::Rng;
use thalweg_core::session::secure::{Entropy, Key};
use thalweg_core::session::tunnel::{Config, Event, Id, Tunnel, Why};
use thalweg_core::session::{MAX_DATAGRAM, Session, stream};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Rate;
use thalweg_lab::node::Node;
use thalweg_lab::node::corrupt::Corrupt;
use thalweg_lab::node::duplicate::Duplicate;
use thalweg_lab::node::loss::Loss;
use thalweg_lab::node::reorder::Reorder;
use thalweg_lab::node::wire::Wire;
use thalweg_lab::packet::{Body, Packet};
use thalweg_lab::path::Path;

use crate::tunnel::app::App;

pub(crate) const CLIENT: usize = 0;
pub(crate) const SERVER: usize = 1;

pub(crate) fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

pub(crate) fn at(millis: u64) -> Time {
    Time::ZERO + ms(millis)
}

/// A path with nothing but a delay.
pub(crate) fn wire(millis: u64) -> Path {
    Path::default().then("wire", Wire::new(ms(millis)))
}

/// 20 % lost, 5 % late, 2 % duplicated, 0.1 % damaged.
pub(crate) fn rough(seed: u64) -> Path {
    let rng = Rng::new(seed);
    wire(20)
        .then("loss", Loss::independent(0.2, rng.fork("loss")))
        .then("reorder", Reorder::new(0.05, ms(6), rng.fork("reorder")))
        .then("copy", Duplicate::new(0.02, rng.fork("copy")))
        .then("damage", Corrupt::new(0.001, 3, rng.fork("damage")))
}

/// A fixed rate, and a window that is quick to compute with.
pub(crate) fn config(mbps: u64) -> Config {
    let stream = stream::Config { window: 128, ..stream::Config::default() };
    Config { stream, rate: thalweg_core::law::rate::Choice::Fixed(Rate::from_mbps(mbps)), ..Config::default() }
}

pub(crate) struct Side {
    pub(crate) end: Option<Tunnel>,
    pub(crate) apps: BTreeMap<Id, App>,
    busy: BTreeSet<Id>,
    pub(crate) events: Vec<(Time, Event)>,
    /// Datagrams sent, and their bytes.
    pub(crate) sent: (u64, u64),
    /// True while its process is stopped: arriving datagrams wait in the socket.
    frozen: bool,
    socket: VecDeque<(SocketAddr, Vec<u8>)>,
}

/// The number of datagrams that the socket of a stopped process keeps.
const SOCKET: usize = 128;

pub(crate) struct Story {
    pub(crate) now: Time,
    pub(crate) sides: [Side; 2],
    pub(crate) paths: [Path; 2],
    /// True while no packet gets through.
    pub(crate) dark: bool,
    pub(crate) client_at: SocketAddr,
    pub(crate) server_at: SocketAddr,
    /// The number of bytes that each of the server's programs writes; true if it finishes after that.
    pub(crate) answer: (usize, bool),
    pub(crate) config: Config,
    key: Key,
    entropy: Entropy,
}

impl Story {
    pub(crate) fn new(config: Config, forward: Path, reverse: Path) -> Story {
        let mut entropy = Entropy::new([3; 32]);
        let key = Key::shared(&mut entropy);
        let side = || Side {
            end: None,
            apps: BTreeMap::new(),
            busy: BTreeSet::new(),
            events: Vec::new(),
            sent: (0, 0),
            frozen: false,
            socket: VecDeque::new(),
        };
        let mut story = Story {
            now: Time::ZERO,
            sides: [side(), side()],
            paths: [forward, reverse],
            dark: false,
            client_at: "192.0.2.1:5000".parse().expect("an address"),
            server_at: "192.0.2.2:7000".parse().expect("an address"),
            answer: (0, true),
            config,
            key,
            entropy,
        };
        story.restart(SERVER);
        story.restart(CLIENT);
        story
    }

    /// Restarts the program of a side, without any of its state.
    pub(crate) fn restart(&mut self, side: usize) {
        let (config, entropy) = (self.config.clone(), self.entropy.fork());
        let end = if side == CLIENT {
            Tunnel::connect(config, &self.key, self.server_at, self.now, entropy)
        } else {
            Tunnel::serve(config, &self.key, entropy)
        };
        self.sides[side].end = Some(end.expect("in range"));
    }

    /// Kills the program of a side.
    pub(crate) fn kill(&mut self, side: usize) {
        self.sides[side].end = None;
    }

    pub(crate) fn end(&mut self, side: usize) -> &mut Tunnel {
        self.sides[side].end.as_mut().expect("it lives")
    }

    /// Opens a connection for a program at the client, which writes `total` bytes, and then finishes if `finishes`.
    pub(crate) fn open(&mut self, total: usize, finishes: bool) -> Id {
        let now = self.now;
        let id = self.end(CLIENT).open(now).expect("room");
        self.sides[CLIENT].apps.insert(id, App::new(total, finishes));
        self.sides[CLIENT].busy.insert(id);
        id
    }

    /// Lets a program write more.
    pub(crate) fn say(&mut self, side: usize, id: Id, more: usize) {
        self.sides[side].apps.get_mut(&id).expect("a program").total += more;
        self.sides[side].busy.insert(id);
    }

    pub(crate) fn app(&mut self, side: usize, id: Id) -> &mut App {
        self.sides[side].apps.get_mut(&id).expect("a program")
    }

    /// Lets a program read again.
    pub(crate) fn wake(&mut self, side: usize, id: Id) {
        self.app(side, id).reads = true;
        self.sides[side].busy.insert(id);
    }

    pub(crate) fn until(&mut self, millis: u64) -> &mut Self {
        self.while_(millis, |_| true);
        self.now = at(millis);
        self
    }

    /// Runs until the server's programs have read so many bytes.
    pub(crate) fn until_read(&mut self, bytes: usize) -> &mut Self {
        let read = |story: &Story| story.sides[SERVER].apps.values().map(|app| app.read).sum::<usize>();
        self.while_(3_600_000, |story| read(story) < bytes);
        assert!(read(self) >= bytes, "{} of {bytes} bytes", read(self));
        self
    }

    /// Runs until all programs at both ends are over, at most until `millis`. Returns true if they are.
    pub(crate) fn runs_to_its_end(&mut self, millis: u64) -> bool {
        let goes_on = |story: &Story| story.sides.iter().flat_map(|side| side.apps.values()).any(|app| !app.is_over());
        self.while_(millis, goes_on);
        !goes_on(self)
    }

    pub(crate) fn while_(&mut self, millis: u64, goes_on: impl Fn(&Story) -> bool) {
        self.turn();
        while goes_on(self) {
            let Some(next) = self.next().filter(|next| *next <= at(millis)) else { return };
            self.now = self.now.max(next);
            self.turn();
        }
    }

    /// The time at which a side reported its link as down, and the reason.
    pub(crate) fn down(&self, side: usize) -> Option<(Time, Why)> {
        self.sides[side].events.iter().find_map(|(when, event)| match event {
            Event::Down { why, .. } => Some((*when, *why)),
            _ => None,
        })
    }

    pub(crate) fn count(&self, side: usize, wanted: impl Fn(&Event) -> bool) -> usize {
        self.sides[side].events.iter().filter(|(_, event)| wanted(event)).count()
    }

    /// Stops the process of a side, or lets it go on: it then reads the datagrams that its socket has kept.
    pub(crate) fn freeze(&mut self, side: usize, frozen: bool) -> &mut Self {
        self.sides[side].frozen = frozen;
        self
    }

    fn next(&self) -> Option<Time> {
        let running = self.sides.iter().filter(|side| !side.frozen);
        let ends = running.filter_map(|side| side.end.as_ref().and_then(Tunnel::poll_timeout));
        ends.chain(self.paths.iter().filter_map(Path::next)).min()
    }

    /// Processes everything that happens at this instant.
    fn turn(&mut self) {
        for side in [CLIENT, SERVER] {
            self.deliver(side);
        }
        let now = self.now;
        for side in [CLIENT, SERVER] {
            if self.sides[side].frozen {
                continue;
            }
            if let Some(end) = self.sides[side].end.as_mut().filter(|it| it.poll_timeout().is_some_and(|at| at <= now))
            {
                end.handle_timeout(now);
            }
            self.exchange(side);
            while self.transmit(side) {
                self.exchange(side);
            }
        }
    }

    /// Delivers the datagrams that have arrived at `side`, if they were sent to its present address.
    fn deliver(&mut self, side: usize) {
        while let Some(packet) = self.paths[1 - side].poll(self.now) {
            let Body::Datagram(bytes) = packet.body else { unreachable!("only datagrams are sent") };
            let port = packet.flow as u16;
            let from = if side == SERVER { SocketAddr::new(self.client_at.ip(), port) } else { self.server_at };
            let is_there = side == SERVER || port == self.client_at.port();
            let Side { socket, frozen, .. } = &mut self.sides[side];
            if is_there && (!*frozen || socket.len() < SOCKET) {
                socket.push_back((from, bytes));
            }
        }
        let Side { end, socket, frozen, .. } = &mut self.sides[side];
        if *frozen {
            return;
        }
        for (from, bytes) in socket.drain(..) {
            if let Some(end) = end {
                // Damaged datagrams are refused.
                let _ = end.handle_datagram(self.now, from, &bytes);
            }
        }
    }

    /// Sends all datagrams that a side has to send; returns true if there were any.
    fn transmit(&mut self, side: usize) -> bool {
        let (mut buf, mut any) = ([0; MAX_DATAGRAM], false);
        let port = self.client_at.port();
        let Side { end: Some(end), sent, .. } = &mut self.sides[side] else { return false };
        while let Some(transmit) = end.poll_transmit(self.now, &mut buf) {
            any = true;
            *sent = (sent.0 + 1, sent.1 + transmit.len as u64);
            let flow = if side == CLIENT { port } else { transmit.to.port() };
            if !self.dark {
                self.paths[side].accept(self.now, Packet::datagram(flow.into(), buf[..transmit.len].to_vec()));
            }
        }
        any
    }

    /// Processes events, and lets programs work that have something to do.
    fn exchange(&mut self, nth: usize) {
        let (now, answer) = (self.now, self.answer);
        let side = &mut self.sides[nth];
        let Some(end) = &mut side.end else { return };
        loop {
            while let Some(event) = end.poll_event() {
                side.events.push((now, event));
                let (Event::Opened(id)
                | Event::Readable(id)
                | Event::Writable(id)
                | Event::Finished(id)
                | Event::Closed(id)
                | Event::Reset(id, _)) = event
                else {
                    continue;
                };
                if let Event::Opened(id) = event {
                    assert!(side.apps.insert(id, App::new(answer.0, answer.1)).is_none(), "{id:?} was opened twice");
                }
                let app = side.apps.get_mut(&id).expect("a program");
                assert!(!app.is_over(), "{event:?} after the end");
                match event {
                    Event::Finished(_) => assert!(app.finished.replace(now).is_none()),
                    Event::Closed(_) => app.closed = Some(now),
                    Event::Reset(_, reason) => app.reset = Some((now, reason)),
                    _ => {}
                }
                side.busy.insert(id);
            }
            let Some(id) = side.busy.pop_first() else { break };
            let app = side.apps.get_mut(&id).expect("a program");
            if !app.is_over() {
                app.work(end, now, nth, id);
            }
        }
    }
}
