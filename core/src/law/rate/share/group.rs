//! The streams of a group, which come and go, and the greediness of each.

use core::fmt;
use core::str::FromStr;
use std::collections::VecDeque;

use super::series::{Deviations, Series, correlation};
use super::{LEAST, MOST, Need, Norm, multipliers};
use crate::law::ParameterError;
use crate::law::parameter::{positive, within};
use crate::law::rate::fse::Exchange;
use crate::law::rate::gca::Greediness;
use crate::law::rate::tfrc::MAX_RTT;
use crate::time::{Span, Time};
use crate::units::{Rate, Seconds};

/// The time between two solutions.
const INTERVAL: Span = Span::from_secs(1);
/// The correlation below which a stream does not move with the others, and that above which it does. Ours: chance takes
/// the correlation of 40 unrelated values, each like the one before, above the first at times, and above the second for
/// ten solutions in a row hardly ever.
const APART: f64 = 0.2;
const TOGETHER: f64 = 0.5;
/// The number of solutions in a row that must agree before a stream leaves or joins the others: a whole window, so that
/// none of the measurements that began the row decides its end.
const AGREEING: u32 = 10;

/// The source of the multipliers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coupling {
    /// Needs alone, as if all round trips and loss event rates were equal.
    Fixed,
    /// Needs, and the measurements of the streams.
    Measured,
    /// None: all streams are as greedy as a TCP, and [`Exchange`] shares the sum of their rates, with needs as priorities.
    Rfc8699,
}

impl Coupling {
    /// Every coupling, with its name.
    const ALL: [(Coupling, &str); 3] =
        [(Coupling::Fixed, "fixed"), (Coupling::Measured, "measured"), (Coupling::Rfc8699, "rfc8699")];
}

impl FromStr for Coupling {
    type Err = ParameterError;

    fn from_str(text: &str) -> Result<Coupling, ParameterError> {
        let named = Coupling::ALL.into_iter().find(|(_, name)| *name == text).map(|(coupling, _)| coupling);
        let expected = || "fixed, measured or rfc8699".to_owned();
        named.ok_or_else(|| ParameterError::Law { value: text.to_owned(), expected: expected() })
    }
}

impl fmt::Display for Coupling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Coupling::ALL.into_iter().find(|(coupling, _)| coupling == self);
        f.write_str(named.map_or("", |(_, name)| name))
    }
}

/// A stream of a group, as the caller numbers it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Id(pub u32);

/// A change of which the owner of the streams is notified.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The stream is to run with these parameters.
    Changed(Id, Greediness),
    /// The allowed rate of the stream is to be this one, until its law determines another (RFC 8699).
    Rate(Id, Rate),
    /// The stream's need asks for this multiplier, outside [`LEAST`] to [`MOST`]; the nearest of both applies.
    Bounded(Id, f64),
    /// The multiplier that the stream's need asks for is within its bounds again.
    Unbounded(Id),
    /// The stream's round trips do not move with those of the others. It runs as `gca:1`, and no longer shares.
    Apart(Id),
    /// The stream's round trips move with those of the others again, and it shares with them.
    Together(Id),
}

/// A stream of the group.
#[derive(Clone, PartialEq, Debug)]
struct Member {
    id: Id,
    need: Rate,
    most: Rate,
    series: Series,
    greediness: Greediness,
    is_bounded: bool,
    is_apart: bool,
    /// Solutions in a row at which the correlation contradicted `is_apart`.
    contrary: u32,
}

/// Streams that share a link by their needs. Pass in needs and measurements; call `handle_timeout` when `poll_timeout` is
/// reached, and drain `poll_event` after each call.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    coupling: Coupling,
    norm: Norm,
    members: Vec<Member>,
    exchange: Exchange,
    /// The time of the next solution.
    next: Time,
    events: VecDeque<Event>,
}

impl Group {
    /// A group without streams.
    pub fn new(now: Time, coupling: Coupling, norm: Norm) -> Group {
        let next = now + INTERVAL;
        Group { coupling, norm, members: Vec::new(), exchange: Exchange::default(), next, events: VecDeque::new() }
    }

    /// Takes the average bit rate that stream `id` needs, and the highest that it can use; a stream that is not in the
    /// group joins it.
    ///
    /// # Errors
    /// A rate is 0, or the need exceeds `most`.
    pub fn handle_need(&mut self, now: Time, id: Id, need: Rate, most: Rate) -> Result<(), ParameterError> {
        within("need", need.as_bps() as f64, positive(most.as_bps() as f64))?;
        within("most", most.as_bps() as f64, positive(1e15))?;
        match self.members.iter_mut().find(|member| member.id == id) {
            Some(member) => (member.need, member.most) = (need, most),
            None => self.members.push(Member {
                id,
                need,
                most,
                series: Series::new(),
                greediness: Greediness::default(),
                is_bounded: false,
                is_apart: false,
                contrary: 0,
            }),
        }
        self.solve(now);
        Ok(())
    }

    /// Removes stream `id`, if it is in the group.
    pub fn handle_departure(&mut self, now: Time, id: Id) {
        self.members.retain(|member| member.id != id);
        self.exchange.handle_stop(id);
        self.solve(now);
    }

    /// Takes the allowed rate that the law of stream `id` has determined from a report. Only
    /// [`Coupling::Rfc8699`] makes use of it.
    pub fn handle_rate(&mut self, id: Id, determined: Rate) {
        if self.coupling != Coupling::Rfc8699 {
            return;
        }
        let Some(member) = self.members.iter().find(|member| member.id == id) else { return };
        let priority = member.need.as_bps() as f64;
        // The first rate registers the stream. A rate of 0 does not, and no law has one.
        if self.exchange.handle_start(id, priority, member.most, determined).is_err() {
            return;
        }
        self.exchange.handle_rate(id, determined);
        let rates = self.members.iter().filter_map(|member| Some((member.id, self.exchange.rate(member.id)?)));
        self.events.extend(rates.map(|(id, rate)| Event::Rate(id, rate)));
    }

    /// Takes the round trip and the loss event rate that stream `id` has measured; those that cannot be are ignored.
    pub fn handle_measurement(&mut self, now: Time, id: Id, rtt: Span, p: f64) {
        let is_valid = (Span::from_nanos(1)..=MAX_RTT).contains(&rtt) && (0.0..=1.0).contains(&p);
        if let Some(member) = self.members.iter_mut().find(|member| member.id == id).filter(|_| is_valid) {
            member.series.add(now, Seconds::from(rtt), p);
        }
    }

    /// Solves for all multipliers if they are due.
    pub fn handle_timeout(&mut self, now: Time) {
        if now < self.next {
            return;
        }
        self.compare(now);
        self.solve(now);
        self.next = now + INTERVAL;
    }

    /// The time at which `handle_timeout` must be called; none without streams.
    pub fn poll_timeout(&self) -> Option<Time> {
        (!self.members.is_empty()).then_some(self.next)
    }

    /// The next change.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Finds the streams that do not move with the others, and those that do so again.
    fn compare(&mut self, now: Time) {
        let series: Vec<Deviations> = self.members.iter().map(|member| member.series.deviations(now)).collect();
        let apart: Vec<bool> = self.members.iter().map(|member| member.is_apart).collect();
        for (n, member) in self.members.iter_mut().enumerate() {
            // Those that share, or, if the others are all apart, these.
            let is_other = |other: &usize| *other != n;
            let mut others: Vec<usize> = (0..series.len()).filter(is_other).filter(|other| !apart[*other]).collect();
            if others.is_empty() {
                others = (0..series.len()).filter(is_other).collect();
            }
            let together = correlation(&series[n], &mean(&series, &others));
            let is_contrary = together.is_some_and(|it| if member.is_apart { it > TOGETHER } else { it < APART });
            member.contrary = if is_contrary { member.contrary + 1 } else { 0 };
            if member.contrary == AGREEING {
                (member.is_apart, member.contrary) = (!member.is_apart, 0);
                self.events.push_back(if member.is_apart {
                    Event::Apart(member.id)
                } else {
                    Event::Together(member.id)
                });
            }
        }
    }

    /// Solves for the greediness of all streams.
    fn solve(&mut self, now: Time) {
        let sharing: Vec<usize> = (0..self.members.len()).filter(|n| !self.members[*n].is_apart).collect();
        let needs = self.needs(now, &sharing);
        let mut wanted = vec![1.0; self.members.len()];
        if self.coupling != Coupling::Rfc8699 {
            // An error means that no stream shares: every need and every measurement was checked when it was taken.
            for (n, multiplier) in sharing.into_iter().zip(multipliers(&needs, self.norm).into_iter().flatten()) {
                wanted[n] = multiplier;
            }
        }
        for (member, wanted) in self.members.iter_mut().zip(wanted) {
            let multiplier = wanted.clamp(LEAST, MOST);
            let is_bounded = multiplier != wanted;
            if is_bounded != member.is_bounded {
                member.is_bounded = is_bounded;
                let bounded = Event::Bounded(member.id, wanted);
                self.events.push_back(if is_bounded { bounded } else { Event::Unbounded(member.id) });
            }
            let greediness = Greediness::times(multiplier).unwrap_or_default();
            if greediness != member.greediness {
                member.greediness = greediness;
                self.events.push_back(Event::Changed(member.id, greediness));
            }
        }
    }

    /// The needs of the members `sharing`. One that has measured nothing yet, or no loss, counts as if it were the mean of
    /// those that have.
    fn needs(&self, now: Time, sharing: &[usize]) -> Vec<Need> {
        let measured = |member: &Member| match self.coupling {
            Coupling::Fixed | Coupling::Rfc8699 => None,
            Coupling::Measured => member.series.mean(now).filter(|[_, p]| *p > 0.0),
        };
        let members = || sharing.iter().map(|n| &self.members[*n]);
        let known: Vec<[f64; 2]> = members().filter_map(measured).collect();
        let usual = |which: usize| known.iter().map(|known| known[which]).sum::<f64>() / known.len() as f64;
        let need = |member: &Member| {
            let alone = Need::alone(member.need.as_bps() as f64);
            if known.is_empty() {
                return alone;
            }
            let [rtt, p] = measured(member).unwrap_or_else(|| [usual(0), usual(1)]);
            Need { rtt: Seconds(rtt), p, ..alone }
        };
        members().map(need).collect()
    }
}

/// The mean of several series, by the places of their slots.
fn mean(series: &[Deviations], of: &[usize]) -> Deviations {
    core::array::from_fn(|place| {
        let found = of.iter().filter_map(|n| series[*n][place]);
        let (sum, count) = found.fold((0.0, 0u32), |(sum, count), it| (sum + it, count + 1));
        (count > 0).then(|| sum / f64::from(count))
    })
}
