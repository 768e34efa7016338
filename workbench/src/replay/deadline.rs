//! Repair with a deadline: one state of a live sender a line, and its choice with the worth of the best packet.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use thalweg_core::law::ParameterError;
use thalweg_core::law::registry::Parameters as _;
use thalweg_core::law::schedule::channel::Channel;
use thalweg_core::law::schedule::deadline::{Deadline, Parameters, Path, Window};
use thalweg_core::law::schedule::{Coded, Next, Schedule, View};
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::time::{Span, Time};

use super::line::parsed;
use super::{Replayed, write_answer};

/// The law, and its last answer.
pub(super) struct LiveSenders {
    parameters: Parameters,
    law: Deadline,
    answer: Option<Answer>,
}

/// Times are in seconds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sender {
    /// The share of lost packets, and the mean number of losses in a row.
    loss: f64,
    run: f64,
    notice: f64,
    budget: f64,
    slot: f64,
    /// The time since the production of each original, the oldest first; their numbers are 0, 1, ...
    age: Vec<f64>,
    /// Packets that arrived: first and last original.
    received: Vec<(u64, u64)>,
    /// Packets in flight, each with the time since its departure.
    in_flight: Vec<(u64, u64, f64)>,
}

#[derive(Serialize)]
struct Answer {
    weights: Vec<f64>,
    worth: f64,
    choice: Option<Chosen>,
}

#[derive(Serialize)]
struct Chosen {
    kind: &'static str,
    last: u64,
}

/// The most originals in a state.
const LARGEST: usize = 4095;
/// The longest time, in seconds.
const LONGEST: f64 = 3600.0;

#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    Arrived,
    Lost,
    InFlight,
}

impl LiveSenders {
    pub(super) fn new(settings: &[(String, String)]) -> Result<LiveSenders, ParameterError> {
        let mut parameters = Parameters::default();
        settings.iter().try_for_each(|(name, value)| parameters.set(name, value))?;
        Ok(LiveSenders { parameters, law: Deadline::new(parameters)?, answer: None })
    }

    fn answer(&mut self, sender: &Sender) -> Result<Answer, String> {
        let now = Time::ZERO + Span::from_secs_f64(2.0 * LONGEST);
        sender.check()?;
        let window = sender.window(now)?;
        // Each line is a state of its own.
        self.law = Deadline::new(self.parameters).map_err(|error| error.to_string())?;
        let [notice, budget, slot] = [sender.notice, sender.budget, sender.slot].map(Span::from_secs_f64);
        let path = Path { channel: sender.channel(), notice, again: notice, budget, slot };
        let decision = self.law.choose(&View { now, queue: &window, path });
        let choice = match decision.next {
            Next::Resend { original } => Some(Chosen { kind: "resend", last: original }),
            Next::Repair { last } => Some(Chosen { kind: "repair", last }),
            Next::New | Next::Idle => None,
        };
        Ok(Answer { weights: self.law.weights().to_vec(), worth: self.law.worth(), choice })
    }
}

impl Sender {
    fn check(&self) -> Result<(), String> {
        if !(1e-6..1.0).contains(&self.loss) {
            return Err("loss must be at least 1e-6 and below 1".to_owned());
        }
        // A run is no shorter than that of independent losses.
        if !(1.0 / (1.0 - self.loss) - 1e-9..=1e6).contains(&self.run) {
            return Err(format!("run must be at least 1 / (1 - loss), {}", 1.0 / (1.0 - self.loss)));
        }
        if self.age.len() > LARGEST || self.in_flight.len() > LARGEST || self.received.len() > LARGEST {
            return Err(format!("age, received and in_flight must have at most {LARGEST} elements"));
        }
        let times = [self.notice, self.budget, self.slot].into_iter().chain(self.age.iter().copied());
        let all = times.chain(self.in_flight.iter().map(|(.., ago)| *ago));
        match all.into_iter().all(|time| (0.0..=LONGEST).contains(&time)) && self.slot > 0.0 && self.notice > 0.0 {
            true if self.age.is_sorted_by(|older, newer| older >= newer) => Ok(()),
            true => Err("age must begin with the oldest original".to_owned()),
            false => Err(format!("times must be 0 to {LONGEST} s, and slot and notice above 0")),
        }
    }

    fn channel(&self) -> Channel {
        let out = (1.0 / self.run).min(1.0);
        let into = self.loss * out / (1.0 - self.loss);
        Channel::bursty(into, out, None, self.in_flight.len() as u32)
    }

    /// The window after all packets, in the order of their departure.
    fn window(&self, now: Time) -> Result<Window, String> {
        let mut window = Window::new(0);
        let mut packets: Vec<(f64, Coded, Outcome)> = Vec::new();
        for (l, age) in (0..).zip(&self.age) {
            window.push(now - Span::from_secs_f64(*age));
            let is_in_flight = self.in_flight.contains(&(l, l, *age));
            let outcome = match self.received.contains(&(l, l)) {
                true => Outcome::Arrived,
                false if is_in_flight => Outcome::InFlight,
                false => Outcome::Lost,
            };
            packets.push((*age, packet(l, l), outcome));
        }
        let age = |l: u64| self.age.get(l as usize).copied();
        let greatest = self.age.len().saturating_sub(1);
        let outside = |first, last| {
            format!("[{first},{last}]: first must be at most last; originals are numbered 0 to {greatest}")
        };
        for (first, last, ago) in self.in_flight.iter().copied() {
            let produced = age(last).filter(|_| first <= last).ok_or_else(|| outside(first, last))?;
            if ago > produced {
                return Err(format!("[{first},{last},{ago}]: it left before original {last} was produced"));
            }
            if first < last || ago < produced {
                packets.push((ago, packet(first, last), Outcome::InFlight));
            }
        }
        for (first, last) in self.received.iter().copied().filter(|(first, last)| first != last) {
            let produced = age(last).filter(|_| first <= last).ok_or_else(|| outside(first, last))?;
            packets.push((produced, packet(first, last), Outcome::Arrived));
        }
        packets.sort_by(|(left, ..), (right, ..)| right.total_cmp(left));
        packets.iter().for_each(|(ago, packet, _)| window.sent(now - Span::from_secs_f64(*ago), packet));
        for (_, packet, outcome) in &packets {
            match outcome {
                Outcome::Arrived => window.arrived(packet),
                Outcome::Lost => window.lost(packet),
                Outcome::InFlight => {}
            }
        }
        Ok(window)
    }
}

fn packet(first: u64, last: u64) -> Coded {
    Coded { first, last, p_useless: 0.0 }
}

impl Replayed for LiveSenders {
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        let sender: Sender = parsed(line)?;
        self.answer = Some(self.answer(&sender)?);
        Ok(())
    }

    fn write(&self, _shown: Option<&[&str]>, output: &mut dyn Write) -> io::Result<()> {
        write_answer(&self.answer, output)
    }
}

impl Probe for LiveSenders {
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.law.probe(visit);
    }
}
