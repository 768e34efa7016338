//! Claims about Fig. 3: ten videos beside FTP.

use super::{Carrier, Evaluator, Part, Record, Wanted, difference};

/// The playback rate: 3.6 Mb/s (§5.1).
pub(super) const PLAYBACK_MBPS: f64 = 3.6;
/// The largest number of FTP connections with which the fair share is above the playback rate: 70 Mb/s among 10 + N.
const LAST_APART: u32 = 8;

const VIDEO: fn(&Record) -> f64 = |record| record.video_mbps;
const FTP: fn(&Record) -> f64 = |record| record.ftp_mbps;
const LOSS: fn(&Record) -> f64 = |record| record.loss;

impl Evaluator<'_> {
    /// The numbers of FTP connections, from `first` on, with which TCP Stream and NewReno differ.
    fn apart(&self, first: u32) -> impl Iterator<Item = u32> {
        self.results.plan().n_ftp.iter().copied().filter(move |n_ftp| (first..=LAST_APART).contains(n_ftp))
    }

    /// The numbers of FTP connections with which they behave alike.
    fn alike(&self) -> impl Iterator<Item = u32> {
        self.results.plan().n_ftp.iter().copied().filter(|n_ftp| *n_ftp > LAST_APART)
    }

    /// Requires that a value is smaller with `low` than with `high`.
    fn smaller(&self, n_ftp: u32, what: &str, of: fn(&Record) -> f64, [low, high]: [Carrier; 2]) -> Part {
        let more = difference(&self.values(n_ftp, high, of), &self.values(n_ftp, low, of));
        let what = format!("{n_ftp} FTP: {what}, {} - {}", self.short(high), self.short(low));
        Part::new(what, more, Wanted::Above(0.0))
    }

    /// The ratio of TCP Stream's value to NewReno's.
    fn beside_newreno(&self, n_ftp: u32, what: &str, of: fn(&Record) -> f64, wanted: Wanted) -> Part {
        let newreno = self.values(n_ftp, Carrier::NewReno, of);
        let ratio = self.values(n_ftp, self.reading.ours, of).into_iter().zip(newreno).map(|(ours, its)| ours / its);
        Part::new(format!("{n_ftp} FTP: {what}, TCP Stream / NewReno"), ratio.collect(), wanted)
    }

    fn short(&self, carrier: Carrier) -> &'static str {
        if carrier == self.reading.ours { "TCP Stream" } else { "NewReno" }
    }
}

pub(super) fn more_than_it_plays(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let alone = evaluator.values(0, evaluator.reading.ours, VIDEO);
    vec![Part::new("0 FTP: a video, Mb/s", alone, Wanted::Above(PLAYBACK_MBPS))]
}

pub(super) fn gives_way(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let ours = evaluator.reading.ours;
    let falls = |n_ftp| {
        let fall = difference(&evaluator.values(0, ours, VIDEO), &evaluator.values(n_ftp, ours, VIDEO));
        Part::new(format!("a video, 0 FTP - {n_ftp} FTP, Mb/s"), fall, Wanted::Above(0.0))
    };
    let mut parts: Vec<Part> = evaluator.apart(1).chain(evaluator.alike()).map(falls).collect();
    parts.extend(
        evaluator.apart(1).map(|n_ftp| evaluator.smaller(n_ftp, "a video, Mb/s", VIDEO, [ours, Carrier::NewReno])),
    );
    parts.extend(evaluator.alike().map(|n_ftp| evaluator.beside_newreno(n_ftp, "a video", VIDEO, Wanted::Below(1.1))));
    parts
}

pub(super) fn leaves_more(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let pair = [Carrier::NewReno, evaluator.reading.ours];
    let mut parts: Vec<Part> =
        evaluator.apart(1).map(|n_ftp| evaluator.smaller(n_ftp, "all FTP, Mb/s", FTP, pair)).collect();
    parts.extend(evaluator.alike().map(|n_ftp| evaluator.beside_newreno(n_ftp, "all FTP", FTP, Wanted::Above(0.9))));
    parts
}

pub(super) fn loses_less(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let pair = [evaluator.reading.ours, Carrier::NewReno];
    let mut parts: Vec<Part> = evaluator.apart(0).map(|n_ftp| evaluator.smaller(n_ftp, "loss", LOSS, pair)).collect();
    parts.extend(evaluator.alike().map(|n_ftp| evaluator.beside_newreno(n_ftp, "loss", LOSS, Wanted::Below(1.1))));
    parts
}

pub(super) fn delay_window_closes(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let part = |n_ftp| {
        let share = evaluator.values(n_ftp, evaluator.reading.ours, |record| record.windows.share_of_dwnd());
        Part::new(format!("{n_ftp} FTP: dwnd / swnd"), share, Wanted::Below(0.1))
    };
    evaluator.apart(1).map(part).collect()
}
