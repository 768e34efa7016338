//! The latency that a sender proposes: found as its stream begins, and raised when the path has become longer.

use super::{Event, Sender};
use crate::session::live::Latency;
use crate::time::{Span, Time};
use crate::wire::hello::Wanted;

/// The latency is raised by more than a tenth of it, and by more than this. Ours: a raise is a stall of the output with
/// [`crate::session::live::Playout::Constant`], so there are to be few, and a minimum of the round trip varies by as much.
const LEAST_RAISE: Span = Span::from_millis(5);
const PART: u64 = 10;

/// The latency of a sender's configuration, and what the path needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PathLatency {
    configured: Latency,
    /// The proposal of the running stream; none before it has begun.
    found: Option<Span>,
}

impl PathLatency {
    pub(super) fn new(configured: Latency) -> PathLatency {
        PathLatency { configured, found: None }
    }

    /// Takes the round trip of a stream that begins.
    pub(super) fn begin(&mut self, round_trip: Option<Span>) {
        self.found = round_trip.map(Latency::of);
    }

    /// Raises the proposal if the path has become longer; it is never lowered. `least` is the windowed minimum of the round
    /// trip, and `latest` the greater of the minima of the last two windows.
    ///
    /// A false raise lasts as long as the stream, and a late one costs the repair of some seconds. So the round trip counts
    /// only once its minimum over whole windows has risen and stands: jitter and queues that come and go leave their minima,
    /// and the delay of a queue that is growing differs from one window to the next.
    pub(super) fn follow(&mut self, least: Span, latest: Span) {
        let Some(found) = self.found else { return self.begin(Some(least)) };
        let (needed, at_most) = (Latency::of(least), Latency::of(latest));
        if is_raise(found, needed) && !is_raise(needed, at_most) {
            self.found = Some(needed);
        }
    }

    /// The sender's part of the choice on a path with this round trip, as far as it is known.
    pub(super) fn wanted(self, round_trip: Option<Span>) -> Wanted {
        let proposal = || self.found.unwrap_or_else(|| Latency::of(round_trip.unwrap_or(Span::ZERO)));
        match self.configured {
            Latency::Auto => Wanted { span: proposal(), is_auto: true },
            fixed @ Latency::Fixed(_) => fixed.into(),
        }
    }
}

impl Sender {
    /// The event of a receiver that answers.
    pub(super) fn connected(&self) -> Event {
        let round_trip = self.peer.round_trip();
        let is_auto = self.path_latency.wanted(round_trip).is_auto_with(self.peer.latency());
        Event::Connected { to: self.peer.to(), latency: self.latency(), round_trip: round_trip.filter(|_| is_auto) }
    }

    /// Proposes a longer latency at once if the path has become longer. The round trip of a path that is full has a queue in it,
    /// which says nothing of the path; so it does not count while the brake asks whether the path is full, or finds that it is.
    pub(super) fn follow_path(&mut self, now: Time) {
        let is_full = self.guard.question().is_some() || self.guard.limit().is_some();
        let round_trips = self.peer.round_trip().zip(self.peer.latest_round_trip());
        let Some((round_trip, latest)) = round_trips.filter(|_| self.peer.is_connected() && !is_full) else { return };
        let from = self.latency();
        self.path_latency.follow(round_trip, latest);
        let to = self.latency();
        if to > from {
            self.events.push_back(Event::LatencyRaised { from, to, round_trip });
            self.peer.schedule_hello(now);
        }
    }
}

fn is_raise(from: Span, to: Span) -> bool {
    to.saturating_sub(from) > LEAST_RAISE.max(from / PART)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Span {
        Span::from_millis(millis)
    }

    fn begun(round_trip: u64) -> PathLatency {
        let mut latency = PathLatency::new(Latency::Auto);
        latency.begin(Some(ms(round_trip)));
        latency
    }

    fn proposal(latency: PathLatency) -> Span {
        latency.wanted(None).span
    }

    /// RTT / 2 + max(40 ms, 1.25 RTT).
    #[test]
    fn proposal_follows_from_the_round_trip_within_the_bounds() {
        for (round_trip, needed) in [(0, 40), (20, 50), (32, 56), (100, 175), (200, 350), (9_000, 10_000)] {
            assert_eq!(proposal(begun(round_trip)), ms(needed), "{round_trip} ms");
        }
    }

    #[test]
    fn proposal_is_raised_once_the_round_trip_stands_and_never_lowered() {
        let mut latency = begun(100);
        for (least, latest, needed) in [
            (100, 300, 175),
            // 5 ms more of a round trip are 9 ms more of latency, which is less than a tenth.
            (105, 105, 175),
            (150, 300, 175),
            (200, 210, 350),
            (20, 20, 350),
        ] {
            latency.follow(ms(least), ms(latest));
            assert_eq!(proposal(latency), ms(needed), "{least} to {latest} ms");
        }
    }

    #[test]
    fn number_is_kept_whatever_the_round_trip() {
        let mut latency = PathLatency::new(Latency::Fixed(ms(60)));
        latency.begin(Some(ms(100)));
        latency.follow(ms(500), ms(500));
        assert_eq!(latency.wanted(Some(ms(500))), Wanted { span: ms(60), is_auto: false });
    }
}
