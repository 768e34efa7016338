//! Claims about Figs. 8, 9 and 10: ten streams beside long-lived TCP.

use super::{BURSTS, Evaluator, FWND, Part, RESIDUAL, Stream, Wanted, difference, slopes};
use crate::geneva::condition::{Condition, Scheme};

impl Evaluator<'_> {
    fn all(&self, rtt_ms: u32) -> Vec<Condition> {
        self.results.plan().long(rtt_ms).collect()
    }

    /// The two largest numbers of TCP flows.
    fn larger(&self, rtt_ms: u32) -> Vec<Condition> {
        let all = self.all(rtt_ms);
        all[all.len().saturating_sub(2)..].to_vec()
    }

    fn slope(&self, at: &[Condition], what: &str, values: &dyn Fn(Condition) -> Vec<f64>) -> Part {
        let n_tcp: Vec<f64> = at.iter().map(|at| f64::from(at.n_tcp().unwrap_or(0))).collect();
        let values: Vec<_> = at.iter().map(|at| values(*at)).collect();
        let per_hundred = slopes(&n_tcp, &values).into_iter().map(|slope| slope * 100.0).collect();
        Part::new(format!("{what}, per 100 TCP flows more"), per_hundred, Wanted::Above(0.0))
    }

    fn fewer_bursts(&self, rtt_ms: u32) -> Vec<Part> {
        let mut parts: Vec<Part> = self
            .larger(rtt_ms)
            .into_iter()
            .map(|at| self.smaller(at, "bursty events", BURSTS, self.geneva(), Scheme::Static8))
            .collect();
        let gap = |at| difference(&self.streams(at, Scheme::Static8, BURSTS), &self.streams(at, self.geneva(), BURSTS));
        parts.push(self.slope(&self.all(rtt_ms), "gap of bursty events", &gap));
        parts
    }

    fn smaller_at_larger(&self, rtt_ms: u32, what: &str, of: Stream, low: Scheme, high: Scheme) -> Vec<Part> {
        self.larger(rtt_ms).into_iter().map(|at| self.smaller(at, what, of, low, high)).collect()
    }

    fn near_static8(&self, rtt_ms: u32) -> Vec<Part> {
        let of = |at: Condition| {
            let index = |scheme, name: &str| {
                Part::new(format!("{at}: TPindex, {name}"), self.tpindex(at, scheme), Wanted::Within(0.58, 0.70))
            };
            [
                self.apart(at, self.geneva(), Scheme::Static8, Wanted::Within(-0.05, 0.05)),
                index(self.geneva(), "GENEVA"),
                index(Scheme::Static8, "static8"),
            ]
        };
        self.all(rtt_ms).into_iter().flat_map(of).collect()
    }

    fn order(&self, rtt_ms: u32) -> Vec<Part> {
        let of = |at: Condition| {
            [
                self.apart(at, self.geneva(), Scheme::Static12, Wanted::Above(0.0)),
                self.apart(at, Scheme::Static12, Scheme::DpFec, Wanted::Above(0.0)),
            ]
        };
        self.all(rtt_ms).into_iter().flat_map(of).collect()
    }

    fn twice_the_window(&self, rtt_ms: u32) -> Vec<Part> {
        let part = |at| {
            let windows = self.streams(at, Scheme::DpFec, FWND).into_iter().zip(self.streams(at, self.geneva(), FWND));
            let share = windows.map(|(dp_fec, geneva)| dp_fec / geneva).collect();
            Part::new(format!("{at}: Fwnd of DP-FEC / of GENEVA"), share, Wanted::Above(2.0))
        };
        self.all(rtt_ms).into_iter().map(part).collect()
    }

    fn fwnd(&self, at: Condition, wanted: Wanted) -> Part {
        Part::new(format!("{at}: mean Fwnd"), self.streams(at, self.geneva(), FWND), wanted)
    }

    /// The largest minus the smallest mean window over the numbers of TCP flows, for each seed.
    fn range_of_windows(&self, rtt_ms: u32) -> Vec<f64> {
        let windows: Vec<_> = self.all(rtt_ms).into_iter().map(|at| self.streams(at, self.geneva(), FWND)).collect();
        let of = |seed: usize| {
            let (low, high) = windows.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), windows| {
                (low.min(windows[seed]), high.max(windows[seed]))
            });
            if high >= low { high - low } else { f64::NAN }
        };
        (0..windows.first().map_or(0, Vec::len)).map(of).collect()
    }
}

pub(super) fn fewer_bursts_10(evaluator: &Evaluator<'_>) -> Vec<Part> {
    evaluator.fewer_bursts(10)
}

pub(super) fn fewer_bursts_100(evaluator: &Evaluator<'_>) -> Vec<Part> {
    evaluator.fewer_bursts(100)
}

pub(super) fn less_residual_10(evaluator: &Evaluator<'_>) -> Vec<Part> {
    evaluator.smaller_at_larger(10, "residual loss", RESIDUAL, evaluator.geneva(), Scheme::Static8)
}

pub(super) fn less_residual_100(evaluator: &Evaluator<'_>) -> Vec<Part> {
    evaluator.smaller_at_larger(100, "residual loss", RESIDUAL, evaluator.geneva(), Scheme::Static8)
}

pub(super) fn near_static8_10(evaluator: &Evaluator<'_>) -> Vec<Part> {
    evaluator.near_static8(10)
}

pub(super) fn near_static8_100(evaluator: &Evaluator<'_>) -> Vec<Part> {
    evaluator.near_static8(100)
}

pub(super) fn order_10(evaluator: &Evaluator<'_>) -> Vec<Part> {
    evaluator.order(10)
}

pub(super) fn order_100(evaluator: &Evaluator<'_>) -> Vec<Part> {
    evaluator.order(100)
}

pub(super) fn twice_the_window_10(evaluator: &Evaluator<'_>) -> Vec<Part> {
    evaluator.twice_the_window(10)
}

pub(super) fn twice_the_window_100(evaluator: &Evaluator<'_>) -> Vec<Part> {
    evaluator.twice_the_window(100)
}

pub(super) fn static12_is_worse_10(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let mut parts = evaluator.smaller_at_larger(10, "bursty events", BURSTS, Scheme::Static8, Scheme::Static12);
    parts.extend(evaluator.smaller_at_larger(10, "bursty events", BURSTS, evaluator.geneva(), Scheme::Static12));
    parts.extend(evaluator.smaller_at_larger(10, "residual loss", RESIDUAL, Scheme::Static8, Scheme::Static12));
    parts.extend(evaluator.smaller_at_larger(10, "residual loss", RESIDUAL, evaluator.geneva(), Scheme::Static12));
    parts
}

pub(super) fn dp_fec_loses_more(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let crowded = evaluator.all(10).into_iter().filter(|at| at.n_tcp() != Some(100));
    crowded.map(|at| evaluator.smaller(at, "residual loss", RESIDUAL, evaluator.geneva(), Scheme::DpFec)).collect()
}

pub(super) fn static12_is_better_100(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let mut parts = evaluator.smaller_at_larger(100, "bursty events", BURSTS, Scheme::Static12, Scheme::Static8);
    parts.extend(evaluator.smaller_at_larger(100, "residual loss", RESIDUAL, Scheme::Static12, Scheme::Static8));
    parts
}

pub(super) fn static12_loses_less_100(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let named = [500, 600].map(|n_tcp| Condition::long(100, n_tcp));
    named.map(|at| evaluator.smaller(at, "residual loss", RESIDUAL, Scheme::Static12, evaluator.geneva())).to_vec()
}

pub(super) fn window_rises_10(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let fwnd = |at| evaluator.streams(at, evaluator.geneva(), FWND);
    vec![
        evaluator.slope(&evaluator.all(10), "mean Fwnd", &fwnd),
        evaluator.fwnd(Condition::long(10, 250), Wanted::Within(8.3, 11.0)),
    ]
}

/// No window is below 8 packets, so only the upper bound is tested.
pub(super) fn window_stays_100(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let mut parts: Vec<Part> =
        evaluator.all(100).into_iter().map(|at| evaluator.fwnd(at, Wanted::Below(9.0))).collect();
    let varies = difference(&evaluator.range_of_windows(10), &evaluator.range_of_windows(100));
    parts.push(Part::new("range of mean Fwnd over N, 10 ms - 100 ms", varies, Wanted::Above(0.0)));
    parts
}

pub(super) fn is_stable(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let of = |at: Condition| {
        let trace = |of: fn(&crate::geneva::Trace) -> f64| {
            evaluator.values(at, evaluator.geneva(), |record| record.trace.as_ref().map_or(f64::NAN, of))
        };
        let growth = trace(|trace| trace.loss(0.5, 1.0) / trace.loss(0.0, 0.5));
        [
            Part::new(format!("{at}: link loss, second half / first half"), growth, Wanted::Within(0.8, 1.2)),
            // Windows are whole packets: a maximum of 9 or more means that the window was opened.
            Part::new(
                format!("{at}: widest Fwnd of the flow that opens least"),
                trace(crate::geneva::Trace::least_excursion),
                Wanted::Above(8.5),
            ),
            Part::new(
                format!("{at}: least share of a half at Fwnd 8"),
                trace(|trace| trace.share_at(8)),
                Wanted::Above(0.0),
            ),
        ]
    };
    [Condition::long(10, 200), Condition::long(100, 700)].into_iter().flat_map(of).collect()
}

pub(super) fn no_lock_in(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let all = evaluator.all(10).into_iter().chain(evaluator.all(100));
    let part = |at| {
        let widest = evaluator.values(at, evaluator.geneva(), super::Record::widest);
        Part::new(format!("{at}: most of any flow's time at Fwnd 60"), widest, Wanted::Below(0.05))
    };
    all.map(part).collect()
}

/// Compares TPindex with the share that TCP is left by streams that send their media and mean repair, relative to its
/// equal share; and with the ranges of that share for the paper's windows.
pub(super) fn what_is_left(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let of = |at: Condition| {
        let ranges = [(evaluator.geneva(), 0.61, 0.66), (Scheme::Static12, 0.56, 0.61), (Scheme::DpFec, 0.13, 0.30)];
        ranges.into_iter().flat_map(move |(scheme, low, high)| {
            let (link, streams, k) = (1000.0, 10.0, 25.0);
            let n_tcp = f64::from(at.n_tcp().unwrap_or(0));
            let left = evaluator.streams(at, scheme, FWND).into_iter().map(|fwnd| {
                let sent = streams * 30.0 * (k + fwnd) / k;
                ((link - sent) / n_tcp) / (link / (n_tcp + streams))
            });
            let (index, name) = (evaluator.tpindex(at, scheme), super::short_name(scheme));
            let off = index.iter().zip(left).map(|(index, left)| index - left).collect();
            let what = format!("{at}: TPindex of {name} less what its mean Fwnd leaves");
            [
                Part::new(what, off, Wanted::Within(-0.05, 0.05)),
                Part::new(format!("{at}: TPindex, {name}"), index, Wanted::Within(low, high)),
            ]
        })
    };
    evaluator.all(10).into_iter().chain(evaluator.all(100)).flat_map(of).collect()
}
