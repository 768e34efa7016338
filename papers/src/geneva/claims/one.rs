//! Claims about Fig. 2: one stream beside short-lived TCP.

use super::{Evaluator, Part, Wanted, difference, slopes};
use crate::geneva::condition::{Condition, Scheme};
use crate::geneva::plan::FIG2_RTTS;

fn at(rtts: impl IntoIterator<Item = u32>) -> impl Iterator<Item = Condition> {
    rtts.into_iter().map(|rtt_ms| Condition::OneStream { rtt_ms })
}

impl Evaluator<'_> {
    fn tfrc_goodput(&self, at: Condition) -> Vec<f64> {
        self.streams(at, Scheme::Tfrc, |stream| stream.goodput_mbps)
    }
}

/// A rate one percent below the media rate counts as not reaching it.
pub(super) fn tfrc_stays_below(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let part = |at| Part::new(format!("{at}: TFRC, Mb/s"), evaluator.tfrc_goodput(at), Wanted::Below(29.7));
    at(FIG2_RTTS).map(part).collect()
}

pub(super) fn tfrc_falls(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let values: Vec<_> = at([10, 20, 50, 100, 200]).map(|at| evaluator.tfrc_goodput(at)).collect();
    let ends = difference(&values[0], &values[4]);
    let slope = slopes(&[1.0, 2.0, 3.0, 4.0, 5.0], &values);
    vec![
        Part::new("TFRC at 10 ms - at 200 ms, Mb/s", ends, Wanted::Above(0.0)),
        Part::new("slope over 10, 20, 50, 100, 200 ms, Mb/s a step", slope, Wanted::Below(0.0)),
    ]
}

pub(super) fn tfrc_loses(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let loss = |at| evaluator.streams(at, Scheme::Tfrc, |stream| stream.residual_loss);
    at([50, 100, 200]).map(|at| Part::new(format!("{at}: loss of TFRC"), loss(at), Wanted::Above(0.001))).collect()
}

pub(super) fn udp_does_no_harm(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let beside = |at, scheme| evaluator.values(at, scheme, |record| record.tcp_mbps);
    let part = |at| {
        let (udp, tfrc) = (beside(at, Scheme::Udp), beside(at, Scheme::Tfrc));
        let share = udp.iter().zip(tfrc).map(|(udp, tfrc)| udp / tfrc).collect();
        Part::new(format!("{at}: TCP beside UDP / beside TFRC"), share, Wanted::Above(0.9))
    };
    at([50, 100, 200]).map(part).collect()
}
