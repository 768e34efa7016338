//! What the tunnel tells, and what follows from it.

use thalweg_core::session::Session;
use thalweg_core::session::secure::{self, Ending};
use thalweg_core::session::tunnel::{Event, Id, Reason, Why};
use thalweg_core::time::Time;

use super::line::Line;
use super::{Carrying, Outside};
use crate::error::plain;

impl<O: Outside> Carrying<O> {
    /// Takes the tunnel's events in.
    pub(super) fn listen(&mut self, now: Time) {
        while let Some(event) = self.tunnel.poll_event() {
            match event {
                Event::Opened(id) => match self.outside.admit(id) {
                    Ok(outlet) => self.place(id, outlet),
                    Err(error) => {
                        self.tunnel.reset(id, O::REFUSAL);
                        self.telling.refused(id, &plain(&error));
                    }
                },
                Event::Readable(id) => self.wake(id, Line::on_arrival),
                Event::Writable(id) => self.wake(id, Line::on_room),
                Event::Finished(id) => self.wake(id, Line::on_finish),
                Event::Closed(id) => self.wake(id, Line::on_close),
                Event::Reset(id, reason) => self.on_reset(now, id, reason),
                Event::Up { .. } => {
                    self.was_up = true;
                    self.outside.on_up();
                    self.telling.link(event);
                }
                Event::Down { link, why } => {
                    self.ledger.note(link, &self.tunnel);
                    let survives = self.outside.survives(self.was_up);
                    // Who was asked to end is no news when the other end repeats why.
                    let is_echo = self.is_parting && why == Why::Ended(Ending::ClosedByPeer(secure::Reason::Stopped));
                    self.telling.down(link, why, survives && !is_echo);
                    if !survives {
                        self.fail(now, why.to_string());
                    }
                }
                Event::Moved { .. } | Event::Interrupted { .. } | Event::Resumed { .. } => self.telling.link(event),
            }
        }
    }

    /// The other end has broken a connection off.
    fn on_reset(&mut self, now: Time, id: Id, reason: Reason) {
        let Some(line) = self.remove(id) else { return };
        let name = line.name();
        self.telling.reset(id, &name, reason, !O::IS_SINGLE);
        line.abort(&reason.to_string());
        if O::IS_SINGLE {
            self.fail(now, reason.to_string());
        }
    }

    /// Ends all for that reason; only the first counts.
    pub(super) fn fail(&mut self, now: Time, why: String) {
        self.part(now, secure::Reason::Stopped, &why);
        self.failure.get_or_insert(why);
    }

    /// Begins the end. What the tunnel has not carried to its end is broken off, lest a part be taken for the whole; who
    /// has yet to read the rest of a connection that is done may do so while the other ends are told.
    pub(super) fn part(&mut self, now: Time, reason: secure::Reason, why: &str) {
        if std::mem::replace(&mut self.is_parting, true) {
            return;
        }
        self.tunnel.shutdown(now, reason);
        for (id, slot) in std::mem::take(&mut self.places) {
            if self.lines.get_mut(slot).is_some_and(|line| line.is_closed()) {
                self.places.insert(id, slot);
            } else if let Some(line) = self.lines.take(slot) {
                self.telling.cut_off(id, &line.name(), why);
                line.abort(why);
            }
        }
    }
}
