//! The outcome of the packets of a period: their losses, and their delays.

use crate::time::{Span, Time};

/// The share of reports with a grown round trip above which there is a queue. Ours: a lower share takes jitter for a
/// queue, a higher one overlooks a queue that often empties.
const GROWN: f64 = 0.25;
/// Losses occur at the peak of the delay where the packets before them took so many standard deviations longer than
/// all, and so many errors of the mean: one standard deviation over the root of the runs. At a queue whose length is uniform
/// it is 1.7 standard deviations, at one that is nearly always full 0.6, with random loss 0.
const HEIGHT: f64 = 0.5;
const ERRORS: f64 = 4.0;
/// The least number of runs of losses for that test.
const RUNS: u64 = 36;
/// Delays differ where their means do by more than this, and by more than a standard deviation: RFC 8888 reports
/// them in 1/1024 s. The rounding alone has a standard deviation of 0.3 ms: the mean over [`RUNS`] is off by half of this
/// once in two million.
const RESOLUTION: f64 = 0.0005;
/// Packets of a [`Group`]. Ours: ten bursts long, so that the bursts that a border cuts make the variance no more than a
/// tenth too small; a sample of half a second at 10 Mb/s holds as many as [`GROUPS`].
const GROUP: u32 = 32;
/// The least number of groups whose variance says something: its error is then 35 %.
const GROUPS: u64 = 16;

/// Delays of packets, in seconds: their number, their sum and the sum of their squares.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
struct Delays {
    count: u64,
    sum: f64,
    squares: f64,
}

impl Delays {
    fn push(&mut self, delay: Span) {
        let delay = delay.as_secs_f64();
        self.join(&Delays { count: 1, sum: delay, squares: delay * delay });
    }

    fn join(&mut self, other: &Delays) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
    }

    /// The mean; NaN without delays.
    fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }

    fn deviation(&self) -> f64 {
        let mean = self.mean();
        libm::sqrt((self.squares / self.count as f64 - mean * mean).max(0.0))
    }
}

/// The losses among [`GROUP`] packets that left one after another.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(in crate::session::live::sender) struct Group {
    passed: u32,
    lost: u32,
}

impl Group {
    /// Takes the outcome of the next packet in the order of sending. Returns the losses of a group that is complete.
    pub(in crate::session::live::sender) fn pass(&mut self, is_lost: bool) -> Option<u32> {
        self.passed += 1;
        self.lost += u32::from(is_lost);
        (self.passed == GROUP).then(|| core::mem::take(self).lost)
    }
}

/// Losses of groups: the number of groups, the sum and the sum of squares.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
struct Groups {
    count: u64,
    sum: u64,
    squares: u64,
}

impl Groups {
    /// Ratio of the variance of a group's losses to that of independent losses; NaN without losses.
    fn excess(&self) -> f64 {
        let mean = self.sum as f64 / self.count as f64;
        let variance = self.squares as f64 / self.count as f64 - mean * mean;
        variance / (mean * (1.0 - mean / f64::from(GROUP)))
    }
}

/// Statistics of packets in the order in which they left.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(in crate::session::live::sender) struct Sample {
    from: Time,
    until: Time,
    lost: u64,
    delivered: u64,
    /// Runs of losses.
    runs: u64,
    groups: Groups,
    delays: Delays,
    /// Delays of the last packet delivered before each run.
    before_runs: Delays,
    reports: u64,
    /// Reports whose round trip had grown.
    grown: u64,
}

impl Sample {
    /// A sample that begins at `from`.
    pub(super) fn from(from: Time) -> Sample {
        Sample { from, until: from, ..Sample::default() }
    }

    /// Counts a delivered packet, with its round-trip delay.
    pub(in crate::session::live::sender) fn deliver(&mut self, delay: Span) {
        self.delivered += 1;
        self.delays.push(delay);
    }

    /// Counts a lost packet; the first of a run comes with the delay of the packet delivered before it, if it is known.
    pub(in crate::session::live::sender) fn lose(&mut self, is_first: bool, before: Option<Span>) {
        self.lost += 1;
        if is_first {
            self.runs += 1;
            before.into_iter().for_each(|delay| self.before_runs.push(delay));
        }
    }

    /// Counts a complete group with so many losses, if there is one.
    pub(in crate::session::live::sender) fn group(&mut self, lost: Option<u32>) {
        for lost in lost.into_iter().map(u64::from) {
            self.groups.count += 1;
            self.groups.sum += lost;
            self.groups.squares += lost * lost;
        }
    }

    /// Takes note of whether the round trip of a report had grown.
    pub(in crate::session::live::sender) fn report(&mut self, has_grown: bool) {
        self.reports += 1;
        self.grown += u64::from(has_grown);
    }

    /// Adds the packets that a report at `now` has settled, unless the sample begins later.
    pub(super) fn join(&mut self, now: Time, settled: &Sample) {
        if now >= self.from {
            self.add(settled);
            self.until = now;
        }
    }

    /// The union of two samples, as long as both together.
    pub(super) fn and(&self, other: &Sample) -> Sample {
        let mut both = *self;
        both.add(other);
        both.until += other.length();
        both
    }

    fn add(&mut self, other: &Sample) {
        self.lost += other.lost;
        self.delivered += other.delivered;
        self.runs += other.runs;
        self.groups.count += other.groups.count;
        self.groups.sum += other.groups.sum;
        self.groups.squares += other.groups.squares;
        self.delays.join(&other.delays);
        self.before_runs.join(&other.before_runs);
        self.reports += other.reports;
        self.grown += other.grown;
    }

    /// The same sample, scaled to no more than `most` packets.
    pub(super) fn at_most(mut self, most: u64) -> Sample {
        while self.sent() > most {
            let groups = &mut self.groups;
            let halves = [&mut self.lost, &mut self.delivered, &mut self.runs, &mut self.reports, &mut self.grown];
            let groups = [&mut groups.count, &mut groups.sum, &mut groups.squares];
            halves.into_iter().chain(groups).for_each(|count| *count /= 2);
            for delays in [&mut self.delays, &mut self.before_runs] {
                let part = (delays.count / 2) as f64 / delays.count.max(1) as f64;
                *delays = Delays { count: delays.count / 2, sum: delays.sum * part, squares: delays.squares * part };
            }
        }
        self
    }

    pub(super) fn length(&self) -> Span {
        self.until.since(self.from)
    }

    pub(super) fn sent(&self) -> u64 {
        self.lost + self.delivered
    }

    /// Loss ratio; NaN without packets.
    pub(super) fn ratio(&self) -> f64 {
        self.lost as f64 / self.sent() as f64
    }

    /// The logarithm of the likelihood of the losses, if each packet is lost with probability `p`.
    pub(super) fn likelihood(&self, p: f64) -> f64 {
        let p = p.clamp(1e-6, 1.0 - 1e-6);
        self.lost as f64 * libm::log(p) + self.delivered as f64 * libm::log(1.0 - p)
    }

    /// Packets a second.
    pub(super) fn rate(&self) -> f64 {
        self.sent() as f64 / self.length().as_secs_f64()
    }

    /// Ratio of the variance of the number of losses to that of independent losses, at least 1: losses occur in bursts. It is
    /// that of a two-state chain with these runs or, if it is more and there are enough, that of the groups: in a burst that
    /// loses 70 % of the packets a run is shorter than the burst.
    pub(super) fn in_a_row(&self) -> f64 {
        let p = self.ratio();
        let end = self.runs as f64 / self.lost as f64;
        let rho = 1.0 - end - p * end / (1.0 - p);
        // NaN without losses, and where all are lost.
        let chain = if rho > 0.0 { (1.0 + rho) / (1.0 - rho).max(0.01) } else { 1.0 };
        if self.groups.count >= GROUPS { chain.max(self.groups.excess()) } else { chain }
    }

    /// Standard deviation of the loss ratio.
    pub(super) fn error(&self) -> f64 {
        let p = self.ratio();
        libm::sqrt(self.in_a_row() * p * (1.0 - p) / self.sent() as f64)
    }

    /// Standard deviation of the difference between the loss ratios of two samples of one path, which has this one's
    /// ratio.
    pub(super) fn spread(&self, other: &Sample) -> f64 {
        let p = self.ratio();
        let parts = 1.0 / self.sent() as f64 + 1.0 / other.sent() as f64;
        libm::sqrt(self.in_a_row() * p * (1.0 - p) * parts)
    }

    /// Returns whether delay indicates a queue: round trips have grown, or losses occur at the peak of the delay.
    pub(super) fn shows_queue(&self) -> bool {
        self.grown as f64 > GROWN * self.reports as f64 || self.loses_at_peaks()
    }

    /// Returns whether losses occur at the peak of the delay.
    pub(super) fn loses_at_peaks(&self) -> bool {
        let height = self.before_runs.mean() - self.delays.mean();
        let least = HEIGHT.max(ERRORS / libm::sqrt(self.before_runs.count as f64));
        self.before_runs.count >= RUNS && height > (least * self.delays.deviation()).max(RESOLUTION / 2.0)
    }

    /// Returns whether its delays are shorter than those of `other`.
    pub(super) fn delay_is_below(&self, other: &Sample) -> bool {
        other.delays.mean() - self.delays.mean() > RESOLUTION.max(self.delays.deviation()).max(other.delays.deviation())
    }
}
