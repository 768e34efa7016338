//! Lifecycle of a link: start, interruption, resumption and end.

use super::{Carrier, Link, Message, Role, Shape, Stream, Time, Why, law, shape, stream};
use crate::session::secure::{self, Ending};
use crate::wire;

impl Link {
    /// True if both ends ever knew of the stream.
    pub(in super::super) fn was_up(&self) -> bool {
        self.stream.is_some()
    }

    /// True if nothing of the link is left to be reported or read.
    pub(in super::super) fn is_over(&self) -> bool {
        self.phase.is_down() && self.phase.is_drained() && self.carrier.is_none() && self.mux.is_over()
    }

    /// True if the client should make another association.
    pub(in super::super) fn wants_association(&self) -> bool {
        self.role == Role::Initiator && !self.phase.is_down() && self.carrier.is_none()
    }

    /// Takes another association, which the client has begun.
    pub(in super::super) fn carry(&mut self, carrier: Carrier) {
        self.carrier = Some(carrier);
    }

    /// Takes another association, by which a client has asked for the stream of this link.
    pub(in super::super) fn resume(&mut self, now: Time, carrier: Carrier) {
        // The client knows best that the previous association is gone.
        self.phase.interrupt(now);
        self.carrier = Some(carrier);
        self.answer();
        self.go_on(now);
    }

    /// Handles the claim that the peer has no association `id`; returns true if that one carries the stream.
    pub(in super::super) fn on_unknown(&mut self, now: Time, id: u64) -> bool {
        self.carrier.as_mut().is_some_and(|carrier| carrier.on_unknown(now, id))
    }

    /// Begins the shutdown.
    pub(in super::super) fn shutdown(&mut self, now: Time, reason: secure::Reason) {
        self.phase.stop(reason);
        self.mux.shutdown();
        if self.phase.is_down() {
            return;
        }
        let carries = self.carries();
        match &mut self.carrier {
            Some(_) if carries => {}
            // Without an attached stream a close is all that can be sent.
            Some(carrier) => carrier.close(now, reason),
            None => self.go_down(Why::Ended(Ending::Closed(reason))),
        }
        self.on_association(now);
    }

    /// Closes the association of a link that is shutting down, when all has arrived.
    pub(super) fn close_if_done(&mut self, now: Time) {
        let is_delivered = |stream: &Stream| stream.sender().queue().is_empty() && stream.sender().unsent() == 0;
        let is_done = self.frames.is_empty() && self.stream.as_ref().is_some_and(is_delivered);
        if let Some(reason) = self.phase.stopping().filter(|_| is_done) {
            self.close(now, reason);
        }
    }

    /// Answers the client that the stream is attached.
    pub(super) fn answer(&mut self) {
        if let (Some(carrier), Some(stream)) = (&mut self.carrier, &self.stream) {
            let made = stream.config();
            // The stream was made of a shape, so its values fit.
            let shape = Shape { frame: made.frame as u16, window: made.window as u16 };
            carrier.queue_message(Message::Attached { stream: self.name, shape });
        }
    }

    pub(super) fn on_message(&mut self, now: Time, message: Message) -> Result<(), wire::Error> {
        match (message, self.role) {
            (Message::Attach { stream, .. }, Role::Responder) if stream == self.name => {
                self.answer();
                Ok(())
            }
            (Message::Attached { stream, shape }, Role::Initiator) if stream == self.name => {
                self.on_attached(now, shape)
            }
            (Message::Unknown { stream }, Role::Initiator) if stream == self.name => {
                self.go_down(Why::Forgotten);
                self.close(now, secure::Reason::Lost);
                Ok(())
            }
            _ => Err(wire::Error::Unknown),
        }
    }

    fn on_attached(&mut self, now: Time, granted: Shape) -> Result<(), wire::Error> {
        let Some(carrier) = self.carrier.as_mut().filter(|carrier| !carrier.is_attached()) else { return Ok(()) };
        if self.stream.is_none() {
            let asked = shape(&self.config);
            let is_less = granted.frame <= asked.frame && granted.window <= asked.window;
            self.stream =
                Some(stream(&self.config, granted, now).ok().filter(|_| is_less).ok_or(wire::Error::Malformed)?);
            self.peer = carrier.association().peer();
            let key = carrier.association().peer_key();
            self.phase.begin(self.peer, key);
        }
        carrier.attached();
        self.go_on(now);
        Ok(())
    }

    /// Handles the events of the association.
    pub(super) fn on_association(&mut self, now: Time) {
        while let Some(event) = self.carrier.as_mut().and_then(Carrier::poll_event) {
            match event {
                secure::Event::Established | secure::Event::Rekeyed { .. } => {}
                secure::Event::Moved { to } => {
                    self.peer = to;
                    self.phase.relocate(to);
                }
                secure::Event::Ended(ending) => self.on_ended(now, ending),
            }
        }
        self.carrier.take_if(|carrier| carrier.is_over());
    }

    fn on_ended(&mut self, now: Time, ending: Ending) {
        use Ending::{NoAnswer, Refused, Silent, WornOut};
        let may_return = matches!(ending, Silent | WornOut | NoAnswer | Refused);
        if self.phase.is_down() {
        } else if self.was_up() && may_return && !self.phase.is_stopping() {
            self.phase.interrupt(now);
        } else {
            self.go_down(Why::Ended(ending));
        }
    }

    /// Resumes the stream after an interruption, if there was one.
    fn go_on(&mut self, now: Time) {
        if !self.phase.resume() {
            return;
        }
        let peer = self.carrier.as_ref().map_or(self.peer, |carrier| carrier.association().peer());
        if peer != self.peer {
            self.peer = peer;
            self.phase.relocate(peer);
        }
        if let Some(stream) = &mut self.stream
            && let Ok(law) = law(&self.config, stream.config(), now)
        {
            stream.resume(now, law);
        }
    }

    /// Gives up when the peer has been silent for too long.
    pub(super) fn on_silence(&mut self, now: Time) {
        if self.phase.gives_up_at().is_some_and(|at| at <= now) {
            self.go_down(Why::GaveUp);
            self.close(now, secure::Reason::Lost);
        }
    }

    /// The time at which to make another association, or to give up.
    pub(super) fn next_try(&self) -> Option<Time> {
        if self.wants_association() { self.phase.waits_since() } else { self.phase.gives_up_at() }
    }

    /// Ends the link because the peer violated the protocol.
    pub(super) fn fail(&mut self, now: Time) {
        self.go_down(Why::Protocol);
        self.close(now, secure::Reason::Protocol);
    }

    /// Ends the link for lack of memory.
    pub(in super::super) fn overload(&mut self, now: Time) {
        let reason = secure::Reason::Overload;
        self.go_down(Why::Ended(Ending::Closed(reason)));
        self.close(now, reason);
    }

    fn close(&mut self, now: Time, reason: secure::Reason) {
        if let Some(carrier) = &mut self.carrier {
            carrier.close(now, reason);
        }
    }

    fn go_down(&mut self, why: Why) {
        self.phase.end(why, self.mux.end());
    }
}
