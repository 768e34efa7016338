//! Fig. 5: rates over time.

use serde::{Deserialize, Serialize};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};

use crate::experiment::{Kind, Run};
use crate::network::Part;

/// From one value to the next.
const SECOND: Span = Span::from_secs(1);

/// What was delivered in each second, payload, Mb/s.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Series {
    /// Of the films; of the first of a pair.
    pub film: Vec<f64>,
    /// Of everything else over TCP; of the second of a pair.
    pub background: Vec<f64>,
}

/// Whoever reads it while the run goes on.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    films: Vec<u32>,
    others: Vec<u32>,
    /// What the films, and the others, had delivered a second ago.
    seen: [Bytes; 2],
    series: Series,
}

impl Reader {
    pub(super) fn new(run: &Run, films: &[u32]) -> Reader {
        let all = (0..).take_while(|flow| run.group_of(*flow).is_some());
        let others = all.filter(|flow| !films.contains(flow)).collect();
        Reader { films: films.to_vec(), others, seen: [Bytes(0); 2], series: Series::default() }
    }

    pub(super) fn look(&mut self, now: Time, run: &Run) {
        if !now.since(Time::ZERO).as_nanos().is_multiple_of(SECOND.as_nanos()) {
            return;
        }
        let all: [u64; 2] =
            [&self.films, &self.others].map(|flows| flows.iter().map(|flow| delivered(run, *flow)).sum());
        let [film, background] = [0, 1].map(|of: usize| {
            let new = Bytes(all[of] - self.seen[of].0);
            Rate::of(new, SECOND).as_mbps_f64()
        });
        self.series.film.push(film);
        self.series.background.push(background);
        self.seen = all.map(Bytes);
    }

    pub(super) fn finish(self) -> Series {
        self.series
    }
}

/// Payload that a flow has delivered in order.
fn delivered(run: &Run, flow: u32) -> u64 {
    let kind = run.group_of(flow).map(|group| &run.groups()[group].kind);
    match (run.network().ends(flow), kind) {
        (Some((_, Part::TcpReceiver(receiver))), Some(Kind::Tcp(tcp))) => tcp.mss.0 * receiver.delivered(),
        _ => 0,
    }
}

impl Series {
    /// The mean rate of the films from one second to another, Mb/s.
    pub fn film_mbps(&self, from: usize, to: usize) -> f64 {
        mean(&self.film, from, to)
    }

    /// The same of everything else over TCP.
    pub fn background_mbps(&self, from: usize, to: usize) -> f64 {
        mean(&self.background, from, to)
    }
}

fn mean(values: &[f64], from: usize, to: usize) -> f64 {
    values.get(from..to).map_or(f64::NAN, |values| values.iter().sum::<f64>() / values.len() as f64)
}
