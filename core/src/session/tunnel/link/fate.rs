//! How a link begins, is interrupted and goes on, and ends.

use std::collections::VecDeque;

use super::{Carrier, Event, Id, Link, Message, Reason, Role, Shape, Stream, Time, Why, law, shape, stream};
use crate::session::secure::{self, Ending};
use crate::wire;

impl Link {
    /// Whether both ends ever knew of the stream.
    pub(in super::super) fn was_up(&self) -> bool {
        self.stream.is_some()
    }

    /// Whether nothing of it is left to be told or read.
    pub(in super::super) fn is_over(&self) -> bool {
        self.fate.is_some() && self.carrier.is_none() && self.mux.is_over()
    }

    /// Whether its client should call again.
    pub(in super::super) fn wants_association(&self) -> bool {
        self.role == Role::Initiator && self.fate.is_none() && self.carrier.is_none()
    }

    /// Another association, which a client has begun.
    pub(in super::super) fn carry(&mut self, carrier: Carrier) {
        self.carrier = Some(carrier);
    }

    /// Another association, by which a client has asked for the stream of this link.
    pub(in super::super) fn resume(&mut self, now: Time, carrier: Carrier, events: &mut VecDeque<Event>) {
        // The client knows best that the one before is no more.
        self.interrupt(now, events);
        self.carrier = Some(carrier);
        self.answer();
        self.go_on(now, events);
    }

    /// The other end is said to have no association of this id; whether that is the one that carries the stream.
    pub(in super::super) fn doubt(&mut self, now: Time, id: u64) -> bool {
        self.carrier.as_mut().is_some_and(|carrier| carrier.doubt(now, id))
    }

    /// Begins the end.
    pub(in super::super) fn shutdown(&mut self, now: Time, reason: secure::Reason, events: &mut VecDeque<Event>) {
        self.stopping = Some(reason);
        self.mux.shutdown();
        if self.fate.is_some() {
            return;
        }
        let carries = self.carries();
        match &mut self.carrier {
            Some(_) if carries => {}
            // Nobody is there who could be told more than that.
            Some(carrier) => carrier.close(now, reason),
            None => self.go_down(Why::Ended(Ending::Closed(reason)), events),
        }
        self.on_association(now, events);
    }

    /// Closes the association of a link that is stopped, when all has arrived.
    pub(super) fn close_if_done(&mut self, now: Time) {
        let is_delivered = |stream: &Stream| stream.sender().queue().is_empty() && stream.sender().unsent() == 0;
        let is_done = self.frames.is_empty() && self.stream.as_ref().is_some_and(is_delivered);
        if let Some(reason) = self.stopping.filter(|_| is_done && self.fate.is_none()) {
            self.close(now, reason);
        }
    }

    /// Tells the client that the stream is here.
    pub(super) fn answer(&mut self) {
        if let (Some(carrier), Some(stream)) = (&mut self.carrier, &self.stream) {
            let made = stream.config();
            // What was made of a shape is one.
            let shape = Shape { frame: made.frame as u16, window: made.window as u16 };
            carrier.owe(Message::Attached { stream: self.name, shape });
        }
    }

    pub(super) fn on_message(
        &mut self,
        now: Time,
        message: Message,
        events: &mut VecDeque<Event>,
    ) -> Result<(), wire::Error> {
        match (message, self.role) {
            (Message::Attach { stream, .. }, Role::Responder) if stream == self.name => {
                self.answer();
                Ok(())
            }
            (Message::Attached { stream, shape }, Role::Initiator) if stream == self.name => {
                self.on_attached(now, shape, events)
            }
            (Message::Unknown { stream }, Role::Initiator) if stream == self.name => {
                self.go_down(Why::Forgotten, events);
                self.close(now, secure::Reason::Lost);
                Ok(())
            }
            _ => Err(wire::Error::Unknown),
        }
    }

    fn on_attached(&mut self, now: Time, told: Shape, events: &mut VecDeque<Event>) -> Result<(), wire::Error> {
        let Some(carrier) = self.carrier.as_mut().filter(|carrier| !carrier.is_attached()) else { return Ok(()) };
        if self.stream.is_none() {
            let asked = shape(&self.config);
            let is_less = told.frame <= asked.frame && told.window <= asked.window;
            self.stream = Some(stream(&self.config, told, now).ok().filter(|_| is_less).ok_or(wire::Error::Malformed)?);
            self.peer = carrier.association().peer();
            let key = carrier.association().peer_key();
            events.push_back(Event::Up { link: self.number, from: self.peer, key });
        }
        carrier.attached();
        self.go_on(now, events);
        Ok(())
    }

    /// Takes note of what became of the association.
    pub(super) fn on_association(&mut self, now: Time, events: &mut VecDeque<Event>) {
        while let Some(event) = self.carrier.as_mut().and_then(Carrier::poll_event) {
            match event {
                secure::Event::Established | secure::Event::Rekeyed { .. } => {}
                secure::Event::Moved { to } => {
                    self.peer = to;
                    events.push_back(Event::Moved { link: self.number, to });
                }
                secure::Event::Ended(ending) => self.on_ended(now, ending, events),
            }
        }
        self.carrier.take_if(|carrier| carrier.is_over());
    }

    fn on_ended(&mut self, now: Time, ending: Ending, events: &mut VecDeque<Event>) {
        use Ending::{NoAnswer, Refused, Silent, WornOut};
        let may_return = matches!(ending, Silent | WornOut | NoAnswer | Refused);
        if self.fate.is_some() {
        } else if self.was_up() && may_return && self.stopping.is_none() {
            self.interrupt(now, events);
        } else {
            self.go_down(Why::Ended(ending), events);
        }
    }

    fn interrupt(&mut self, now: Time, events: &mut VecDeque<Event>) {
        if self.interrupted.is_none() {
            self.interrupted = Some(now);
            events.push_back(Event::Interrupted { link: self.number });
        }
    }

    /// Goes on after an interruption, if there was one.
    fn go_on(&mut self, now: Time, events: &mut VecDeque<Event>) {
        if self.interrupted.take().is_none() {
            return;
        }
        events.push_back(Event::Resumed { link: self.number });
        let peer = self.carrier.as_ref().map_or(self.peer, |carrier| carrier.association().peer());
        if peer != self.peer {
            self.peer = peer;
            events.push_back(Event::Moved { link: self.number, to: peer });
        }
        if let Some(stream) = &mut self.stream
            && let Ok(law) = law(&self.config, stream.config(), now)
        {
            stream.resume(now, law);
        }
    }

    /// Gives up when the other end has been away for too long.
    pub(super) fn on_silence(&mut self, now: Time, events: &mut VecDeque<Event>) {
        if self.interrupted.is_some_and(|since| since + self.config.resume <= now) && self.fate.is_none() {
            self.go_down(Why::GaveUp, events);
            self.close(now, secure::Reason::Lost);
        }
    }

    /// When to call again, or give up.
    pub(super) fn next_try(&self) -> Option<Time> {
        let since = self.interrupted.filter(|_| self.fate.is_none())?;
        Some(if self.wants_association() { since } else { since + self.config.resume })
    }

    /// What came makes no sense.
    pub(super) fn fail(&mut self, now: Time, events: &mut VecDeque<Event>) {
        self.go_down(Why::Protocol, events);
        self.close(now, secure::Reason::Protocol);
    }

    /// Ends for want of memory.
    pub(in super::super) fn overload(&mut self, now: Time, events: &mut VecDeque<Event>) {
        let reason = secure::Reason::Overload;
        self.go_down(Why::Ended(Ending::Closed(reason)), events);
        self.close(now, reason);
    }

    fn close(&mut self, now: Time, reason: secure::Reason) {
        if let Some(carrier) = &mut self.carrier {
            carrier.close(now, reason);
        }
    }

    fn go_down(&mut self, why: Why, events: &mut VecDeque<Event>) {
        (self.fate, self.interrupted) = (Some(why), None);
        events.push_back(Event::Down { link: self.number, why });
        let broken = self.mux.end().into_iter().map(|connection| Id { link: self.number, connection });
        events.extend(broken.map(|id| Event::Reset(id, Reason::Lost(why))));
    }
}
