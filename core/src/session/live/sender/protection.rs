//! The live profile around a law of redundancy: how long a block is, and how much repair it gets.
//!
//! The laws speak of a block of one SYN at one media rate. A real source has a rate of its own, and a user a latency.

mod load;
#[cfg(test)]
mod tests;

pub(super) use load::Load;
use load::Mean;

use crate::law::redundancy::LossReport;
use crate::law::redundancy::Redundancy;
use crate::law::redundancy::fixed::Fixed;
use crate::law::redundancy::geneva::Geneva;
use crate::probe::{Probe, Visitor};
use crate::session::live::sender::Repair;
use crate::time::{Span, Time};
use crate::units::{Bytes, Seconds};

/// SYN: block and report interval (GENEVA §3.2.1), unless the law is set to another one.
pub(super) const SYN: Span = Span::from_millis(10);

/// The least interval that the law takes, and the most packets in one.
const LEAST_SYN: Span = Span::from_micros(100);
const MOST_K: f64 = 65535.0;

/// Source packets below which a block is stretched: the fewest of which eight repair packets are at most 40 %.
const FEWEST: f64 = 21.0;

/// To the law of a source that has fewer in a SYN there are this many: 30 Mb/s in packets of 1500 bytes, for which its
/// constants are meant. A block gets its part of that window.
const PAPER_K: f64 = 25.0;

/// The least window then: 40 %, while that of a block of the paper is eight packets.
const FLOOR: f64 = 0.4 * PAPER_K;
const PAPER_FLOOR: f64 = 8.0;

/// Part of the latency that no block takes: timers are late, queues hold packets up, receivers let them gather. Without
/// it the last repair of the longest block would come just when it is too late.
const SPARE: Span = Span::from_millis(2);

/// Most source packets of a block that nobody asked for: with half as many of repair they fill one part of the code,
/// 255 symbols. At 30 Mb/s they take 60 ms.
const MANY: f64 = 170.0;

/// Source packets of a block from which on its repair is worth what it costs: of fewer, one lost packet in six takes
/// more than the least repair.
pub(super) const FEW: f64 = 8.0;

/// So long without a packet, the source pauses.
const PAUSE: Span = Span::from_millis(250);

#[derive(Clone, PartialEq, Debug)]
enum Law {
    None,
    Fixed(Fixed),
    Geneva(Geneva),
}

/// One session's law, fitted to its source and its latency.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Protection {
    law: Law,
    syn: Span,
    /// Bounds of the window that the law was given.
    bounds: (f64, f64),
    wanted: Option<Span>,
    /// Longest block that the latency allows.
    longest: Span,
    /// The spread that the receiver was told last.
    told: Span,
    is_hopeless: bool,
    /// None before the first block has closed.
    mean: Option<Mean>,
    /// Bytes of the part of a repair packet that the last block was short of: the next one's may be longer, or shorter.
    carried: f64,
}

impl Protection {
    /// `wanted` is the block that the user asks for.
    pub(super) fn new(repair: &Repair, wanted: Option<Span>) -> Protection {
        let (law, syn, bounds) = match repair {
            Repair::None => (Law::None, SYN, (0.0, 0.0)),
            Repair::Static(packets) => (Law::Fixed(Fixed::new(*packets)), SYN, (0.0, 0.0)),
            Repair::Geneva(law) => {
                let (syn, bounds) = (law.parameters().syn, (law.parameters().fwnd_min, law.parameters().fwnd_max));
                (Law::Geneva(law.clone()), Span::from_secs_f64(syn.0), bounds)
            }
        };
        Protection {
            law,
            syn,
            bounds,
            wanted,
            longest: syn,
            told: Span::ZERO,
            is_hopeless: false,
            mean: None,
            carried: 0.0,
        }
    }

    /// Whether there is any repair at all.
    pub(super) fn is_none(&self) -> bool {
        matches!(self.law, Law::None)
    }

    /// Tells what the latency leaves for a block: it waits for at most one block, and leaves within another.
    pub(super) fn set_budget(&mut self, latency: Span, round_trip: Span) {
        let budget = latency.saturating_sub(round_trip / 2 + SPARE) / 2;
        self.is_hopeless = budget < self.shortest();
        self.longest = budget.max(self.shortest());
    }

    /// The shortest block there is, whatever the latency.
    fn shortest(&self) -> Span {
        (self.syn / 2).max(LEAST_SYN)
    }

    /// The least latency at which repair comes in time on this round trip.
    pub(super) fn needed(&self, round_trip: Span) -> Span {
        round_trip / 2 + SPARE + self.shortest() * 2
    }

    /// The longest that a packet may wait before it leaves: one block, and the time that it takes to leave.
    pub(super) fn longest_wait(&self) -> Span {
        self.longest * 2
    }

    /// The longest that a packet is meant to wait before it leaves: what is over is for timers that come late.
    pub(super) fn planned_wait(&self) -> Span {
        on_time(self.longest_wait())
    }

    /// The longest that a packet and its repair take to leave, as far as blocks tell: one waits for the other's to
    /// close.
    pub(super) fn spread(&self) -> Span {
        // The first block tells how long those after it are to be.
        self.mean.map_or(self.longest_wait(), |_| self.block() * 2)
    }

    /// Notes that the receiver is told the spread.
    pub(super) fn tell_spread(&mut self) {
        self.told = self.spread();
    }

    /// Whether the spread is longer than was told: by an eighth, since a rate that stays the same moves it as well.
    pub(super) fn has_outgrown(&self) -> bool {
        !self.is_none() && self.spread() > self.told + self.told / 8
    }

    /// Whether repair comes too late whatever the block.
    pub(super) fn is_hopeless(&self) -> bool {
        self.is_hopeless && !self.is_none()
    }

    /// The law's own interval: one SYN, or as many as hold [`FEWEST`] packets, within the latency.
    pub(super) fn interval(&self) -> Span {
        // Deviation(GENEVA §3.2.1): the paper's blocks are one SYN at any rate; few packets a block would cost too
        // much.
        self.syn.max(self.enough().min(on_time(self.longest))).min(self.longest)
    }

    /// Whether the source has fewer packets in a SYN than the law is meant for.
    fn is_slow(&self) -> bool {
        self.enough() > self.syn
    }

    /// Source packets a second; none before the first block has closed.
    fn rate(&self) -> Option<f64> {
        self.mean.map(Mean::rate)
    }

    /// How long [`FEWEST`] packets take.
    fn enough(&self) -> Span {
        self.rate().map_or(Span::ZERO, |rate| Span::from_secs_f64(FEWEST / rate))
    }

    /// How long the block that opens now stays open.
    // Deviation(GENEVA §3.2.2): the paper's block is one SYN. Here a block of the code holds as many as the latency has
    // room for: its repair is the same part of it, and the longer it is the longer are the bursts that it mends.
    pub(super) fn block(&self) -> Span {
        if self.is_none() {
            Span::ZERO
        } else {
            self.wanted.unwrap_or_else(|| self.usual()).max(self.interval()).min(self.longest)
        }
    }

    /// Default length of a block; the first one, which measures the rate, is as short as the law's.
    fn usual(&self) -> Span {
        let many = self.rate().map_or(Span::ZERO, |rate| Span::from_secs_f64(MANY / rate));
        on_time(self.longest).min(many)
    }

    /// Source packets of a block that the latency keeps too short for its repair, once they are known, and the latency
    /// that is needed for more of them on this round trip.
    pub(super) fn few_packets(&self, round_trip: Span) -> Option<(f64, Span)> {
        let (rate, longest) = (self.mean?.steady_rate()?, self.longest);
        let packets = rate * longest.as_secs_f64();
        let is_bound = self.wanted.is_none_or(|wanted| wanted >= longest);
        let needed = || round_trip / 2 + SPARE + Span::from_secs_f64(FEW / rate) * 2 * 8 / 7;
        (packets < FEW && is_bound && !self.is_none() && !self.is_hopeless).then(|| (packets, needed()))
    }

    /// Source packets that the law expects in its interval; none before the first block has closed.
    pub(super) fn k(&self) -> Option<f64> {
        self.rate().map(|rate| rate * self.interval().as_secs_f64())
    }

    /// A block closes, `open` after it was opened and `since` the block before it closed: how many repair packets may
    /// it get, if the brake makes `allowed` of the window that the law wants for its interval?
    pub(super) fn close_block(&mut self, load: &Load, open: Span, since: Span, allowed: impl Fn(f64) -> f64) -> usize {
        let sources = load.sources as f64;
        // Of a slow source the time between blocks counts as well, but a pause says nothing of its rate, and neither
        // does a block that closed early, unless it was full.
        let period = if self.mean.is_some() && since <= PAUSE { since.max(open) } else { open };
        let least = match self.mean {
            Some(_) if load.is_full => LEAST_SYN,
            None if load.is_full => self.syn,
            _ => self.block(),
        };
        let period = period.max(least).as_secs_f64();
        // What was said in a pause is no burden of the media.
        let control = if since <= PAUSE { load.control } else { Bytes(0) };
        let newest = Mean::of(&Load { control, ..*load }, period);
        let mean = self.mean.unwrap_or(newest).moved(newest);
        self.mean = Some(mean);
        let rate = mean.rate();
        let k = rate * self.interval().as_secs_f64();
        self.fit(k, mean.share());
        let window = allowed(self.window());
        // Of a bursty source a small block gets no less than a large one: it needs more for each packet, not less. Only
        // a block that was full before its time gets the repair of its packets.
        let expected = rate * period;
        let packets = if load.is_full || open < self.block() / 2 { expected.max(sources) } else { expected };
        let each = load.repair.0 as f64;
        let due = window * packets / self.law_k(k) + self.carried / each;
        let repair = (due + 1e-9) as usize;
        self.carried = (due - repair as f64).clamp(0.0, 1.0) * each;
        repair
    }

    /// How long a block that was `open` so long takes to leave. One that was full before its time takes as long as its
    /// source does for as many packets: what came as a burst leaves as none.
    pub(super) fn leaving(&self, load: &Load, open: Span) -> Span {
        let usual = match self.rate() {
            Some(rate) if load.is_full => Span::from_secs_f64(load.sources as f64 / rate).min(self.block()),
            _ => self.block(),
        };
        open.max(usual)
    }

    /// Source packets to which a window of the law belongs, if its interval has `k`.
    fn law_k(&self, k: f64) -> f64 {
        match self.law {
            Law::Geneva(_) if self.is_slow() => PAPER_K,
            _ => k,
        }
    }

    /// Tells the law what its blocks look like now, whose packets leave room for `share` repair packets each.
    fn fit(&mut self, k: f64, share: f64) {
        // Deviation(GENEVA §3.2.2): the paper's least window is 8, and a loss raises it by as much, at any rate. To the
        // law of a slow source a block is one of the paper's; the real one gets its part of the window. The least of it
        // is what 40 % of the bytes have room for, at most 0.4 k packets: ceil(0.4 k) of them would be more of most
        // small k, so that fractions are carried from block to block, and 0.4 k weigh 45 %.
        let (least, max) = self.bounds;
        let (syn, floor) = if self.is_slow() { (self.syn, FLOOR / PAPER_FLOOR) } else { (self.interval(), 1.0) };
        let k = self.law_k(k).min(MOST_K);
        // A user who asks for more than the paper gets it.
        let room = if least > PAPER_FLOOR { f64::INFINITY } else { share * k };
        let min = (least * floor).min(room).min(max);
        if let Law::Geneva(law) = &mut self.law {
            law.set_block(k, Seconds::from(syn), min, max)
                .expect("k and the interval are within their ranges, and the bounds are the user's, checked");
        }
    }

    /// The least that the law ever gives for its interval; static repair has no other.
    fn least(&self) -> f64 {
        match &self.law {
            Law::Geneva(law) => law.parameters().fwnd_min,
            Law::None | Law::Fixed(_) => self.window(),
        }
    }

    /// The least and the most that it ever gives; static repair has no other.
    pub(super) fn window_bounds(&self) -> (f64, f64) {
        match &self.law {
            Law::Geneva(law) => (self.least(), law.parameters().fwnd_max),
            Law::None | Law::Fixed(_) => (self.window(), self.window()),
        }
    }

    /// Source packets that the law's window is for.
    pub(super) fn law_packets(&self) -> f64 {
        self.law_k(self.k().unwrap_or(PAPER_K))
    }

    /// Source packets that a block holds.
    pub(super) fn block_packets(&self) -> f64 {
        self.rate().map_or(PAPER_K, |rate| rate * self.block().as_secs_f64())
    }

    /// Repair packets for the law's interval, as the law counts them.
    pub(super) fn window(&self) -> f64 {
        match &self.law {
            Law::None => 0.0,
            Law::Fixed(law) => f64::from(law.repair()),
            // The least one has a fraction.
            Law::Geneva(law) => f64::from(law.repair()).max(self.least()),
        }
    }

    /// A window as the law counts it in packets of a block of the law.
    pub(super) fn in_packets(&self, window: f64) -> f64 {
        match self.law {
            Law::Geneva(_) if self.is_slow() => window * self.k().unwrap_or(PAPER_K) / PAPER_K,
            _ => window,
        }
    }

    /// Hands a report on to the law.
    pub(super) fn on_report(&mut self, now: Time, lost: u32, delivered: u32, round_trip: Option<Span>) {
        let at = Seconds(now.as_secs_f64());
        let report = LossReport { lost, delivered, srtt: round_trip.map(Seconds::from), at };
        match &mut self.law {
            Law::None => {}
            Law::Fixed(law) => law.on_report(&report),
            Law::Geneva(law) => law.on_report(&report),
        }
    }

    /// The law's inner values by the paper's names.
    pub(super) fn probe(&self, visit: &mut Visitor<'_>) {
        match &self.law {
            Law::None => {}
            Law::Fixed(law) => law.probe(visit),
            Law::Geneva(law) => law.probe(visit),
        }
    }
}

/// What of a time is planned with: the eighth that is over is for timers that come late.
fn on_time(time: Span) -> Span {
    time * 7 / 8
}
