//! One end of a tunnel: its connections, and the files, sockets or memory that they are spliced to.

mod events;
mod ledger;
mod local;
mod reports;
mod slots;
mod splice;
mod transfer;

use std::collections::{BTreeMap, VecDeque};

use thalweg_core::metric::Metric;
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::session::secure::Reason;
use thalweg_core::session::tunnel::{Id, Tunnel};
use thalweg_core::time::{Span, Time};

use self::ledger::Ledger;
pub use self::local::{LocalSide, LocalStream};
use self::reports::Reports;
use self::slots::Slots;
use self::splice::Splice;
use super::Endpoint;
use crate::error::Error;
use crate::histogram::Histogram;
use crate::poll::{Interests, Ready};
use crate::report::Report;
use crate::watch::Watch;

/// Limit in bytes on a single move.
const CHUNK: usize = 64 << 10;
/// The reason that connections are given when the tunnel is stopped.
const STOPPED: &str = "the tunnel was stopped";
/// The watch token of new connections from outside.
const NEWCOMERS: u64 = u64::MAX;

/// A tunnel and its splices.
#[derive(Debug)]
pub struct TunnelEndpoint<O: LocalSide> {
    tunnel: Tunnel,
    local: O,
    watch: Watch,
    splices: Slots<Splice<O::LocalStream>>,
    slot_of: BTreeMap<Id, usize>,
    /// Splices that may make progress, in order of their turns.
    queue: VecDeque<usize>,
    may_accept: bool,
    /// The time before which no connection is accepted, since the machine lacks resources for more.
    accept_at: Time,
    reports: Reports,
    ledger: Ledger,
    was_up: bool,
    is_ending: bool,
    failure: Option<String>,
    scratch: Box<[u8]>,
    /// The time of the last turn.
    now: Time,
}

impl<O: LocalSide> TunnelEndpoint<O> {
    /// Splices the connections of `tunnel` to `local`.
    ///
    /// # Errors
    /// The kernel refuses to watch.
    pub fn new(tunnel: Tunnel, local: O) -> Result<TunnelEndpoint<O>, Error> {
        let watch = Watch::new().and_then(|watch| local.watch(&watch, NEWCOMERS).map(|()| watch));
        Ok(TunnelEndpoint {
            tunnel,
            local,
            watch: watch.map_err(Error::io("watching connections"))?,
            splices: Slots::default(),
            slot_of: BTreeMap::new(),
            queue: VecDeque::new(),
            may_accept: true,
            accept_at: Time::ZERO,
            reports: Reports::default(),
            ledger: Ledger::default(),
            was_up: false,
            is_ending: false,
            failure: None,
            scratch: vec![0; CHUNK].into(),
            now: Time::ZERO,
        })
    }

    /// The reason of the end, if it was a failure.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}

impl<O: LocalSide> Endpoint for TunnelEndpoint<O> {
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
        let mut more = ready.take() && self.poll_watch().map_err(Error::io("watching connections"))?;
        self.handle_events(now);
        if self.may_accept && !self.is_ending && now >= self.accept_at {
            more |= self.accept(now);
        }
        more |= self.move_bytes(now);
        self.handle_events(now);
        self.ledger.sample(now, &self.tunnel);
        if self.local.is_over() && self.splices.len() == 0 {
            self.shut_down(now, Reason::Done, STOPPED);
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
        match (self.queue.is_empty(), self.may_accept) {
            (false, _) => Some(Time::ZERO),
            (true, true) if !self.is_ending => Some(self.accept_at),
            (true, _) => None,
        }
    }

    fn has_begun(&self) -> bool {
        self.was_up || self.local.survives(false)
    }

    fn histogram(&self) -> Option<Histogram> {
        Some(self.ledger.delays(&self.tunnel))
    }

    fn finish(&mut self, now: Time) {
        // Events first: a connection whose directions are both known to have ended counts as complete.
        self.handle_events(now);
        if O::IS_SINGLE && !self.is_ending {
            self.failure = Some("stopped before all data had arrived".to_owned());
        }
        self.shut_down(now, Reason::Stopped, STOPPED);
    }

    fn is_over(&self) -> bool {
        self.is_ending && self.tunnel.is_over() && self.splices.len() == 0
    }

    fn poll_report(&mut self) -> Option<Report> {
        // Capacity that sending has freed is to be used in the next turn, which must then follow at once.
        self.handle_events(self.now);
        self.reports.poll()
    }
}

impl<O: LocalSide> Probe for TunnelEndpoint<O> {
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.ledger.probe(&self.tunnel, self.is_ending, visit);
        visit("connections_total", self.reports.opened as f64);
        visit("broken_connections_total", self.reports.broken as f64);
        visit("refused_connections_total", self.reports.refused as f64);
    }
}
