//! Shedding: what an input leaves out when it is faster than the rate that its session allows.

use thalweg_core::metric::{Kind, Metric};
use thalweg_core::session::live::sender::Sender;
use thalweg_core::time::{Span, Time};
use thalweg_mpegts::shed::Shedder;

use super::reports;
use crate::report::Report;

pub(super) const PICTURES: Metric = Metric {
    name: "shed_pictures_total",
    kind: Kind::Counter,
    help: "Pictures dropped, in whole or in part, because the media is faster than the rate limit",
};

/// Interval between two reports of dropped pictures. Ours: shorter repeats what the count shows.
const INTERVAL: Span = Span::from_secs(60);
/// Time from the first dropped picture to its report. Ours: shorter knows neither the largest random access point nor the
/// rate, and asks for a latency that is too short.
const DELAY: Span = Span::from_secs(2);

/// The media that is dropped first when an input is faster than the rate that its session allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Shed {
    /// Of MPEG-TS whole pictures, by [`Shedder`]; of other media datagrams.
    Pictures,
    /// Datagrams.
    #[default]
    Packets,
}

/// The pictures of an input that are dropped.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Shedding {
    /// None if datagrams are dropped instead.
    shedder: Option<Shedder>,
    /// Pictures reported.
    reported: u64,
    /// The time from which on others are reported.
    due: Option<Time>,
    /// The greatest latency that a report has asked for.
    advised: Span,
}

impl Shedding {
    pub(super) fn new(shed: Shed) -> Shedding {
        Shedding { shedder: (shed == Shed::Pictures).then(Shedder::new), ..Shedding::default() }
    }

    /// True if pictures are dropped, where the input is MPEG-TS.
    pub(super) fn drops_pictures(&self) -> bool {
        self.shedder.is_some()
    }

    /// Pictures dropped.
    pub(super) fn pictures(&self) -> u64 {
        self.shedder.as_ref().map_or(0, Shedder::pictures)
    }

    /// Passes a datagram of the input to the session, without the pictures that are dropped.
    pub(super) fn pass(&mut self, now: Time, is_mpeg_ts: bool, payload: &[u8], session: &mut Sender) {
        let Some(shedder) = self.shedder.as_mut().filter(|_| is_mpeg_ts) else {
            return session.handle_media(now, payload);
        };
        let kept = shedder.pass(now, payload, session.media_budget(now).as_ref());
        if !kept.is_empty() {
            session.handle_media(now, kept);
        }
    }

    /// The report of pictures dropped since the last one, if it is due; with the latency that random access points need.
    pub(super) fn report(&mut self, now: Time, session: &Sender) -> Option<Report> {
        let shedder = self.shedder.as_ref()?;
        let pictures = shedder.pictures() - self.reported;
        if pictures == 0 || now < *self.due.get_or_insert(now + DELAY) {
            return None;
        }
        (self.reported, self.due) = (self.reported + pictures, Some(now + INTERVAL));
        let needed = self.needed_latency(now, session).map(|needed| self.advise(now, session, needed));
        Some(reports::shed(pictures, needed))
    }

    /// The latency that a report asks for, where its own reason needs `needed`: enough for random access points and for
    /// earlier reports, too, and an eighth more, since rates and round trips vary. A user who sets it once is asked for no
    /// other.
    pub(super) fn advise(&mut self, now: Time, session: &Sender, needed: Span) -> Span {
        let needed = needed.max(self.needed_latency(now, session).unwrap_or_default());
        if needed > self.advised {
            self.advised = needed + needed / 8;
        }
        self.advised
    }

    /// The latency at which random access points leave as a whole, if that of the session is too short for them. The wait
    /// grows with it.
    fn needed_latency(&self, now: Time, session: &Sender) -> Option<Span> {
        let budget = session.media_budget(now)?;
        let needed = self.shedder.as_ref()?.needed_wait(&budget)?;
        let nanos = budget.longest_wait.as_nanos();
        (nanos > 0).then(|| session.latency().mul_div(needed.as_nanos(), nanos))
    }
}

#[cfg(test)]
mod tests;
