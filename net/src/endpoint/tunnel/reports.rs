//! Reports of a tunnel's endpoint: its links, and how its connections began and ended.

use std::collections::VecDeque;

use thalweg_core::session::mux;
use thalweg_core::session::secure::Ending;
use thalweg_core::session::secure::Reason::{Done, Overload};
use thalweg_core::session::tunnel::{Event, Id, Reason, Why};

use crate::report::Report;

/// Limit on waiting reports; connections that come and go faster than reports are read are only counted.
const MOST: usize = 4096;

/// Adds the connection that a report is about.
fn of(id: Id, report: Report) -> Report {
    report.with_number("link", id.link as f64).with_number("connection", id.connection.into())
}

/// Waiting reports, and counts.
#[derive(Debug, Default)]
pub(super) struct Reports {
    waiting: VecDeque<Report>,
    pub(super) opened: u64,
    pub(super) broken: u64,
    pub(super) refused: u64,
}

impl Reports {
    pub(super) fn poll(&mut self) -> Option<Report> {
        self.waiting.pop_front()
    }

    /// Reports that a connection was opened, for `name`.
    pub(super) fn opened(&mut self, id: Id, name: &str) {
        self.opened += 1;
        self.push(of(id, Report::new("opened", "").with("for", name)));
    }

    /// Reports that both directions of a connection have ended.
    pub(super) fn closed(&mut self, id: Id) {
        self.push(of(id, Report::new("closed", "")));
    }

    /// Reports that the outlet of a connection is broken.
    pub(super) fn broken(&mut self, id: Id, name: &str, why: &str, reason: mux::Reason) {
        self.broken += 1;
        // A program that resets its own connection is no fault, and needs no line.
        let text = if reason == mux::Reason::Unreachable { format!("{name}: {why}") } else { String::new() };
        self.push(of(id, Report::new("broken", text).with("for", name).with("why", why)));
    }

    /// Reports that a connection of the peer was refused.
    pub(super) fn refused(&mut self, id: Id, why: &str) {
        self.refused += 1;
        self.push(of(id, Report::new("refused", format!("refused a connection: {why}")).with("why", why)));
    }

    /// Reports that a local connection got none through the tunnel.
    pub(super) fn turned_away(&mut self, name: &str, why: &str) {
        self.refused += 1;
        self.push(
            Report::new("turned_away", format!("no connection for {name}: {why}")).with("for", name).with("why", why),
        );
    }

    /// Reports that a connection was reset by the peer or lost with its link; without a line if nothing `survives`
    /// that.
    pub(super) fn reset(&mut self, id: Id, name: &str, reason: Reason, survives: bool) {
        self.broken += 1;
        let text = match reason {
            _ if !survives => String::new(),
            Reason::Reset(mux::Reason::Aborted) => String::new(),
            // The line of the link says so.
            Reason::Lost(_) => String::new(),
            Reason::Reset(_) => format!("{name}: {reason}"),
        };
        self.push(of(id, Report::new("reset", text).with("for", name).with("why", reason)));
    }

    /// Reports that a connection ends because the endpoint does.
    pub(super) fn cut_off(&mut self, id: Id, name: &str, why: &str) {
        self.broken += 1;
        // The end of the endpoint has a line of its own.
        self.push(of(id, Report::new("reset", "").with("for", name).with("why", why)));
    }

    /// Reports a warning.
    pub(super) fn warn(&mut self, text: String) {
        self.push(Report::warning(text));
    }

    /// Reports an event of a link.
    pub(super) fn link(&mut self, event: Event) {
        let report = match event {
            Event::Up { link, from, key } => {
                let up = Report::new("up", format!("up: connected to {from}"));
                let up = up.with_number("link", link as f64).with("from", from);
                match key {
                    Some(key) => up.with("peer", key).text_with(&format!(", public key {key}")),
                    None => up,
                }
            }
            Event::Moved { link, to } => Report::new("moved", format!("the peer is now at {to}"))
                .with_number("link", link as f64)
                .with("from", to),
            Event::Interrupted { link } => Report::new("interrupted", "no packets from the peer; its connections wait")
                .with_number("link", link as f64),
            Event::Resumed { link } => {
                Report::new("resumed", "the peer is back; no data was lost").with_number("link", link as f64)
            }
            _ => return,
        };
        self.push(report);
    }

    /// Reports the end of a link; without a line if nothing `survives` that.
    pub(super) fn down(&mut self, link: u64, why: Why, survives: bool) {
        let text = match why {
            Why::Ended(Ending::Closed(Done) | Ending::ClosedByPeer(Done)) => why.to_string(),
            Why::Ended(Ending::Closed(Overload)) => format!("down: {why}"),
            // An end that this side has caused needs no line, and the end of the endpoint has one of its own.
            Why::Ended(Ending::Closed(_)) => String::new(),
            _ if !survives => String::new(),
            _ => format!("down: {why}"),
        };
        self.push(Report::new("down", text).with_number("link", link as f64).with("why", why));
    }

    fn push(&mut self, report: Report) {
        if self.waiting.len() < MOST {
            self.waiting.push_back(report);
        }
    }
}
