//! A command as an input: an encoder, whose standard output is MPEG-TS, and whose standard input has the rate that it
//! should have.
//!
//! It starts when media is first wanted. A command that ends, or whose output is not MPEG-TS, is started again after a wait
//! that doubles.

mod announcer;
mod restarts;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fs::File;

use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};

use super::silence::Silence;
use super::stream::Stream;
use crate::error::plain;
use crate::exec::{self, Exec};
use crate::poll::{Interests, Ready};
use announcer::Announcer;
use restarts::Restarts;

/// The time between SIGTERM and SIGKILL.
const GRACE: Span = Span::from_secs(2);
/// The time between two looks at processes that were asked to end.
const LOOK: Span = Span::from_millis(10);
/// The time after the end of its output in which a command ends with an exit code.
const LINGER: Span = Span::from_millis(200);
/// Media that is read ahead of its time: more would delay the effect of a new rate.
pub(super) const AHEAD: Span = Span::from_millis(200);

/// An encoder that runs, or will.
#[derive(Debug)]
pub(super) struct Encoder {
    command: String,
    announcer: Announcer,
    restarts: Restarts,
    state: State,
    /// Bytes of earlier runs that belong to no packet.
    skipped: Bytes,
    /// Warnings not yet reported.
    notices: VecDeque<String>,
}

#[derive(Debug)]
enum State {
    /// Not running; it starts when media is wanted, but not before this time.
    Waiting(Time),
    Running(Box<Running>),
    /// Its processes were asked to end.
    Ending {
        exec: Exec,
        /// The time of the SIGKILL; none once it was sent.
        kill: Option<Time>,
        /// The time of the next look.
        look: Time,
        /// The time of the next start.
        next: Time,
    },
}

#[derive(Debug)]
struct Running {
    exec: Exec,
    stream: Stream,
    since: Time,
    silence: Silence,
    /// The time at which its output has ended, once it has.
    over: Option<Time>,
}

impl Running {
    fn start(command: &str, now: Time) -> Result<Running, String> {
        let (exec, output): (Exec, File) = Exec::source(command).map_err(|error| plain(&error))?;
        Ok(Running { exec, stream: Stream::pipe(output), since: now, silence: Silence::new(now), over: None })
    }

    /// Passes due media to `take`; fails if the encoder has ended, or its output is not MPEG-TS.
    fn read(&mut self, now: Time, ready: &mut Ready, wanted: bool, mut take: impl FnMut(&[u8])) -> Result<(), String> {
        let has_ended = self.exec.resume_source(ready).map_err(|error| plain(&error))?;
        let Running { stream, silence, .. } = self;
        let read = stream.read(now, ready.take(), wanted, |datagram| {
            silence.end(now);
            take(datagram);
        });
        if !wanted {
            self.silence.postpone(now);
        }
        if self.stream.is_over() {
            self.over.get_or_insert(now);
        }
        match self.exec.exit_code().filter(|_| has_ended) {
            Some(code) => Err(format!("ended with exit code {code}")),
            None if self.lingers_until().is_some_and(|end| now >= end) => Err("its output has ended".to_owned()),
            // An exit code says more than that there was no media.
            None if self.over.is_some() => Ok(()),
            None => read.map(|_| ()),
        }
    }

    /// The time until which a command whose output has ended may end with an exit code.
    fn lingers_until(&self) -> Option<Time> {
        self.over.map(|over| over + LINGER)
    }
}

impl Encoder {
    /// As [`Encoder::new`].
    ///
    /// # Errors
    /// The program of the command does not exist, as far as the command's first word shows.
    pub(super) fn open(command: &str, start: Rate, least: Rate) -> Result<Encoder, String> {
        let word = command.split_whitespace().next().unwrap_or_default();
        let is_plain = word.chars().all(|letter| letter.is_ascii_alphanumeric() || "/._-+".contains(letter));
        if is_plain && exec::is_unknown(word) {
            return Err(format!("there is no program {word}; check its name and path"));
        }
        Ok(Encoder::new(command, start, least))
    }

    /// An encoder that begins at the rate `start`, and is never asked for less than `least`.
    pub(super) fn new(command: &str, start: Rate, least: Rate) -> Encoder {
        Encoder {
            command: command.to_owned(),
            announcer: Announcer::new(start, least),
            restarts: Restarts::default(),
            state: State::Waiting(Time::ZERO),
            skipped: Bytes(0),
            notices: VecDeque::new(),
        }
    }

    /// Takes the rate that the media should have; none is not known yet.
    pub(super) fn want(&mut self, now: Time, wanted: Option<Rate>) {
        // A rate that it has not read yet would be followed by older ones: the newest waits here.
        if let State::Running(running) = &mut self.state
            && !running.exec.is_waiting()
            && let Some(rate) = self.announcer.announce(now, wanted)
        {
            running.exec.put(format!("rate {}\n", rate.as_bps()).as_bytes());
            // An encoder that has closed its standard input does not follow; that it is too fast is reported elsewhere.
            let _ = running.exec.flush();
        }
    }

    /// Passes due media to `take`, starts the encoder if media is wanted, and starts it again if it has failed.
    pub(super) fn read(&mut self, now: Time, ready: &mut Ready, wanted: bool, take: impl FnMut(&[u8])) {
        match &mut self.state {
            State::Waiting(next) if wanted && *next <= now => self.start(now),
            State::Waiting(_) => {}
            State::Running(running) => match running.read(now, ready, wanted, take) {
                Ok(()) => self.notices.extend(running.silence.poll(now)),
                Err(why) => self.fail(now, &why),
            },
            State::Ending { exec, kill, look, next } => {
                if kill.take_if(|kill| *kill <= now).is_some() {
                    exec.kill();
                }
                *look = now + LOOK;
                if exec.is_gone() {
                    self.state = State::Waiting(*next);
                }
            }
        }
    }

    fn start(&mut self, now: Time) {
        self.announcer.restart();
        match Running::start(&self.command, now) {
            Ok(running) => self.state = State::Running(Box::new(running)),
            Err(why) => {
                let wait = self.restarts.on_ended(Span::ZERO);
                self.notices.push_back(format!("{why}; trying again in {wait}"));
                self.state = State::Waiting(now + wait);
            }
        }
    }

    /// Ends the running encoder, and plans its next start.
    fn fail(&mut self, now: Time, why: &str) {
        let State::Running(running) = std::mem::replace(&mut self.state, State::Waiting(now)) else { return };
        let Running { mut exec, stream, since, .. } = *running;
        self.skipped += stream.skipped();
        let wait = self.restarts.on_ended(now.since(since));
        self.notices.push_back(format!("{why}; starting it again in {wait}"));
        exec.ask_to_end();
        self.state = State::Ending { exec, kill: Some(now + GRACE), look: now + LOOK, next: now + wait };
    }

    /// Registers the descriptors to wait for.
    pub(super) fn interests<'a>(&'a self, interests: &mut Interests<'a>) {
        if let State::Running(running) = &self.state {
            running.exec.interests(interests);
            running.stream.interests(interests);
        }
    }

    /// The time at which [`Encoder::read`] or [`Encoder::want`] has work to do even if no data arrives.
    pub(super) fn next(&self) -> Option<Time> {
        match &self.state {
            State::Waiting(next) => Some(*next).filter(|next| *next > Time::ZERO),
            State::Running(running) => {
                [running.stream.next(), self.announcer.next(), running.lingers_until()].into_iter().flatten().min()
            }
            State::Ending { look, .. } => Some(*look),
        }
    }

    /// Bytes that belong to no packet.
    pub(super) fn skipped(&self) -> Bytes {
        match &self.state {
            State::Running(running) => self.skipped + running.stream.skipped(),
            _ => self.skipped,
        }
    }

    /// The next warning, if any.
    pub(super) fn poll_notice(&mut self) -> Option<String> {
        self.notices.pop_front()
    }
}
