//! The slot model of §IV: a sender that may send one packet every T, a source of bursts, a channel that answers each
//! packet a round trip later.
//!
//! In every slot, in this order: acknowledgements and bursts up to now by their time, acknowledgements first; losses that
//! are known by now; one decision of the law. The law is the very object that runs on sockets, and so is what it reads.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use thalweg_core::law::schedule::channel::Channel as LossChannel;
use thalweg_core::law::schedule::gilbert_elliott::GilbertElliott;
use thalweg_core::law::schedule::loss::LossRate;
use thalweg_core::law::schedule::overdue::Overdue;
use thalweg_core::law::schedule::{Choice, Coded, Path, Queue, Schedule, View};

use super::channel::{Channel, Trip};
use super::outcome::Outcome;
use super::ticks::{SLOT, Ticks, span, ticks, time};

/// The source, and how long it goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Source {
    /// P: packets of a burst.
    pub burst: usize,
    /// G: from one burst to the next.
    pub gap: Ticks,
    /// W: the sender's buffer, packets. What does not fit is dropped before it is numbered.
    pub buffer: usize,
    /// How many bursts there are.
    pub bursts: u64,
}

/// When a sender takes a packet for lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Patience {
    /// As soon as it is lost: an oracle, which no path can give.
    Oracle,
    /// When its acknowledgement is overdue by what was measured ([`Overdue`]).
    Overdue,
    /// When it is not acknowledged after so many hundredths of a smoothed round trip.
    RoundTrips(u64),
}

/// Source of the sender's knowledge of the loss rate.
#[derive(Clone, PartialEq, Debug)]
pub enum Knowledge {
    /// It is told.
    Told,
    /// It estimates, as §II-D.
    Estimated(LossRate),
    /// It fits a model that knows bursts, as a stream does.
    Fitted(GilbertElliott),
}

/// A packet that is not settled for the law of loss estimates.
#[derive(Clone, Copy, Debug)]
struct Flight {
    packet: Coded,
    trip: Trip,
    sent: Ticks,
    /// Whether it was lost, once the sender thinks that it knows.
    outcome: Option<bool>,
}

/// A run.
#[derive(Debug)]
struct Run<'a> {
    source: Source,
    channel: &'a Channel,
    patience: Patience,
    knowledge: Knowledge,
    queue: Queue,
    /// When B..=E entered.
    entered: VecDeque<Ticks>,
    /// Packets from number `settled` on.
    flights: VecDeque<Flight>,
    settled: u64,
    acks: BinaryHeap<Reverse<(Ticks, u64)>>,
    timers: BinaryHeap<Reverse<(Ticks, u64)>>,
    bursts: u64,
    overdue: Overdue,
    outcome: Outcome,
}

/// Runs `law` until everything that was accepted is delivered and acknowledged.
pub fn run(
    source: Source,
    channel: &Channel,
    patience: Patience,
    knowledge: Knowledge,
    law: &mut dyn Schedule,
) -> Outcome {
    let mut run = Run {
        source,
        channel,
        patience,
        knowledge,
        queue: Queue::new(1),
        entered: VecDeque::new(),
        flights: VecDeque::new(),
        settled: 0,
        acks: BinaryHeap::new(),
        timers: BinaryHeap::new(),
        bursts: 0,
        overdue: Overdue::new(span(channel.rtt())),
        outcome: Outcome::default(),
    };
    for slot in 0.. {
        run.hear(slot * SLOT);
        run.give_up(slot * SLOT);
        if run.bursts == source.bursts && run.queue.is_empty() && run.acks.is_empty() {
            break;
        }
        run.send(slot, law);
    }
    let account = run.queue.overhead();
    (run.outcome.received, run.outcome.useless) = (account.received, account.useless);
    run.outcome
}

impl Run<'_> {
    /// Acknowledgements and bursts up to `now`.
    fn hear(&mut self, now: Ticks) {
        loop {
            let ack = self.acks.peek().map_or(Ticks::MAX, |Reverse((at, _))| *at);
            let burst = if self.bursts < self.source.bursts { self.bursts * self.source.gap } else { Ticks::MAX };
            if ack.min(burst) > now {
                return;
            }
            if ack <= burst {
                let Some(Reverse((at, number))) = self.acks.pop() else { return };
                self.acknowledge(at, number);
            } else {
                self.accept(burst);
            }
        }
    }

    /// A burst: as much of it as fits.
    fn accept(&mut self, at: Ticks) {
        self.bursts += 1;
        let room = self.source.buffer.saturating_sub(self.queue.len());
        let packets = self.source.burst.min(room);
        for _ in 0..packets {
            self.queue.push(time(at));
            self.entered.push_back(at);
        }
        self.outcome.accepted(packets);
    }

    fn acknowledge(&mut self, at: Ticks, number: u64) {
        let nth = number.checked_sub(self.settled).map(|nth| nth as usize);
        let Some(flight) = nth.and_then(|nth| self.flights.get_mut(nth)) else { return };
        let Flight { packet, sent, outcome, .. } = *flight;
        flight.outcome = Some(false);
        if outcome.is_none() {
            self.queue.arrived(&packet);
        } else {
            self.queue.arrived_late(&packet);
        }
        self.overdue.acknowledged(span(at - sent));
        let decodable = self.queue.decodable();
        for _ in self.queue.b()..decodable {
            if let Some(entered) = self.entered.pop_front() {
                self.outcome.delivered(at - entered);
            }
        }
        self.queue.release(decodable);
    }

    /// Losses that are known by `now`; then outcomes, in the order in which packets were sent.
    fn give_up(&mut self, now: Ticks) {
        while let Some(Reverse((at, number))) = self.timers.peek().copied() {
            if at > now {
                break;
            }
            self.timers.pop();
            let nth = number.checked_sub(self.settled).map(|nth| nth as usize);
            if let Some(flight) = nth.and_then(|nth| self.flights.get_mut(nth)).filter(|it| it.outcome.is_none()) {
                flight.outcome = Some(true);
                self.queue.lost(&flight.packet);
            }
        }
        while let Some(lost) = self.flights.front().and_then(|flight| flight.outcome) {
            // A packet that is given up wrongly stays until its acknowledgement has come.
            let Some(flight) = self.flights.front().filter(|it| it.trip.lost || !lost) else { break };
            match &mut self.knowledge {
                Knowledge::Told => {}
                Knowledge::Estimated(rate) => {
                    rate.outcome(flight.trip.lost);
                    self.outcome.estimates.push(rate.eps() as f32);
                }
                Knowledge::Fitted(model) => model.outcome(flight.trip.lost),
            }
            self.flights.pop_front();
            self.settled += 1;
        }
    }

    fn send(&mut self, slot: u64, law: &mut dyn Schedule) {
        let now = slot * SLOT;
        let channel = match &self.knowledge {
            Knowledge::Told => LossChannel::independent(self.channel.eps()),
            Knowledge::Estimated(rate) => LossChannel::independent(rate.eps()),
            Knowledge::Fitted(model) => model.channel(self.flights.len() as u32),
        };
        let path = Path { eps: channel.eps(), channel, rtt: self.overdue.srtt(), slot: span(SLOT) };
        let decision = law.choose(&View { now: time(now), queue: &self.queue, path });
        let sent = &mut self.outcome.sent;
        *match decision.choice {
            Choice::New => &mut sent.new,
            Choice::Repair { .. } => &mut sent.repair,
            Choice::Resend { .. } => &mut sent.resent,
            Choice::Idle => &mut sent.idle,
        } += 1;
        let Some(packet) = decision.packet(&self.queue) else { return };
        self.queue.sent(&packet);
        let number = self.settled + self.flights.len() as u64;
        let trip = self.channel.trip(slot);
        self.flights.push_back(Flight { packet, trip, sent: now, outcome: None });
        if !trip.lost {
            self.acks.push(Reverse((now + trip.rtt, number)));
        }
        let patience = match self.patience {
            // The next slot hears of it.
            Patience::Oracle if trip.lost => 0,
            Patience::Oracle => return,
            Patience::Overdue => ticks(self.overdue.patience()),
            Patience::RoundTrips(hundredths) => ticks(self.overdue.srtt()) * hundredths / 100,
        };
        self.timers.push(Reverse((now + patience, number)));
    }
}

#[cfg(test)]
mod tests;
