//! Fig. 5: rates over time.

use serde::{Deserialize, Serialize};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};
use thalweg_lab::experiment::{Kind, Run};
use thalweg_lab::network::Part;

/// The interval between values.
const SECOND: Span = Span::from_secs(1);

/// The payload delivered in each second, in Mb/s.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Series {
    /// Of the videos; of the first one in a pair.
    pub video: Vec<f64>,
    /// Of all other TCP; of the second video in a pair.
    pub background: Vec<f64>,
}

/// Reads the rates during a run.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    videos: Vec<u32>,
    others: Vec<u32>,
    /// The bytes that the videos, and the others, had delivered one second ago.
    seen: [Bytes; 2],
    series: Series,
}

impl Reader {
    pub(super) fn new(run: &Run, videos: &[u32]) -> Reader {
        let all = (0..).take_while(|flow| run.group_of(*flow).is_some());
        let others = all.filter(|flow| !videos.contains(flow)).collect();
        Reader { videos: videos.to_vec(), others, seen: [Bytes(0); 2], series: Series::default() }
    }

    pub(super) fn look(&mut self, now: Time, run: &Run) {
        if !now.since(Time::ZERO).as_nanos().is_multiple_of(SECOND.as_nanos()) {
            return;
        }
        let all: [u64; 2] =
            [&self.videos, &self.others].map(|flows| flows.iter().map(|flow| delivered(run, *flow)).sum());
        let [video, background] = [0, 1].map(|of: usize| {
            let new = Bytes(all[of] - self.seen[of].0);
            Rate::of(new, SECOND).as_mbps_f64()
        });
        self.series.video.push(video);
        self.series.background.push(background);
        self.seen = all.map(Bytes);
    }

    pub(super) fn finish(self) -> Series {
        self.series
    }
}

/// The payload that a flow has delivered in order, in bytes.
fn delivered(run: &Run, flow: u32) -> u64 {
    let kind = run.group_of(flow).map(|group| &run.groups()[group].kind);
    match (run.network().ends(flow), kind) {
        (Some((_, Part::TcpReceiver(receiver))), Some(Kind::Tcp(tcp))) => tcp.mss.0 * receiver.delivered(),
        _ => 0,
    }
}

impl Series {
    /// The mean rate of the videos between two seconds, Mb/s.
    pub fn video_mbps(&self, from: usize, to: usize) -> f64 {
        mean(&self.video, from, to)
    }

    /// The mean rate of all other TCP between two seconds, Mb/s.
    pub fn background_mbps(&self, from: usize, to: usize) -> f64 {
        mean(&self.background, from, to)
    }
}

fn mean(values: &[f64], from: usize, to: usize) -> f64 {
    values.get(from..to).map_or(f64::NAN, |values| values.iter().sum::<f64>() / values.len() as f64)
}
