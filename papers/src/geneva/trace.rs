//! Figs. 10, 11 and 12: the windows of three streams, and the loss of the link over intervals of RTTmin.

use serde::{Deserialize, Serialize};
use thalweg_core::time::{Span, Time};
use thalweg_lab::experiment::{Kind, Run};
use thalweg_lab::node::drop_tail::Offered;

/// The interval between two readings of the windows: SYN (§3.2.1).
pub(super) const STEP: Span = Span::from_millis(10);

/// A run over time, from the beginning of measurement.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Trace {
    /// Each selected stream: its media rate in Mb/s, and Fwnd every 10 ms.
    pub windows: Vec<(f64, Vec<u16>)>,
    /// RTTmin.
    #[serde(with = "nanoseconds")]
    pub interval: Span,
    /// The packets offered to the link's queue in each interval, and those that it dropped.
    pub link: Vec<Offered>,
}

/// Reads the trace during a run.
#[derive(Clone, Debug)]
pub struct Watch {
    from: Time,
    /// The flow numbers of the selected streams.
    flows: Vec<u32>,
    seen: Offered,
    trace: Trace,
}

impl Watch {
    /// Selects three streams, with different rates if there are any.
    pub(super) fn new(run: &Run, from: Time, interval: Span) -> Watch {
        let rate = |flow: u32| match &run.groups()[run.group_of(flow)?].kind {
            Kind::Stream(stream) => Some(stream.media.rate.as_mbps_f64()),
            _ => None,
        };
        let all: Vec<u32> = (0..).take_while(|flow| run.group_of(*flow).is_some()).collect();
        let mut streams: Vec<(f64, u32)> = all.into_iter().filter_map(|flow| Some((rate(flow)?, flow))).collect();
        let is_mixed = streams.windows(2).any(|pair| pair[0].0 != pair[1].0);
        if is_mixed {
            streams.dedup_by_key(|stream| stream.0);
        }
        streams.truncate(3);
        Watch {
            from,
            flows: streams.iter().map(|stream| stream.1).collect(),
            seen: Offered::default(),
            trace: Trace {
                windows: streams.iter().map(|stream| (stream.0, Vec::new())).collect(),
                interval,
                link: Vec::new(),
            },
        }
    }

    /// Takes a reading; `now` is a multiple of [`STEP`].
    pub(super) fn look(&mut self, now: Time, run: &Run) {
        if now < self.from {
            return;
        }
        if now.since(self.from).as_nanos().is_multiple_of(self.trace.interval.as_nanos()) {
            let all: Offered = run.network().offered(0).iter().copied().sum();
            if now > self.from {
                let new =
                    Offered { packets: all.packets - self.seen.packets, dropped: all.dropped - self.seen.dropped };
                self.trace.link.push(new);
            }
            self.seen = all;
        }
        for (flow, (_, windows)) in self.flows.iter().zip(&mut self.trace.windows) {
            run.probe(*flow, &mut |name, value| {
                if name == "repair" {
                    windows.push(value as u16);
                }
            });
        }
    }

    pub(super) fn finish(self) -> Trace {
        self.trace
    }
}

impl Trace {
    /// The loss of the link within a part of the run, whose start and end are given as shares of the run.
    pub fn loss(&self, from: f64, to: f64) -> f64 {
        let count = self.link.len() as f64;
        let part = &self.link[(from * count) as usize..(to * count) as usize];
        let Offered { packets, dropped } = part.iter().copied().sum();
        dropped as f64 / packets as f64
    }

    /// The smallest share of time that a selected stream spent at `least` packets or fewer in either half of the run.
    pub fn share_at(&self, least: u16) -> f64 {
        let share = |half: &[u16]| half.iter().filter(|window| **window <= least).count() as f64 / half.len() as f64;
        let halves = self.windows.iter().flat_map(|(_, windows)| windows.chunks(windows.len().div_ceil(2).max(1)));
        halves.map(share).fold(f64::NAN, f64::min)
    }

    /// The widest window of the selected stream whose window opened least.
    pub fn least_excursion(&self) -> f64 {
        let widest = self.windows.iter().filter_map(|(_, windows)| windows.iter().max());
        widest.min().map_or(f64::NAN, |window| f64::from(*window))
    }

    /// The widest window of the selected stream of this media rate.
    pub fn widest(&self, rate_mbps: f64) -> f64 {
        let windows = self.windows.iter().find(|(rate, _)| *rate == rate_mbps);
        let widest = windows.and_then(|(_, windows)| windows.iter().max());
        widest.map_or(f64::NAN, |widest| f64::from(*widest))
    }
}

/// Serialization of a span, in nanoseconds.
mod nanoseconds {
    use serde::{Deserialize, Deserializer, Serializer};
    use thalweg_core::time::Span;

    pub(super) fn serialize<S: Serializer>(span: &Span, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(span.as_nanos())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Span, D::Error> {
        u64::deserialize(from).map(Span::from_nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One stream opens its window to 9 packets; the other to 60, and is at 8 for a quarter of its second half.
    #[test]
    fn excursions_and_returns_are_those_of_the_stream_that_has_least_of_them() {
        let windows = vec![(30.0, vec![8, 8, 9, 8, 8, 8, 8, 8]), (60.0, vec![8, 12, 8, 8, 9, 60, 8, 10])];
        let trace = Trace { windows, interval: Span::from_millis(10), link: Vec::new() };
        assert_eq!((trace.least_excursion(), trace.share_at(8)), (9.0, 0.25));
        assert_eq!([30.0, 60.0].map(|rate| trace.widest(rate)), [9.0, 60.0]);
        assert!(trace.widest(90.0).is_nan(), "nobody has that rate");
    }
}
