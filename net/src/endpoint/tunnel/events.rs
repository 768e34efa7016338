//! Handling of the tunnel's events.

use thalweg_core::session::Session;
use thalweg_core::session::secure::{self, Ending};
use thalweg_core::session::tunnel::{Event, Id, Reason, Why};
use thalweg_core::time::Time;

use super::splice::Splice;
use super::{LocalSide, TunnelEndpoint};
use crate::error::plain;

impl<O: LocalSide> TunnelEndpoint<O> {
    /// Handles the tunnel's events.
    pub(super) fn handle_events(&mut self, now: Time) {
        while let Some(event) = self.tunnel.poll_event() {
            match event {
                Event::Opened(id) => match self.local.admit(id) {
                    Ok(stream) => self.attach(id, stream),
                    Err(error) => {
                        self.tunnel.reset(id, O::REFUSAL);
                        self.reports.refused(id, &plain(&error));
                    }
                },
                Event::Readable(id) => self.wake(id, Splice::on_arrival),
                Event::Writable(id) => self.wake(id, Splice::on_capacity),
                Event::Finished(id) => self.wake(id, Splice::on_finish),
                Event::Closed(id) => self.wake(id, Splice::on_close),
                Event::Reset(id, reason) => self.on_reset(now, id, reason),
                Event::Up { .. } => {
                    self.was_up = true;
                    self.local.on_up();
                    self.reports.link(event);
                }
                Event::Down { link, why } => {
                    self.ledger.note(link, &self.tunnel);
                    let survives = self.local.survives(self.was_up);
                    // The peer's echo of this side's own stop is not reported.
                    let is_echo = self.is_ending && why == Why::Ended(Ending::ClosedByPeer(secure::Reason::Stopped));
                    self.reports.down(link, why, survives && !is_echo);
                    if !survives {
                        self.fail(now, why.to_string());
                    }
                }
                event => self.reports.link(event),
            }
        }
    }

    /// Handles a connection that was reset by the peer, or lost with its link.
    fn on_reset(&mut self, now: Time, id: Id, reason: Reason) {
        let Some(splice) = self.remove(id) else { return };
        let name = splice.name();
        self.reports.reset(id, &name, reason, !O::IS_SINGLE);
        splice.abort(&reason.to_string());
        if O::IS_SINGLE {
            self.fail(now, reason.to_string());
        }
    }

    /// Ends everything for this reason; only the first one counts.
    pub(super) fn fail(&mut self, now: Time, why: String) {
        self.shut_down(now, secure::Reason::Stopped, &why);
        self.failure.get_or_insert(why);
    }

    /// Begins the end. Connections that have not ended in the tunnel are reset, lest a part be taken for the whole;
    /// those that have may still be read to their end while the peers are notified.
    pub(super) fn shut_down(&mut self, now: Time, reason: secure::Reason, why: &str) {
        if std::mem::replace(&mut self.is_ending, true) {
            return;
        }
        self.tunnel.shutdown(now, reason);
        for (id, slot) in std::mem::take(&mut self.slot_of) {
            if self.splices.get_mut(slot).is_some_and(|splice| splice.is_closed()) {
                self.slot_of.insert(id, slot);
            } else if let Some(splice) = self.splices.take(slot) {
                self.reports.cut_off(id, &splice.name(), why);
                splice.abort(why);
            }
        }
    }
}
