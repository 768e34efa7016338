//! One end of a tunnel: its connections, and the files, sockets or memory that they are for.

mod ledger;
mod line;
mod listening;
mod moving;
mod outside;
mod slots;
mod telling;

use std::collections::{BTreeMap, VecDeque};

use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::session::live::Metric;
use thalweg_core::session::secure::Reason;
use thalweg_core::session::tunnel::{Id, Tunnel};
use thalweg_core::time::{Span, Time};

use self::ledger::Ledger;
use self::line::Line;
pub use self::outside::{Outlet, Outside};
use self::slots::Slots;
use self::telling::Telling;
use super::Station;
use crate::error::Error;
use crate::figures::Histogram;
use crate::poll::{Interests, Ready};
use crate::report::Report;
use crate::watch::Watch;

/// What is moved in one go, bytes.
const CHUNK: usize = 64 << 10;
/// Why connections end where somebody asks for the end of all.
const STOPPED: &str = "the tunnel was stopped";
/// What tells of newcomers.
const NEWCOMERS: u64 = u64::MAX;

/// A tunnel, and what its connections are for.
#[derive(Debug)]
pub struct Carrying<O: Outside> {
    tunnel: Tunnel,
    outside: O,
    watch: Watch,
    lines: Slots<Line<O::Outlet>>,
    places: BTreeMap<Id, usize>,
    /// Lines that may go on, in turns.
    queue: VecDeque<usize>,
    somebody_waits: bool,
    /// Not before, since the machine has no room for more.
    accept_at: Time,
    telling: Telling,
    ledger: Ledger,
    was_up: bool,
    is_parting: bool,
    failure: Option<String>,
    scratch: Box<[u8]>,
    /// When the last turn was.
    now: Time,
}

impl<O: Outside> Carrying<O> {
    /// Connects what is outside through `tunnel`.
    ///
    /// # Errors
    /// The kernel refuses to watch.
    pub fn new(tunnel: Tunnel, outside: O) -> Result<Carrying<O>, Error> {
        let watch = Watch::new().and_then(|watch| outside.watch(&watch, NEWCOMERS).map(|()| watch));
        Ok(Carrying {
            tunnel,
            outside,
            watch: watch.map_err(Error::io("watching connections"))?,
            lines: Slots::default(),
            places: BTreeMap::new(),
            queue: VecDeque::new(),
            somebody_waits: true,
            accept_at: Time::ZERO,
            telling: Telling::default(),
            ledger: Ledger::default(),
            was_up: false,
            is_parting: false,
            failure: None,
            scratch: vec![0; CHUNK].into(),
            now: Time::ZERO,
        })
    }

    /// Why it ended, if that was not for the good.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}

impl<O: Outside> Station for Carrying<O> {
    type Session = Tunnel;

    const SIDE: &'static str = O::SIDE;

    fn metrics() -> impl Iterator<Item = &'static Metric> {
        ledger::METRICS.iter()
    }

    fn session(&mut self) -> &mut Tunnel {
        &mut self.tunnel
    }

    fn exchange(&mut self, now: Time, ready: &mut Ready) -> Result<bool, Error> {
        self.now = now;
        let mut more = ready.take() && self.look().map_err(Error::io("watching connections"))?;
        self.listen(now);
        if self.somebody_waits && !self.is_parting && now >= self.accept_at {
            more |= self.accept(now);
        }
        more |= self.move_bytes(now);
        self.listen(now);
        self.ledger.look(now, &self.tunnel);
        if self.outside.is_over() && self.lines.len() == 0 {
            self.part(now, Reason::Done, STOPPED);
        }
        Ok(more || !self.queue.is_empty())
    }

    fn interests<'a>(&'a self, interests: &mut Interests<'a>) {
        interests.read(&self.watch);
    }

    fn rest(&self) -> Span {
        Span::ZERO
    }

    fn next(&self) -> Option<Time> {
        match (self.queue.is_empty(), self.somebody_waits) {
            (false, _) => Some(Time::ZERO),
            (true, true) if !self.is_parting => Some(self.accept_at),
            (true, _) => None,
        }
    }

    fn has_begun(&self) -> bool {
        self.was_up || self.outside.survives(false)
    }

    fn histogram(&self) -> Option<Histogram> {
        Some(self.ledger.delays(&self.tunnel))
    }

    fn finish(&mut self, now: Time) {
        // Connections whose both ends are known here are whole.
        self.listen(now);
        if O::IS_SINGLE && !self.is_parting {
            self.failure = Some("stopped before all had arrived".to_owned());
        }
        self.part(now, Reason::Stopped, STOPPED);
    }

    fn is_over(&self) -> bool {
        self.is_parting && self.tunnel.is_over() && self.lines.len() == 0
    }

    fn poll_report(&mut self) -> Option<Report> {
        // What sending has made room for is to be used in the next turn, which must then come at once.
        self.listen(self.now);
        self.telling.poll()
    }
}

impl<O: Outside> Probe for Carrying<O> {
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.ledger.probe(&self.tunnel, self.is_parting, visit);
        visit("connections_total", self.telling.opened as f64);
        visit("broken_connections_total", self.telling.broken as f64);
        visit("refused_connections_total", self.telling.refused as f64);
    }
}
