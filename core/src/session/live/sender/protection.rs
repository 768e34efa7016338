//! The law of redundancy in the live profile: the length of a block, and the amount of its repair.
//!
//! The laws assume a block of one SYN at one media rate. A real source has a rate of its own, and a user a latency.

mod load;
#[cfg(test)]
mod tests;

pub(super) use load::Load;
use load::Mean;

use crate::law::redundancy::{Interval, Law, LossReport, Redundancy};
use crate::probe::{Probe, Visitor};
use crate::time::Span;
use crate::units::{Bytes, Seconds};

/// SYN: block and report interval (GENEVA §3.2.1), unless the law is set to another one.
pub(super) const SYN: Span = Span::from_millis(10);

/// The least interval that the law takes, and the most packets in one. The ranges of the law's parameters `syn` and `k`
/// (docs/controls.md).
const LEAST_SYN: Span = Span::from_micros(100);
const MOST_K: f64 = 65535.0;

/// Source packets below which a block is lengthened: the fewest of which eight repair packets are less than 40 %.
const FEWEST: f64 = 21.0;

/// The source packets of a block as the law of a slow source sees it: 30 Mb/s in packets of 1500 bytes, for which its
/// constants are meant. A block gets its part of that window.
const PAPER_K: f64 = 25.0;

/// The least window of such a law, 40 %; that of a block of the paper is eight packets.
const FLOOR: f64 = 0.4 * PAPER_K;
/// The minimum of GENEVA §3.2.4. The 40 % are ours: a little more than eight of [`FEWEST`].
const PAPER_FLOOR: f64 = 8.0;

/// Part of the latency that no block takes: timers are late, queues delay packets, receivers batch them. Without it the
/// last repair of the longest block would arrive just when it is too late. Ours; more takes the time from the block, so
/// that shorter bursts are recovered.
const SPARE: Span = Span::from_millis(2);

/// Most source packets of a block of default length: with half as many repair packets they fill one part of the code,
/// 255 symbols. At 30 Mb/s in datagrams of 1316 bytes they take 60 ms.
const MANY: f64 = 170.0;

/// Source packets from which on a block's repair is worth its overhead: with fewer, one lost packet in six takes more
/// than the least repair.
pub(super) const FEW: f64 = 8.0;

/// Time without a packet after which the source is pausing. Ours: the source of a video with five frames a second does
/// not pause; shorter takes slow media for a pause, longer takes a pause for slow media.
const PAUSE: Span = Span::from_millis(250);

/// One session's law, adapted to its source and its latency.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Protection {
    law: Law,
    syn: Span,
    /// Bounds of the window that the law was configured with.
    bounds: (f64, f64),
    wanted: Option<Span>,
    /// Longest block that the latency allows.
    longest: Span,
    /// The spread that the receiver was last sent.
    reported: Span,
    is_hopeless: bool,
    /// The average of blocks; none before the first block has closed.
    mean: Option<Mean>,
    /// The part of a repair packet that the last block was short of, in bytes: the next block's packets may be longer,
    /// or shorter.
    carried: f64,
}

impl Protection {
    /// Begins with the block length `wanted` by the user.
    pub(super) fn new(law: &Law, wanted: Option<Span>) -> Protection {
        let interval = law.interval();
        let syn = interval.map_or(SYN, |interval| Span::from_secs_f64(interval.syn.0));
        let bounds = interval.map_or((0.0, 0.0), |interval| interval.bounds);
        // Without blocks, the law's interval takes their place.
        let wanted = if law.deadline().is_some() { Some(Span::ZERO) } else { wanted };
        Protection {
            law: law.clone(),
            syn,
            bounds,
            wanted,
            longest: syn,
            reported: Span::ZERO,
            is_hopeless: false,
            mean: None,
            carried: 0.0,
        }
    }

    /// True if there is no repair at all.
    pub(super) fn is_none(&self) -> bool {
        self.law.is_none()
    }

    /// True if packets leave without blocks, as a schedule decides.
    pub(super) fn is_sliding(&self) -> bool {
        self.law.deadline().is_some()
    }

    /// Sets the longest block that the latency allows: a packet waits for at most one block, and leaves within another.
    pub(super) fn set_budget(&mut self, latency: Span, round_trip: Span) {
        let budget = latency.saturating_sub(round_trip / 2 + SPARE) / 2;
        self.is_hopeless = budget < self.shortest();
        self.longest = budget.max(self.shortest());
    }

    /// The shortest block, whatever the latency.
    fn shortest(&self) -> Span {
        if self.is_sliding() { LEAST_SYN } else { (self.syn / 2).max(LEAST_SYN) }
    }

    /// The least latency at which repair comes in time on this round trip.
    pub(super) fn needed(&self, round_trip: Span) -> Span {
        round_trip / 2 + SPARE + self.shortest() * 2
    }

    /// The longest that a packet may wait before it leaves: one block, and the time over which that block leaves.
    pub(super) fn longest_wait(&self) -> Span {
        self.longest * 2
    }

    /// The longest that a packet is planned to wait before it leaves: the rest is for timers that are late.
    pub(super) fn planned_wait(&self) -> Span {
        planned_part(self.longest_wait())
    }

    /// The longest time until a packet and all its repair have left, at the current length of blocks: one block until
    /// it closes, and one until it has left. Without blocks, repair may leave as long as it is in time.
    pub(super) fn spread(&self) -> Span {
        if self.is_sliding() {
            return self.longest_wait();
        }
        // The first block determines the length of those after it.
        self.mean.map_or(self.longest_wait(), |_| self.block() * 2)
    }

    /// Notes that the receiver is sent the spread.
    pub(super) fn on_spread_sent(&mut self) {
        self.reported = self.spread();
    }

    /// True if the spread is longer than the one sent, by an eighth: even at a constant rate it varies.
    pub(super) fn has_outgrown(&self) -> bool {
        !self.is_none() && self.spread() > self.reported + self.reported / 8
    }

    /// True if repair comes too late whatever the block.
    pub(super) fn is_hopeless(&self) -> bool {
        self.is_hopeless && !self.is_none()
    }

    /// The law's own interval: one SYN, or the time of [`FEWEST`] packets, within the latency.
    pub(super) fn interval(&self) -> Span {
        // Deviation(GENEVA §3.2.1): the paper's blocks are one SYN at any rate; blocks of few packets would have too
        // high an overhead.
        self.syn.max(self.enough().min(planned_part(self.longest))).min(self.longest)
    }

    /// True if the source has fewer than [`FEWEST`] packets in a SYN.
    fn is_slow(&self) -> bool {
        self.enough() > self.syn
    }

    /// True if the law sees the paper's blocks instead of the source's shorter ones.
    fn is_scaled(&self) -> bool {
        self.law.interval().is_some() && self.is_slow()
    }

    /// Source packets a second; none before the first block has closed.
    pub(super) fn rate(&self) -> Option<f64> {
        self.mean.map(Mean::rate)
    }

    /// The time that [`FEWEST`] packets take.
    fn enough(&self) -> Span {
        self.rate().map_or(Span::ZERO, |rate| Span::from_secs_f64(FEWEST / rate))
    }

    /// The time for which the block that opens now stays open.
    // Deviation(GENEVA §3.2.2): the paper's block is one SYN. Here a block of the code holds as many packets as the
    // latency allows: its repair is the same part of it, and longer blocks recover longer bursts.
    pub(super) fn block(&self) -> Span {
        if self.is_none() {
            Span::ZERO
        } else {
            self.wanted.unwrap_or_else(|| self.usual()).max(self.interval()).min(self.longest)
        }
    }

    /// Default length of a block; the first one, which measures the rate, is as short as the law's interval.
    fn usual(&self) -> Span {
        let many = self.rate().map_or(Span::ZERO, |rate| Span::from_secs_f64(MANY / rate));
        planned_part(self.longest).min(many)
    }

    /// Source packets of a block that the latency keeps too short for its repair, once they are known, and the latency
    /// needed for [`FEW`] of them on this round trip.
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

    /// Closes a block, `open` after it was opened and `since` after the block before it closed. Returns the number of
    /// repair packets that it may get; `allowed` maps the window that the law wants for its interval to the one that
    /// the brake grants.
    pub(super) fn close_block(&mut self, load: &Load, open: Span, since: Span, allowed: impl Fn(f64) -> f64) -> usize {
        let sources = load.sources as f64;
        // On a slow source the time between blocks counts as well. But a pause says nothing of the source's rate, and
        // neither does a block that closed early, unless it was full.
        let period = if self.mean.is_some() && since <= PAUSE { since.max(open) } else { open };
        let least = match self.mean {
            Some(_) if load.is_full => LEAST_SYN,
            None if load.is_full => self.syn,
            _ => self.block(),
        };
        let period = period.max(least).as_secs_f64();
        // Control sent in a pause is no overhead of the media.
        let control = if since <= PAUSE { load.control } else { Bytes(0) };
        let newest = Mean::of(&Load { control, ..*load }, period);
        let mean = self.mean.unwrap_or(newest).moved(newest);
        self.mean = Some(mean);
        let rate = mean.rate();
        let k = rate * self.interval().as_secs_f64();
        self.fit(k, mean.share());
        let window = allowed(self.window());
        // On a bursty source a small block gets no less than a large one: it needs more for each packet, not less. Only
        // a block that was full before its time gets the repair of its packets.
        let expected = rate * period;
        let packets = if load.is_full || open < self.block() / 2 { expected.max(sources) } else { expected };
        let each = load.repair.0 as f64;
        let due = window * packets / self.law_k(k) + self.carried / each;
        let repair = (due + 1e-9) as usize;
        self.carried = (due - repair as f64).clamp(0.0, 1.0) * each;
        repair
    }

    /// The time over which a block leaves that was open for `open`. A block that was full before its time takes as long
    /// as its source does for as many packets: it arrived as a burst, and leaves evenly.
    pub(super) fn leaving(&self, load: &Load, open: Span) -> Span {
        let usual = match self.rate() {
            Some(rate) if load.is_full => Span::from_secs_f64(load.sources as f64 / rate).min(self.block()),
            _ => self.block(),
        };
        open.max(usual)
    }

    /// The number of source packets that a window of the law is for, if its interval has `k`.
    fn law_k(&self, k: f64) -> f64 {
        if self.is_scaled() { PAPER_K } else { k }
    }

    /// Adapts the law to its blocks as they are now, whose packets leave capacity for `share` repair packets each.
    fn fit(&mut self, k: f64, share: f64) {
        // Deviation(GENEVA §3.2.2): the paper's least window is 8, and a loss raises it by as much, at any rate. To the
        // law of a slow source a block is one of the paper's; the real block gets its part of the window. The least
        // window is what fits into 40 % of the bytes, at most 0.4 k packets: ceil(0.4 k) would be more for most small
        // k, so fractions are carried from block to block, and 0.4 k packets weigh 45 %.
        let (least, max) = self.bounds;
        let (syn, floor) = if self.is_slow() { (self.syn, FLOOR / PAPER_FLOOR) } else { (self.interval(), 1.0) };
        let k = self.law_k(k).min(MOST_K);
        // A user who asks for more than the paper gets it.
        let room = if least > PAPER_FLOOR { f64::INFINITY } else { share * k };
        let min = (least * floor).min(room).min(max);
        self.law
            .set_interval(Interval { k, syn: Seconds::from(syn), bounds: (min, max) })
            .expect("k and the interval are within their ranges, and the bounds are the user's, checked");
    }

    /// The least and the greatest window that the law ever gives; static repair has only one.
    pub(super) fn window_bounds(&self) -> (f64, f64) {
        self.law.bounds()
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
        self.law.window()
    }

    /// A window, as the law counts it, in repair packets for one interval of the law.
    pub(super) fn in_packets(&self, window: f64) -> f64 {
        if self.is_scaled() { window * self.k().unwrap_or(PAPER_K) / PAPER_K } else { window }
    }

    /// A number of repair packets for one interval of the law, as the law counts its window.
    pub(super) fn as_window(&self, packets: f64) -> f64 {
        if self.is_scaled() { packets * PAPER_K / self.k().unwrap_or(PAPER_K) } else { packets }
    }

    /// Passes a report to the law.
    pub(super) fn on_report(&mut self, report: &LossReport) {
        self.law.on_report(report);
    }

    /// Visits the law's inner values by the paper's names.
    pub(super) fn probe(&self, visit: &mut Visitor<'_>) {
        if !self.is_none() {
            self.law.probe(visit);
        }
    }
}

/// The part of a limit that plans use: the remaining eighth is for timers that are late.
pub(super) fn planned_part(limit: Span) -> Span {
    limit * 7 / 8
}
