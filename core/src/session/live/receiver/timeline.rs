//! The sender's clock, mapped to ours.
//!
//! Sender reports leave at once, unlike media, which waits for its block. So the windowed minimum of the difference
//! between a report's arrival and its timestamp is the one-way delay plus the offset of the clocks. The one-way delay
//! is taken as half the round trip.
//!
//! A sender report states the same instant twice, as NTP time and as RTP timestamp, which are a constant apart (RFC
//! 3550 §6.4.1). A report with another difference is damaged, or, once a second report has that difference too, the
//! constant has changed.
//!
//! A report with a greater difference than all before it may have been delayed, by an outage or a long queue, or a clock
//! may have stepped. A delay keeps the order of the reports, and it ends.

use crate::session::live::MIN_WINDOW;
use crate::time::{Span, Time};
use crate::windowed_min::WindowedMin;
use crate::wire::ntp::NtpTime;
use crate::wire::rtp;

/// The age up to which the timeline jumps to better estimates; later it slews, to keep the output even. Ours: the
/// minimum of ten sender reports.
const YOUTH: Span = Span::from_secs(2);
/// The offset slews by at most the time passed divided by this. Clocks differ by less than 0.0002. Ours: 25 times that
/// drift; slower corrects a wrong start later, faster adds jitter to the output.
const GLIDE: u64 = 200;
/// Offsets that differ by more, in nanoseconds, mean that a clock has stepped. Ours: a smaller bound takes a long queue
/// for a stepped clock, a greater one slews for more than 100 s.
const STEP: i64 = 500_000_000;
/// The time after which a greater offset is no delay. Ours: a queue of two seconds drains within it if the media is less than
/// half of the capacity; until then all media seem late if a clock has stepped.
const DELAYED: Span = Span::from_secs(2);

/// The difference between the two clocks of a report that rounding may cause, in ticks: a millisecond.
const ROUNDING: u32 = rtp::CLOCK_RATE / 1000;

/// The time at which a report was sent, on both clocks of the sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stamp {
    pub(super) ntp: NtpTime,
    pub(super) rtp: u32,
}

impl Stamp {
    /// The RTP timestamp less the NTP time, modulo 2^32 ticks.
    fn ahead(self) -> u32 {
        let ticks = (u128::from(self.ntp.0) * u128::from(rtp::CLOCK_RATE)) >> 32;
        self.rtp.wrapping_sub(ticks as u32)
    }
}

/// Maps RTP timestamps to our clock.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Timeline {
    /// A recent timestamp, unwrapped.
    ticks: i64,
    /// RTP timestamp less NTP time, of accepted reports and of the last report that differed from them.
    ahead: u32,
    suspect: Option<u32>,
    /// Our clock less the clock of the timestamps, in nanoseconds, at the least delay.
    least: WindowedMin<i64>,
    /// The offset in use, which follows `least`.
    offset: i64,
    /// The arrival of the first of the last reports that all seem to be delayed by more than [`STEP`].
    delayed: Option<Time>,
    began: Time,
    moved: Time,
    round_trip: Span,
}

impl Timeline {
    /// Begins with a sender report that arrived at `now`.
    pub(super) fn new(now: Time, sent: Stamp) -> Timeline {
        // Far from zero, so that older timestamps stay positive.
        let ticks = (1 << 40) + i64::from(sent.rtp);
        let offset = nanos(now) - ticks_to_nanos(ticks);
        let mut least = WindowedMin::new(MIN_WINDOW);
        least.push(now, offset);
        let (began, moved, round_trip) = (now, now, Span::ZERO);
        Timeline { ticks, ahead: sent.ahead(), suspect: None, least, offset, delayed: None, began, moved, round_trip }
    }

    /// Takes a sender report that arrived at `now`. False if it seems to be damaged.
    pub(super) fn on_sender_report(&mut self, now: Time, sent: Stamp) -> bool {
        let near = |known: u32| (sent.ahead().wrapping_sub(known) as i32).unsigned_abs() <= ROUNDING;
        let expected = near(self.ahead);
        if !expected && !self.suspect.is_some_and(near) {
            self.suspect = Some(sent.ahead());
            return false;
        }
        self.suspect = None;
        let ticks = self.unwrap(sent.rtp);
        let sample = nanos(now) - ticks_to_nanos(ticks);
        if !expected || self.has_stepped(now, ticks, sample) {
            self.restart(now, sent);
            return true;
        }
        self.ticks = ticks;
        self.least.push(now, sample);
        let wanted = self.least.get().unwrap_or(sample);
        let reach = if now.since(self.began) < YOUTH { i64::MAX } else { nanos_of(now.since(self.moved) / GLIDE) };
        self.offset += (wanted - self.offset).clamp(-reach, reach);
        self.moved = now;
        true
    }

    /// True if a clock has stepped before a report that was sent at `ticks` and arrived at `now`, `sample` later.
    fn has_stepped(&mut self, now: Time, ticks: i64, sample: i64) -> bool {
        let later = sample - self.least.get().unwrap_or(sample);
        if later <= STEP {
            self.delayed = None;
            return later < -STEP;
        }
        let delayed = *self.delayed.get_or_insert(now);
        ticks < self.ticks || now.since(delayed) > DELAYED
    }

    /// Begins anew with a report of the same sender: a clock has stepped, or the path is another one.
    pub(super) fn restart(&mut self, now: Time, sent: Stamp) {
        *self = Timeline { round_trip: self.round_trip, ..Timeline::new(now, sent) };
    }

    /// Sets the windowed minimum of the round trip.
    pub(super) fn set_round_trip(&mut self, round_trip: Span) {
        self.round_trip = round_trip;
    }

    pub(super) fn round_trip(&self) -> Span {
        self.round_trip
    }

    /// The time, on our clock, at which the source produced the packet with `timestamp`.
    pub(super) fn produced(&self, timestamp: u32) -> Time {
        let there = ticks_to_nanos(self.unwrap(timestamp)).saturating_add(self.offset);
        Time::from_nanos(u64::try_from(there).unwrap_or(0)) - self.round_trip / 2
    }

    fn unwrap(&self, timestamp: u32) -> i64 {
        self.ticks + i64::from(timestamp.wrapping_sub(self.ticks as u32) as i32)
    }
}

fn ticks_to_nanos(ticks: i64) -> i64 {
    (i128::from(ticks) * 1_000_000_000 / i128::from(rtp::CLOCK_RATE)) as i64
}

fn nanos(time: Time) -> i64 {
    nanos_of(time.since(Time::ZERO))
}

fn nanos_of(span: Span) -> i64 {
    i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// A sender whose clock is 3 s ahead of ours, 20 ms away.
    fn stamp(sent: u64) -> u32 {
        rtp::timestamp(at(sent + 3000)).wrapping_add(u32::MAX - 100_000)
    }

    /// A report of that sender, with both clocks.
    fn report(sent: u64) -> Stamp {
        Stamp { ntp: at(sent + 3000).into(), rtp: stamp(sent) }
    }

    fn near(left: Time, right: Time) -> bool {
        left.since(right) + right.since(left) < Span::from_micros(20)
    }

    #[test]
    fn production_times_follow_from_offset_and_half_a_round_trip() {
        let mut timeline = Timeline::new(at(1020), report(1000));
        timeline.set_round_trip(Span::from_millis(40));
        assert!(near(timeline.produced(stamp(1000)), at(1000)));
        assert!(near(timeline.produced(stamp(60_000)), at(60_000)), "across the wrap of the timestamps");
    }

    #[test]
    fn offset_uses_the_minimum_delay_and_ignores_queueing() {
        let mut timeline = Timeline::new(at(1050), report(1000));
        timeline.on_sender_report(at(1220), report(1200));
        timeline.on_sender_report(at(1490), report(1400));
        assert!(near(timeline.produced(stamp(1400)), at(1420)));
    }

    #[test]
    fn clock_step_is_followed_at_once() {
        let mut timeline = Timeline::new(at(1020), report(1000));
        for sent in [1200, 1400, 1600] {
            timeline.on_sender_report(at(sent + 20), report(sent));
        }
        timeline.on_sender_report(at(1820), report(1800 + 60_000));
        assert!(near(timeline.produced(stamp(1800 + 60_000)), at(1820)));
    }

    #[test]
    fn delayed_reports_move_nothing_unless_they_stay_delayed() {
        let mut timeline = Timeline::new(at(1020), report(1000));
        // An outage of a second, whose reports arrive together.
        for sent in (1200..=2200).step_by(200) {
            timeline.on_sender_report(at(2400), report(sent));
        }
        assert!(near(timeline.produced(stamp(2200)), at(2220)));
        // The sender's clock stood still for a second.
        let later = |sent| near(timeline_after(&timeline, sent).produced(stamp(sent)), at(sent + 1020));
        assert!(!later(4400) && later(4600));
    }

    /// The timeline after reports every 200 ms up to the one of `last`, each a second later than those before.
    fn timeline_after(timeline: &Timeline, last: u64) -> Timeline {
        let mut timeline = timeline.clone();
        for sent in (2400..=last).step_by(200) {
            timeline.on_sender_report(at(sent + 1020), report(sent));
        }
        timeline
    }

    #[test]
    fn inconsistent_sender_report_is_accepted_once_repeated() {
        let mut timeline = Timeline::new(at(1020), report(1000));
        // One bit is wrong: 0.36 s, which could also be a queue.
        let damaged = |sent| Stamp { rtp: stamp(sent) ^ 0x8000, ..report(sent) };
        for sent in [1200, 1600] {
            assert!(!timeline.on_sender_report(at(sent + 20), damaged(sent)));
            assert!(timeline.on_sender_report(at(sent + 220), report(sent + 200)));
        }
        assert!(near(timeline.produced(stamp(1800)), at(1820)));
        let another = |sent| Stamp { rtp: stamp(sent).wrapping_add(1_000_000), ..report(sent) };
        assert!(!timeline.on_sender_report(at(2020), another(2000)));
        assert!(timeline.on_sender_report(at(2220), another(2200)));
        assert!(near(timeline.produced(another(2200).rtp), at(2220)));
    }
}
