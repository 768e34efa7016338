//! Claims on Fig. 3: ten films beside FTP.

use super::{Carrier, Court, Part, Record, Wanted, difference};

/// 3.6 Mb/s (§5.1).
pub(super) const PLAYBACK_MBPS: f64 = 3.6;
/// Up to so many connections for FTP the fair share is above the playback rate: 70 Mb/s among 10 + N.
const LAST_APART: u32 = 8;

const FILM: fn(&Record) -> f64 = |record| record.film_mbps;
const FTP: fn(&Record) -> f64 = |record| record.ftp_mbps;
const LOSS: fn(&Record) -> f64 = |record| record.loss;

impl Court<'_> {
    /// Numbers of FTP connections with which the two differ, from `first` on.
    fn apart(&self, first: u32) -> impl Iterator<Item = u32> {
        self.results.plan().n_ftp.iter().copied().filter(move |n_ftp| (first..=LAST_APART).contains(n_ftp))
    }

    /// Those with which they are one.
    fn alike(&self) -> impl Iterator<Item = u32> {
        self.results.plan().n_ftp.iter().copied().filter(|n_ftp| *n_ftp > LAST_APART)
    }

    /// That a number is smaller with `low` than with `high`.
    fn smaller(&self, n_ftp: u32, what: &str, of: fn(&Record) -> f64, [low, high]: [Carrier; 2]) -> Part {
        let more = difference(&self.values(n_ftp, high, of), &self.values(n_ftp, low, of));
        let what = format!("{n_ftp} FTP: {what}, {} - {}", self.short(high), self.short(low));
        Part::new(what, more, Wanted::Above(0.0))
    }

    /// A number of ours over NewReno's.
    fn beside_newreno(&self, n_ftp: u32, what: &str, of: fn(&Record) -> f64, wanted: Wanted) -> Part {
        let newreno = self.values(n_ftp, Carrier::NewReno, of);
        let ratio = self.values(n_ftp, self.reading.ours, of).into_iter().zip(newreno).map(|(ours, its)| ours / its);
        Part::new(format!("{n_ftp} FTP: {what}, TCP Stream / NewReno"), ratio.collect(), wanted)
    }

    fn short(&self, carrier: Carrier) -> &'static str {
        if carrier == self.reading.ours { "TCP Stream" } else { "NewReno" }
    }
}

pub(super) fn more_than_it_plays(court: &Court<'_>) -> Vec<Part> {
    let alone = court.values(0, court.reading.ours, FILM);
    vec![Part::new("0 FTP: a film, Mb/s", alone, Wanted::Above(PLAYBACK_MBPS))]
}

pub(super) fn gives_way(court: &Court<'_>) -> Vec<Part> {
    let ours = court.reading.ours;
    let falls = |n_ftp| {
        let fall = difference(&court.values(0, ours, FILM), &court.values(n_ftp, ours, FILM));
        Part::new(format!("a film, 0 FTP - {n_ftp} FTP, Mb/s"), fall, Wanted::Above(0.0))
    };
    let mut parts: Vec<Part> = court.apart(1).chain(court.alike()).map(falls).collect();
    parts.extend(court.apart(1).map(|n_ftp| court.smaller(n_ftp, "a film, Mb/s", FILM, [ours, Carrier::NewReno])));
    parts.extend(court.alike().map(|n_ftp| court.beside_newreno(n_ftp, "a film", FILM, Wanted::Below(1.1))));
    parts
}

pub(super) fn leaves_more(court: &Court<'_>) -> Vec<Part> {
    let pair = [Carrier::NewReno, court.reading.ours];
    let mut parts: Vec<Part> = court.apart(1).map(|n_ftp| court.smaller(n_ftp, "all FTP, Mb/s", FTP, pair)).collect();
    parts.extend(court.alike().map(|n_ftp| court.beside_newreno(n_ftp, "all FTP", FTP, Wanted::Above(0.9))));
    parts
}

pub(super) fn loses_less(court: &Court<'_>) -> Vec<Part> {
    let pair = [court.reading.ours, Carrier::NewReno];
    let mut parts: Vec<Part> = court.apart(0).map(|n_ftp| court.smaller(n_ftp, "loss", LOSS, pair)).collect();
    parts.extend(court.alike().map(|n_ftp| court.beside_newreno(n_ftp, "loss", LOSS, Wanted::Below(1.1))));
    parts
}

pub(super) fn delay_window_closes(court: &Court<'_>) -> Vec<Part> {
    let part = |n_ftp| {
        let share = court.values(n_ftp, court.reading.ours, |record| record.windows.share_of_dwnd());
        Part::new(format!("{n_ftp} FTP: dwnd / swnd"), share, Wanted::Below(0.1))
    };
    court.apart(1).map(part).collect()
}
