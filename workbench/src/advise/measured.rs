//! A measured path: the delay and the loss of each packet, and of the way back.

mod file;

use core::fmt;

use thalweg_core::session::live::sender::{Outcome, Passage, Recording};
use thalweg_core::time::{Span, Time};

/// The time before the end of a measurement whose packets no report may have named, beside a round trip.
const TAIL: Span = Span::from_millis(500);

/// Packets that overtake others by more than this show that the path reorders. Ours: twice the resolution of arrival times
/// in reports (RFC 8888 §3.1: 1/1024 s).
const OVERTAKEN: i64 = 2_000_000;

/// The share of lost packets above which nothing can be said of a path.
const POOR: f64 = 0.5;

/// The fewest packets of a measurement.
const FEWEST: usize = 100;

/// The outcome of a packet of the measurement, and the state of the way back at its moment.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Row {
    /// The time at which it left, since the first packet.
    sent: Span,
    /// None if the packet was lost.
    delay: Option<Span>,
    /// The delay of the last report that left before; none while reports are lost.
    back: Option<Span>,
}

/// The outcomes of the packets of a measurement.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    rows: Vec<Row>,
    round_trip: Span,
    keeps_order: bool,
}

/// The reason why a measurement tells nothing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Unusable {
    /// Too few packets were sent, or reports came.
    Short,
    /// More than half of the packets were lost.
    Poor {
        /// The share that was lost.
        lost: f64,
    },
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unusable::Short => write!(f, "too few packets were answered for any advice"),
            Unusable::Poor { lost } => {
                write!(f, "{:.0} % of the packets were lost, too many for any advice", lost * 100.0)
            }
        }
    }
}

impl std::error::Error for Unusable {}

impl Measured {
    /// The path of a recording.
    ///
    /// Half of the smallest round trip is taken for the smallest delay of each direction, as by the receiver of a stream.
    ///
    /// # Errors
    /// The recording tells too little.
    pub fn of(recording: &Recording) -> Result<Measured, Unusable> {
        let forth: Vec<(Time, Option<i64>)> = known(&recording.passages);
        let back: Vec<(i64, i64)> = recording.returns.iter().map(|one| (nanos(one.sent), nanos(one.arrived))).collect();
        let delays: Vec<i64> = forth.iter().filter_map(|(_, delay)| *delay).collect();
        let least_forth = floor(&delays).ok_or(Unusable::Short)?;
        let delays: Vec<i64> = back.iter().map(|(sent, arrived)| arrived - sent).collect();
        let least_back = floor(&delays).ok_or(Unusable::Short)?;
        if forth.len() < FEWEST {
            return Err(Unusable::Short);
        }
        let lost = forth.iter().filter(|(_, delay)| delay.is_none()).count() as f64 / forth.len() as f64;
        if lost > POOR {
            return Err(Unusable::Poor { lost });
        }
        let round_trip = recording.round_trip.map_or(least_forth + least_back, |span| span.as_nanos() as i64).max(0);
        // The receiver's clock less the sender's, as each direction has it.
        let [offset, offset_back] = [least_forth - round_trip / 2, round_trip / 2 - least_back];
        let back: Vec<(i64, i64)> = back.into_iter().map(|(sent, arrived)| (sent - offset_back, arrived)).collect();
        let arrivals = forth.iter().filter_map(|(sent, delay)| Some(nanos(*sent) + (*delay)? - offset));
        let mut way_back = WayBack::new(back, arrivals.collect());
        let first = forth[0].0;
        let row = |(sent, delay): &(Time, Option<i64>)| Row {
            sent: sent.since(first),
            delay: delay.map(|delay| span(delay - offset)),
            back: way_back.at(nanos(*sent)),
        };
        let rows = forth.iter().map(row).collect();
        Ok(Measured { rows, round_trip: span(round_trip), keeps_order: keeps_order(&forth) })
    }

    /// The smallest round trip.
    pub fn round_trip(&self) -> Span {
        self.round_trip
    }

    /// The number of packets.
    pub fn packets(&self) -> usize {
        self.rows.len()
    }

    /// The number of packets that were lost.
    pub fn lost(&self) -> usize {
        self.rows.iter().filter(|row| row.delay.is_none()).count()
    }

    /// The time from the first packet to the last.
    pub fn duration(&self) -> Span {
        self.rows.last().map_or(Span::ZERO, |row| row.sent)
    }

    /// The mean number of packets that were lost in a row; 1 without losses.
    pub fn group(&self) -> f64 {
        let starts = self.rows.windows(2).filter(|two| two[0].delay.is_some() && two[1].delay.is_none()).count();
        (self.lost() as f64 / starts.max(1) as f64).max(1.0)
    }

    /// The mean number of packets that are lost within a round trip.
    pub fn lost_per_round_trip(&self) -> f64 {
        let round_trips = self.duration().as_secs_f64() / self.round_trip.as_secs_f64();
        // A path of less than one round trip counts as one.
        self.lost() as f64 / round_trips.max(1.0)
    }
}

/// The smallest delay, as the smallest median of five in a row: single ones are as much too small as arrival times are
/// rounded.
fn floor(delays: &[i64]) -> Option<i64> {
    let median = |five: &[i64]| {
        let mut sorted = [five[0], five[1], five[2], five[3], five[4]];
        sorted.sort_unstable();
        sorted[2]
    };
    delays.windows(5).map(median).min()
}

/// The packets whose outcome is known, each with its delay on both clocks; none if it was lost. A packet that no report
/// names has the outcome of the next one that was named: reports of long outages do not reach back to their start.
fn known(passages: &[Passage]) -> Vec<(Time, Option<i64>)> {
    let end = passages.last().map_or(Time::ZERO, |passage| passage.sent - TAIL);
    let mut known = Vec::with_capacity(passages.len());
    let mut next = None;
    for passage in passages.iter().rev() {
        match passage.outcome {
            Outcome::Arrived(at) => {
                known.push((passage.sent, Some(nanos(at) - nanos(passage.sent))));
                next = Some(true);
            }
            Outcome::Missing if next.is_some() || passage.sent < end => {
                known.push((passage.sent, None));
                next = Some(false);
            }
            // Of a packet that arrived, but was not named, only the delay is unknown; its neighbours have it.
            Outcome::Unknown if next == Some(false) => known.push((passage.sent, None)),
            Outcome::Unknown | Outcome::Missing => {}
        }
    }
    known.reverse();
    known
}

fn keeps_order(forth: &[(Time, Option<i64>)]) -> bool {
    let mut latest = i64::MIN;
    forth.iter().filter_map(|(sent, delay)| Some(nanos(*sent) + (*delay)?)).all(|arrived| {
        let is_in_order = arrived + OVERTAKEN >= latest;
        latest = latest.max(arrived);
        is_in_order
    })
}

/// The state of the way back, moment by moment.
struct WayBack {
    /// Sending and arrival times of the reports.
    reports: Vec<(i64, i64)>,
    /// The arrival times of packets, which cause reports.
    arrivals: Vec<i64>,
    /// The usual gap between two reports.
    gap: i64,
    next: usize,
}

impl WayBack {
    fn new(mut reports: Vec<(i64, i64)>, mut arrivals: Vec<i64>) -> WayBack {
        reports.sort_unstable();
        arrivals.sort_unstable();
        let mut gaps: Vec<i64> = reports.windows(2).map(|two| two[1].0 - two[0].0).collect();
        let middle = gaps.len() / 2;
        let gap = if gaps.is_empty() { i64::MAX } else { *gaps.select_nth_unstable(middle).1 };
        WayBack { reports, arrivals, gap, next: 0 }
    }

    /// The delay of the last report that left by `moment`, or of the first one; none while reports are lost. Moments ascend.
    fn at(&mut self, moment: i64) -> Option<Span> {
        while self.reports.get(self.next).is_some_and(|(sent, _)| *sent <= moment) {
            self.next += 1;
        }
        let (sent, arrived) = self.reports[self.next.saturating_sub(1)];
        let is_lost = self.reports.get(self.next).is_some_and(|(after, _)| self.has_gap(sent, *after))
            && (sent + self.gap / 2..self.reports[self.next].0 - self.gap / 2).contains(&moment);
        (!is_lost).then(|| span(arrived - sent))
    }

    /// True if one report or more are missing between those of two times: packets arrived, and would have caused one.
    fn has_gap(&self, sent: i64, after: i64) -> bool {
        if after - sent <= self.gap * 8 / 5 {
            return false;
        }
        let missing = (after - sent) / self.gap.max(1);
        let between = |at: i64| self.arrivals.partition_point(|arrived| *arrived < at);
        let arrived = between(after - self.gap / 2) - between(sent);
        arrived as i64 >= missing
    }
}

fn nanos(time: Time) -> i64 {
    time.as_nanos() as i64
}

fn span(nanos: i64) -> Span {
    Span::from_nanos(nanos.max(0) as u64)
}

#[cfg(test)]
mod tests;
