//! What an acknowledgement, or the lack of one, tells the sender.

use super::{Acknowledgement, Allowance, Bytes, Fate, Record, Report, Schedule, Sender, Span, State, Time};

/// A packet that leaves within this part of a round trip is worth waiting for: its acknowledgement tells of the one before.
const SOON: u64 = 4;

/// The packets that an acknowledgement told of for the first time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Landed {
    count: u32,
    /// When the newest of them was sent.
    newest: Option<Time>,
    /// Its round trip, if it is the packet whose delay was told.
    rtt: Option<Span>,
}

impl<S: Schedule, A: Allowance> Sender<S, A> {
    /// Takes what came, oldest first.
    pub(super) fn land(&mut self, now: Time, newest: u64, told: &Acknowledgement<'_>) -> Landed {
        let first = self.flight.first();
        let states = told.states().flat_map(|(state, count)| std::iter::repeat_n(state, count.into()));
        let back = (0..=newest).rev().take_while(|sequence| *sequence >= first);
        let came: Vec<(u64, State)> = back
            .zip(states)
            .filter(|(sequence, state)| {
                let is_new = |fate| fate != Fate::Acknowledged;
                *state != State::Missing && self.flight.get(*sequence).is_some_and(|record| is_new(record.fate))
            })
            .collect();
        let (before, mut landed) = (self.newest, Landed::default());
        for (sequence, state) in came.into_iter().rev() {
            let Some(record) = self.flight.get(sequence).cloned() else { continue };
            if record.fate != Fate::UnderWay {
                // It left the books when it was given up.
                self.counts.late += 1;
                if record.fate == Fate::Unheard {
                    self.unheard.came();
                }
                self.queue.sent(&record.coded);
            }
            self.queue.arrived_as(&record.coded, state == State::Innovative);
            self.flight.decide(sequence, Fate::Acknowledged);
            self.newest = self.newest.max(Some(sequence));
            // An earlier association's packets, and the time that it was gone, say nothing about the path.
            let Some(number) = sequence.checked_sub(self.resumed) else { continue };
            self.allowance.on_delivered(now, number, record.sent, Bytes(record.size));
            let took = now.since(record.sent);
            if before.is_some_and(|before| sequence < before) {
                self.rtt.overtaken(took);
            }
            landed.count += 1;
            landed.newest = Some(record.sent);
            let delay = Span::from_micros(told.delay_us.into());
            landed.rtt = (sequence == newest && delay < took).then(|| took.saturating_sub(delay));
        }
        if let Some(rtt) = landed.rtt {
            self.rtt.sample(rtt);
        }
        landed
    }

    /// All before `edge` has arrived.
    pub(super) fn note_delays(&mut self, now: Time, edge: u64) {
        let (came, back) = (edge.saturating_sub(self.queue.b()), self.rtt.or_initial() / 2);
        for place in self.queue.in_doubt().take(came as usize) {
            self.delays.record(now.since(place.entered).saturating_sub(back));
        }
    }

    /// Tells the rate what has become known since the last time.
    pub(super) fn report(&mut self, now: Time, in_flight: u32, landed: &Landed) {
        if landed.count == 0 && self.found == 0 {
            return;
        }
        self.allowance.on_report(&Report {
            now,
            delivered: landed.count,
            lost: self.found,
            in_flight,
            newest: landed.newest,
            newest_lost: self.found_sent,
            rtt: landed.rtt,
            srtt: self.rtt.smoothed(),
            limited: self.is_limited,
        });
        (self.found, self.found_sent) = (0, None);
    }

    /// Gives up what is overdue. Packets are so in the order in which they left.
    pub(super) fn find_losses(&mut self, now: Time) {
        let silent = self.rtt.is_backing_off();
        let mut next = self.flight.oldest().map(|(sequence, _)| sequence);
        while let Some(sequence) = next
            && let Some(record) = self.flight.get(sequence)
        {
            next = Some(sequence + 1);
            if record.fate != Fate::UnderWay {
                continue;
            }
            if self.overdue_at(sequence, record) > now {
                break;
            }
            let (coded, sent) = (record.coded, record.sent);
            let is_shown = self.newest.is_some_and(|newest| sequence < newest);
            let original = coded.is_uncoded().then_some(coded.first);
            let fate = if is_shown {
                self.unheard.is_lost(original);
                Fate::Lost
            } else if silent {
                Fate::Silenced
            } else {
                self.unheard.give_up(original);
                Fate::Unheard
            };
            self.flight.decide(sequence, fate);
            self.queue.lost(&coded);
            self.counts.lost += 1;
            self.found += 1;
            self.found_sent = Some(sent);
            self.rest = Time::ZERO;
        }
        self.flight.tell(&mut self.losses);
    }

    /// When a packet is lost if nothing tells of it before.
    pub(super) fn overdue_at(&self, sequence: u64, record: &Record) -> Time {
        if sequence < self.resumed {
            return Time::NEVER;
        }
        if self.newest.is_some_and(|newest| sequence < newest) {
            return record.sent + self.rtt.overdue();
        }
        // Its acknowledgement may have been lost: that of the next packet, if one left soon, tells of it, too.
        let next = self.flight.get(sequence + 1).map_or(record.sent, |next| next.sent);
        next.min(record.sent + self.rtt.or_initial() / SOON) + self.rtt.timeout()
    }
}
