//! What a tunnel's end tells: its links, and how its connections began and ended.

use std::collections::VecDeque;

use thalweg_core::session::mux;
use thalweg_core::session::secure::Ending;
use thalweg_core::session::secure::Reason::{Done, Overload};
use thalweg_core::session::tunnel::{Event, Id, Reason, Why};

use crate::report::Report;

/// So many things wait to be told; of connections that come and go faster than anybody reads, only the count is kept.
const MOST: usize = 4096;

/// Adds which connection it is about.
fn of(id: Id, report: Report) -> Report {
    report.with_number("link", id.link as f64).with_number("connection", id.connection.into())
}

/// Reports that wait, and counts.
#[derive(Debug, Default)]
pub(super) struct Telling {
    waiting: VecDeque<Report>,
    pub(super) opened: u64,
    pub(super) broken: u64,
    pub(super) refused: u64,
}

impl Telling {
    pub(super) fn poll(&mut self) -> Option<Report> {
        self.waiting.pop_front()
    }

    /// A connection was opened, for `name`.
    pub(super) fn opened(&mut self, id: Id, name: &str) {
        self.opened += 1;
        self.push(of(id, Report::new("opened", "").with("for", name)));
    }

    /// Both directions of a connection are done.
    pub(super) fn closed(&mut self, id: Id) {
        self.push(of(id, Report::new("closed", "")));
    }

    /// What the connection was for is broken.
    pub(super) fn broken(&mut self, id: Id, name: &str, why: &str, reason: mux::Reason) {
        self.broken += 1;
        // That a program breaks its own connection off is its business.
        let text = if reason == mux::Reason::Unreachable { format!("{name}: {why}") } else { String::new() };
        self.push(of(id, Report::new("broken", text).with("for", name).with("why", why)));
    }

    /// Nobody takes the connection.
    pub(super) fn refused(&mut self, id: Id, why: &str) {
        self.refused += 1;
        self.push(of(id, Report::new("refused", format!("a connection was refused: {why}")).with("why", why)));
    }

    /// There is no connection for who has come.
    pub(super) fn turned_away(&mut self, name: &str, why: &str) {
        self.refused += 1;
        self.push(
            Report::new("turned_away", format!("{name} was turned away: {why}")).with("for", name).with("why", why),
        );
    }

    /// The other end broke the connection off, and with it all there is where nothing `survives` that.
    pub(super) fn reset(&mut self, id: Id, name: &str, reason: Reason, survives: bool) {
        self.broken += 1;
        let text = match reason {
            _ if !survives => String::new(),
            Reason::Told(mux::Reason::Aborted) => String::new(),
            // The link's own line says so.
            Reason::Lost(_) => String::new(),
            Reason::Told(_) => format!("{name}: {reason}"),
        };
        self.push(of(id, Report::new("reset", text).with("for", name).with("why", reason)));
    }

    /// The connection ends with all that is here.
    pub(super) fn cut_off(&mut self, id: Id, name: &str, why: &str) {
        self.broken += 1;
        // What ends all has a line of its own.
        self.push(of(id, Report::new("reset", "").with("for", name).with("why", why)));
    }

    /// Something is not as it should be.
    pub(super) fn warn(&mut self, text: String) {
        self.push(Report::warning(text));
    }

    /// What became of a link.
    pub(super) fn link(&mut self, event: Event) {
        let report = match event {
            Event::Up { link, from, key } => {
                let up = Report::new("up", format!("up: {from} has the key"));
                let up = up.with_number("link", link as f64).with("from", from);
                match key {
                    Some(key) => up.with("peer", key).text_with(&format!(", peer {key}")),
                    None => up,
                }
            }
            Event::Moved { link, to } => Report::new("moved", format!("the other end is at {to} now"))
                .with_number("link", link as f64)
                .with("from", to),
            Event::Interrupted { link } => {
                Report::new("interrupted", "nothing comes from the other end; its connections wait")
                    .with_number("link", link as f64)
            }
            Event::Resumed { link } => {
                Report::new("resumed", "the other end is back, and no byte is lost").with_number("link", link as f64)
            }
            _ => return,
        };
        self.push(report);
    }

    /// A link is gone, and with it all there is where nothing `survives` that.
    pub(super) fn down(&mut self, link: u64, why: Why, survives: bool) {
        let text = match why {
            Why::Ended(Ending::Closed(Done) | Ending::ClosedByPeer(Done)) => why.to_string(),
            Why::Ended(Ending::Closed(Overload)) => format!("down: {why}"),
            // An end of our own making is no news, and what ends all has a line of its own.
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
