//! The slot model of §IV: a sender that may send one packet every T, a source of bursts, and a channel that
//! acknowledges each packet one round trip later.
//!
//! In every slot, in this order: acknowledgements and bursts up to now by their time, acknowledgements first; losses
//! detected by now; one decision of the law. The law, and the state that it reads, are the same code that runs on
//! sockets.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use thalweg_core::law::schedule::channel::Channel as LossChannel;
use thalweg_core::law::schedule::gilbert_elliott::GilbertElliott;
use thalweg_core::law::schedule::loss::LossRate;
use thalweg_core::law::schedule::{Coded, Next, Path, Queue, Schedule, View};
use thalweg_core::loss_timer::LossTimer;

use super::channel::{Channel, Trip};
use super::outcome::Outcome;
use super::ticks::{SLOT, Ticks, span, ticks, time};

/// The source, and its duration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Source {
    /// P: packets per burst.
    pub burst: usize,
    /// G: the interval between bursts.
    pub gap: Ticks,
    /// W: the sender's buffer, in packets. Packets that do not fit are dropped before they are numbered.
    pub buffer: usize,
    /// The number of bursts.
    pub bursts: u64,
}

/// The rule by which a sender declares a packet lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossTimeout {
    /// As soon as it is lost: an oracle that no real path provides.
    Oracle,
    /// Once its acknowledgement is overdue according to measured round-trip times ([`LossTimer`]).
    Overdue,
    /// Once it is unacknowledged for this many hundredths of a smoothed round-trip time.
    RoundTrips(u64),
}

/// The source of the sender's knowledge of the loss rate.
#[derive(Clone, PartialEq, Debug)]
pub enum Knowledge {
    /// The true rate.
    Given,
    /// An estimate by §II-D.
    Estimated(LossRate),
    /// A fitted model with bursts, as in a stream.
    Fitted(GilbertElliott),
}

/// A packet whose outcome has not been passed to the loss estimator yet.
#[derive(Clone, Copy, Debug)]
struct Flight {
    packet: Coded,
    trip: Trip,
    sent: Ticks,
    /// True if the sender has declared it lost, false if it is acknowledged; none before that.
    outcome: Option<bool>,
}

/// A run.
#[derive(Debug)]
struct Run<'a> {
    source: Source,
    channel: &'a Channel,
    timeout: LossTimeout,
    knowledge: Knowledge,
    queue: Queue,
    /// The times at which originals B..=E entered.
    entered: VecDeque<Ticks>,
    /// The packets from number `settled` on.
    flights: VecDeque<Flight>,
    settled: u64,
    acks: BinaryHeap<Reverse<(Ticks, u64)>>,
    timers: BinaryHeap<Reverse<(Ticks, u64)>>,
    bursts: u64,
    timer: LossTimer,
    outcome: Outcome,
}

/// Runs `law` until every accepted packet is delivered and acknowledged.
pub fn run(
    source: Source,
    channel: &Channel,
    timeout: LossTimeout,
    knowledge: Knowledge,
    law: &mut dyn Schedule,
) -> Outcome {
    let mut run = Run {
        source,
        channel,
        timeout,
        knowledge,
        queue: Queue::new(1),
        entered: VecDeque::new(),
        flights: VecDeque::new(),
        settled: 0,
        acks: BinaryHeap::new(),
        timers: BinaryHeap::new(),
        bursts: 0,
        timer: LossTimer::new(span(channel.rtt())),
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
    /// Handles acknowledgements and bursts up to `now`.
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

    /// Accepts as much of a burst as fits into the buffer.
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
        self.timer.acknowledged(span(at - sent));
        let decodable = self.queue.decodable();
        for _ in self.queue.b()..decodable {
            if let Some(entered) = self.entered.pop_front() {
                self.outcome.delivered(at - entered);
            }
        }
        self.queue.release(decodable);
    }

    /// Declares losses that are detected by `now`, then passes outcomes to the estimator in the order of sending.
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
            // A packet that was wrongly declared lost stays until its acknowledgement arrives.
            let Some(flight) = self.flights.front().filter(|it| it.trip.lost || !lost) else { break };
            match &mut self.knowledge {
                Knowledge::Given => {}
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
            Knowledge::Given => LossChannel::independent(self.channel.eps()),
            Knowledge::Estimated(rate) => LossChannel::independent(rate.eps()),
            Knowledge::Fitted(model) => model.channel(self.flights.len() as u32),
        };
        let path = Path { eps: channel.eps(), channel, rtt: self.timer.srtt(), slot: span(SLOT) };
        let decision = law.choose(&View { now: time(now), queue: &self.queue, path });
        let sent = &mut self.outcome.sent;
        *match decision.next {
            Next::New => &mut sent.new,
            Next::Repair { .. } => &mut sent.repair,
            Next::Resend { .. } => &mut sent.resent,
            Next::Idle => &mut sent.idle,
        } += 1;
        let Some(packet) = decision.packet(&self.queue) else { return };
        self.queue.sent(&packet);
        let number = self.settled + self.flights.len() as u64;
        let trip = self.channel.trip(slot);
        self.flights.push_back(Flight { packet, trip, sent: now, outcome: None });
        if !trip.lost {
            self.acks.push(Reverse((now + trip.rtt, number)));
        }
        let timeout = match self.timeout {
            // The loss is detected in the next slot.
            LossTimeout::Oracle if trip.lost => 0,
            LossTimeout::Oracle => return,
            LossTimeout::Overdue => ticks(self.timer.threshold()),
            LossTimeout::RoundTrips(hundredths) => ticks(self.timer.srtt()) * hundredths / 100,
        };
        self.timers.push(Reverse((now + timeout, number)));
    }
}

#[cfg(test)]
mod tests;
