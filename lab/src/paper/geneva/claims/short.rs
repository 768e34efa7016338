//! Claims on Table 1: ten streams beside short-lived TCP.

use super::{BURSTS, Court, FWND, Part, RESIDUAL, Wanted};
use crate::paper::geneva::condition::{Condition, Scheme};
use crate::paper::geneva::plan::Plan;

fn blocks(rtt_ms: u32) -> impl Iterator<Item = Condition> {
    Plan::short().into_iter().filter(move |at| at.rtt_ms() == rtt_ms)
}

pub(super) fn fewer_bursts_10(court: &Court<'_>) -> Vec<Part> {
    let than = |at, other| court.smaller(at, "bursty events", BURSTS, court.geneva, other);
    blocks(10).flat_map(|at| [than(at, Scheme::Static8), than(at, Scheme::Static12)]).collect()
}

pub(super) fn less_residual_10(court: &Court<'_>) -> Vec<Part> {
    let than = |at, other| court.smaller(at, "residual loss", RESIDUAL, court.geneva, other);
    blocks(10).flat_map(|at| [than(at, Scheme::Static8), than(at, Scheme::Static12)]).collect()
}

pub(super) fn order_10(court: &Court<'_>) -> Vec<Part> {
    let of = |at| {
        [
            court.apart(at, court.geneva, Scheme::Static12, Wanted::Above(0.0)),
            court.apart(at, Scheme::Static8, court.geneva, Wanted::Within(0.0, 0.06)),
        ]
    };
    blocks(10).flat_map(of).collect()
}

pub(super) fn dp_fec_10(court: &Court<'_>) -> Vec<Part> {
    let of = |at| {
        [
            court.apart(at, court.geneva, Scheme::DpFec, Wanted::Above(0.4)),
            court.smaller(at, "residual loss", RESIDUAL, court.geneva, Scheme::DpFec),
        ]
    };
    blocks(10).flat_map(of).collect()
}

pub(super) fn slightly_better_100(court: &Court<'_>) -> Vec<Part> {
    let of = |at| {
        [
            court.smaller(at, "bursty events", BURSTS, court.geneva, Scheme::Static8),
            court.smaller(at, "residual loss", RESIDUAL, court.geneva, Scheme::Static8),
            court.smaller(at, "residual loss", RESIDUAL, court.geneva, Scheme::Static12),
            court.apart(at, court.geneva, Scheme::Static8, Wanted::Within(-0.03, 0.03)),
            court.apart(at, court.geneva, Scheme::Static12, Wanted::Above(0.0)),
        ]
    };
    blocks(100).flat_map(of).collect()
}

pub(super) fn dp_fec_100(court: &Court<'_>) -> Vec<Part> {
    let of = |at| {
        [
            court.smaller(at, "residual loss", RESIDUAL, Scheme::DpFec, court.geneva),
            court.apart(at, court.geneva, Scheme::DpFec, Wanted::Above(0.45)),
        ]
    };
    blocks(100).flat_map(of).collect()
}

/// Mean windows; W_tot as a share of what Eq. (1) makes of the mean Fwnd at RTTmin must lie between 1 and what the
/// longest queue adds.
pub(super) fn windows(court: &Court<'_>) -> Vec<Part> {
    let of = |at: Condition| {
        let rtt = f64::from(at.rtt_ms());
        // No window is under 8 packets, so that at 100 ms only the upper bound is a question.
        let wanted = if at.rtt_ms() == 10 { Wanted::Within(9.0, 12.0) } else { Wanted::Below(8.6) };
        let fwnd = court.streams(at, court.geneva, FWND);
        let w_tot = court.streams(at, court.geneva, |stream| stream.w_tot);
        let queue = court.results.view().queue_packets(at.rtt_ms()) * 0.012;
        let share = w_tot.iter().zip(&fwnd).map(|(w, fwnd)| w / ((fwnd + 25.0) * (rtt + 10.0) / 10.0)).collect();
        [
            Part::new(format!("{at}: mean Fwnd"), fwnd, wanted),
            Part::new(
                format!("{at}: mean W_tot / Eq. (1) at RTTmin"),
                share,
                Wanted::Within(1.0, (rtt + queue + 10.0) / (rtt + 10.0)),
            ),
        ]
    };
    Plan::short().into_iter().flat_map(of).collect()
}

pub(super) fn paced_flows_lose_less(court: &Court<'_>) -> Vec<Part> {
    let part = |at: Condition| {
        let share =
            court.values(at, court.geneva, |record| record.mean(|stream| stream.packet_loss) / record.link_loss);
        Part::new(format!("{at}: loss of the streams / of the link"), share, Wanted::Within(0.1, 0.6))
    };
    Plan::short().into_iter().map(part).collect()
}
