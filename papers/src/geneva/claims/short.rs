//! Claims about Table 1: ten streams beside short-lived TCP.

use super::{BURSTS, Evaluator, FWND, Part, RESIDUAL, Wanted};
use crate::geneva::condition::{Condition, Scheme};
use crate::geneva::plan::Plan;

fn blocks(rtt_ms: u32) -> impl Iterator<Item = Condition> {
    Plan::short().into_iter().filter(move |at| at.rtt_ms() == rtt_ms)
}

pub(super) fn fewer_bursts_10(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let than = |at, other| evaluator.smaller(at, "bursty events", BURSTS, evaluator.geneva(), other);
    blocks(10).flat_map(|at| [than(at, Scheme::Static8), than(at, Scheme::Static12)]).collect()
}

pub(super) fn less_residual_10(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let than = |at, other| evaluator.smaller(at, "residual loss", RESIDUAL, evaluator.geneva(), other);
    blocks(10).flat_map(|at| [than(at, Scheme::Static8), than(at, Scheme::Static12)]).collect()
}

pub(super) fn order_10(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let of = |at| {
        [
            evaluator.apart(at, evaluator.geneva(), Scheme::Static12, Wanted::Above(0.0)),
            evaluator.apart(at, Scheme::Static8, evaluator.geneva(), Wanted::Within(0.0, 0.06)),
        ]
    };
    blocks(10).flat_map(of).collect()
}

pub(super) fn dp_fec_10(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let of = |at| {
        [
            evaluator.apart(at, evaluator.geneva(), Scheme::DpFec, Wanted::Above(0.4)),
            evaluator.smaller(at, "residual loss", RESIDUAL, evaluator.geneva(), Scheme::DpFec),
        ]
    };
    blocks(10).flat_map(of).collect()
}

pub(super) fn slightly_better_100(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let of = |at| {
        [
            evaluator.smaller(at, "bursty events", BURSTS, evaluator.geneva(), Scheme::Static8),
            evaluator.smaller(at, "residual loss", RESIDUAL, evaluator.geneva(), Scheme::Static8),
            evaluator.smaller(at, "residual loss", RESIDUAL, evaluator.geneva(), Scheme::Static12),
            evaluator.apart(at, evaluator.geneva(), Scheme::Static8, Wanted::Within(-0.03, 0.03)),
            evaluator.apart(at, evaluator.geneva(), Scheme::Static12, Wanted::Above(0.0)),
        ]
    };
    blocks(100).flat_map(of).collect()
}

pub(super) fn dp_fec_100(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let of = |at| {
        [
            evaluator.smaller(at, "residual loss", RESIDUAL, Scheme::DpFec, evaluator.geneva()),
            evaluator.apart(at, evaluator.geneva(), Scheme::DpFec, Wanted::Above(0.45)),
        ]
    };
    blocks(100).flat_map(of).collect()
}

/// Checks mean windows. The ratio of W_tot to Eq. (1) for the mean Fwnd at RTTmin must lie between 1 and the ratio with
/// a full queue.
pub(super) fn windows(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let of = |at: Condition| {
        let rtt = f64::from(at.rtt_ms());
        // No window is below 8 packets, so at 100 ms only the upper bound is tested.
        let wanted = if at.rtt_ms() == 10 { Wanted::Within(9.0, 12.0) } else { Wanted::Below(8.6) };
        let fwnd = evaluator.streams(at, evaluator.geneva(), FWND);
        let w_tot = evaluator.streams(at, evaluator.geneva(), |stream| stream.w_tot);
        let queue = evaluator.results.view().queue_packets(at.rtt_ms()) * 0.012;
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

pub(super) fn paced_flows_lose_less(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let part = |at: Condition| {
        let share = evaluator
            .values(at, evaluator.geneva(), |record| record.mean(|stream| stream.packet_loss) / record.link_loss);
        Part::new(format!("{at}: loss of the streams / of the link"), share, Wanted::Within(0.1, 0.6))
    };
    Plan::short().into_iter().map(part).collect()
}
