//! The metrics of a player.

use std::collections::BTreeMap;

use thalweg_core::law::playback::{Outcome, Tally};
use thalweg_core::metric::{Kind as Type, Metric, counter, gauge};
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::session::stored::receiver::Receiver;
use thalweg_core::time::Span;
use thalweg_core::video::Kind;

use crate::endpoint::PlayEndpoint;
use crate::source::Source;

pub(crate) const METRICS: [Metric; 26] = [
    gauge("position_seconds", "position in the video"),
    gauge("packet_bytes", "mean payload of the video's packets, by which rates in packets are rates in bits"),
    gauge("playable_ratio", "share of pictures that were whole in time with their references"),
    counter("lost_packets_total", "packets that never arrived from a server without R3CP+"),
    counter("interruptions_total", "times that the server was gone"),
    gauge("connected", "1 while a server plays, 0 while it is gone"),
    counter("i_playable_total", "I pictures that were whole in time"),
    counter("i_skipped_total", "I pictures that the sender skipped"),
    counter("i_broken_total", "I pictures of which a packet never arrived"),
    counter("i_late_total", "I pictures that were whole too late"),
    counter("i_orphan_total", "I pictures that were whole in time, and not decodable"),
    counter("p_playable_total", "P pictures that were whole in time with their references"),
    counter("p_skipped_total", "P pictures that the sender skipped"),
    counter("p_broken_total", "P pictures of which a packet never arrived"),
    counter("p_late_total", "P pictures that were whole too late"),
    counter("p_orphan_total", "P pictures that were whole in time without their references"),
    counter("b_playable_total", "B pictures that were whole in time with their references"),
    counter("b_skipped_total", "B pictures that the sender skipped"),
    counter("b_broken_total", "B pictures of which a packet never arrived"),
    counter("b_late_total", "B pictures that were whole too late"),
    counter("b_orphan_total", "B pictures that were whole in time without their references"),
    counter("audio_playable_total", "frames of sound that were whole in time"),
    counter("audio_skipped_total", "frames of sound that the sender skipped"),
    counter("audio_broken_total", "frames of sound of which a packet never arrived"),
    counter("audio_late_total", "frames of sound that were whole too late"),
    counter("audio_orphan_total", "frames of sound that were not decodable"),
];

/// Counters of earlier PLAYs by their names.
pub(crate) type Counts = BTreeMap<&'static str, f64>;

/// The outcomes of pictures and of sound, over all PLAYs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcomes {
    pub(crate) pictures: Tally,
    pub(crate) audio: Tally,
}

impl Outcomes {
    /// Adds those of another PLAY.
    pub(crate) fn add(&mut self, (pictures, audio): (Tally, Tally)) {
        self.pictures += pictures;
        self.audio += audio;
    }

    /// The counts in the order of [`METRICS`].
    fn counts(&self) -> impl Iterator<Item = u64> {
        let Outcomes { pictures, audio } = *self;
        let of = |tally: Tally, kind| Outcome::ALL.into_iter().map(move |outcome| tally.of(kind, outcome));
        let pictures = [Kind::I, Kind::P, Kind::B].into_iter().flat_map(move |kind| of(pictures, kind));
        // Audio is counted as I.
        pictures.chain(of(audio, Kind::I))
    }
}

impl PlayEndpoint {
    /// The counters of packets and periods over all PLAYs.
    pub(crate) fn all_counts(&self) -> Counts {
        let mut counts = self.counts.clone();
        let mut add = |name, value| *counts.entry(name).or_default() += value;
        let is_counter =
            |name| Receiver::METRICS.iter().any(|metric| metric.name == name && metric.kind == Type::Counter);
        if let Some(receiver) = &self.session.receiver {
            receiver.probe(&mut |name, value| {
                if is_counter(name) {
                    add(name, value);
                }
            });
        }
        if let Some(Source::Plain(plain)) = &self.source {
            let (received, lost) = plain.counts();
            add("received_packets", received as f64);
            add("lost_packets_total", lost as f64);
        }
        counts
    }
}

impl Probe for PlayEndpoint {
    fn probe(&self, visit: &mut Visitor<'_>) {
        match &self.session.receiver {
            Some(receiver) if self.is_connected() => receiver.probe(visit),
            // Without a server the last measurements of the path stand for nothing.
            _ => visit("buffer_seconds", self.buffered().map_or(f64::NAN, Span::as_secs_f64)),
        }
        let counts = self.all_counts();
        counts.iter().for_each(|(name, value)| visit(name, *value));
        let lost = counts.get("lost_packets_total").copied().unwrap_or(f64::NAN);
        let size = match &self.source {
            Some(Source::R3cp(r3cp)) => f64::from(r3cp.size),
            _ => f64::NAN,
        };
        let outcomes = self.outcomes();
        let playable = outcomes.pictures.performance().unwrap_or(f64::NAN);
        let connected = f64::from(u8::from(self.is_connected()));
        let others = [self.position.as_secs_f64(), size, playable, lost, self.interruptions as f64, connected];
        let counts = outcomes.counts().map(|count| count as f64);
        METRICS.iter().zip(others.into_iter().chain(counts)).for_each(|(metric, value)| visit(metric.name, value));
        self.sink.outputs.probe(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of metrics before the outcomes.
    const OTHERS: usize = 6;

    #[test]
    fn counts_are_in_the_order_of_their_names() {
        let outcome = |nth: usize, outcome: Outcome| METRICS[OTHERS + nth].name.contains(outcome.name());
        for (nth, name) in ["i_", "p_", "b_", "audio_"].iter().enumerate() {
            for (at, of) in Outcome::ALL.into_iter().enumerate() {
                assert!(outcome(5 * nth + at, of) && METRICS[OTHERS + 5 * nth + at].name.starts_with(name));
            }
        }
        let mut outcomes = Outcomes::default();
        outcomes.pictures.add(Kind::B, Outcome::Late);
        outcomes.audio.add(Kind::I, Outcome::Orphan);
        let counts: Vec<u64> = outcomes.counts().collect();
        let name = |nth: usize| METRICS[OTHERS + nth].name;
        let shown: Vec<_> = (0..).zip(&counts).filter(|(_, count)| **count > 0).map(|(nth, _)| name(nth)).collect();
        assert_eq!(shown, ["b_late_total", "audio_orphan_total"]);
    }
}
