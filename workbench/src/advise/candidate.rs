//! Settings of `thalweg send` and `recv` that are tried on a path.

use core::fmt;

use thalweg_core::law::redundancy::{Choice, Law};
use thalweg_core::session::live::sender::redundancy;
use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};
use thalweg_core::wire::rtp;
use thalweg_core::wire::secure::sealed::Sealed;

/// The numbers of repair packets of the fixed candidates. Ours: from a light repair to one that a lossy path needs; each
/// more takes a run of its own.
const FIXED: [u32; 3] = [2, 4, 8];

/// The least time between the one-way delay and a latency that is tried. Ours: less leaves no time for a block.
const LEAST: Span = Span::from_millis(10);

/// The least time for a retransmission under `--latency auto`, and its part of a round trip in hundredths.
const AUTO: (Span, u64) = (Span::from_millis(40), 125);

/// The media that the path is to carry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Media {
    /// Its rate, without headers.
    pub rate: Rate,
    /// The bytes of each datagram.
    pub payload: Bytes,
    /// The rate that everything together may have.
    pub most: Rate,
}

/// Bytes of the headers of IPv4, UDP and RTP, and of the seal.
const HEADERS: u64 = 28 + (rtp::HEADER_LEN + Sealed::OVERHEAD) as u64;

impl Media {
    /// The rate of its packets on the wire, without repair and control.
    pub fn on_the_wire(&self) -> Rate {
        let packet = u128::from(self.payload.0 + HEADERS);
        let bps = u128::from(self.rate.as_bps()) * packet / u128::from(self.payload.0.max(1));
        Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX))
    }
}

/// A setting of `send` and `recv`.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    /// The law of repair, as in `--repair`.
    pub repair: String,
    /// The latency of both ends.
    pub latency: Span,
    /// The length of a block, where it is not that which follows from the latency.
    pub block: Option<Span>,
}

impl Candidate {
    /// The settings that are tried on a path of this round trip: those of the default with the latency that is asked for, or,
    /// if none is, the one that `--latency auto` finds; then the others.
    pub fn all(round_trip: Span, latency: Option<Span>) -> Vec<Candidate> {
        let one_way = round_trip / 2;
        let found = whole_millis(one_way + AUTO.0.max(round_trip.mul_div(AUTO.1, 100)));
        let most = latency.unwrap_or(found);
        let mut latencies = vec![most];
        for less in [found, whole_millis(most / 2)] {
            let is_apart = latencies.iter().all(|other| less.mul_div(5, 4) <= *other);
            latencies.extend((is_apart && less >= one_way + LEAST).then_some(less));
        }
        let each = |repair: &'static str| {
            let latencies = latencies.iter();
            latencies.map(move |latency| Candidate { repair: repair.to_owned(), latency: *latency, block: None })
        };
        let block = whole_millis(most.saturating_sub(one_way) / 4).max(Span::from_millis(5));
        let fixed = FIXED.into_iter().flat_map(|packets| {
            [None, Some(block)].map(|block| Candidate { repair: format!("static:{packets}"), latency: most, block })
        });
        each("auto").chain(each("geneva")).chain(fixed).chain(each("none").take(1)).collect()
    }

    /// The law of repair.
    pub fn law(&self) -> Law {
        law(&self.repair)
    }

    /// The law of repair that `send` has by default.
    pub fn default_law() -> Law {
        law("auto")
    }

    /// The options of `thalweg send`.
    pub fn send_options(&self) -> String {
        let block = self.block.map_or(String::new(), |block| format!(" --block {block}"));
        format!("--latency {} --repair {}{block}", self.latency, self.repair)
    }

    /// The options of `thalweg recv`.
    pub fn recv_options(&self) -> String {
        format!("--latency {}", self.latency)
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.repair)?;
        self.block.map_or(Ok(()), |block| write!(f, ", blocks of {block}"))
    }
}

fn law(name: &str) -> Law {
    let choice: Choice = name.parse().expect("a law of the registry");
    redundancy(&choice).expect("its defaults")
}

/// The time in whole milliseconds, rounded up.
fn whole_millis(span: Span) -> Span {
    Span::from_millis(span.as_nanos().div_ceil(1_000_000))
}

#[cfg(test)]
mod tests {
    use thalweg_core::law::redundancy::Redundancy;

    use super::*;

    fn latencies(repair: &str, all: &[Candidate]) -> Vec<u64> {
        all.iter().filter(|one| one.repair == repair).map(|one| one.latency.as_micros() / 1000).collect()
    }

    #[test]
    fn the_default_comes_first_and_no_latency_exceeds_the_one_asked_for() {
        let ms = Span::from_millis;
        let all = Candidate::all(ms(100), Some(ms(400)));
        assert_eq!((all[0].repair.as_str(), all[0].latency), ("auto", ms(400)));
        // 50 ms one way, and 1.25 round trips.
        assert_eq!(latencies("auto", &all), [400, 175]);
        assert_eq!(latencies("none", &all), [400]);
        assert_eq!(latencies("auto", &Candidate::all(ms(100), None)), [175, 88]);
        assert_eq!(latencies("auto", &Candidate::all(ms(10), None)), [45, 23]);
        // Too short for a retransmission, and half of it for any repair.
        assert_eq!(latencies("geneva", &Candidate::all(ms(240), Some(ms(150)))), [150]);
        assert!(all.iter().all(|one| one.law().is_none() == (one.repair == "none")));
    }
}
