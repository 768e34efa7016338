//! Short descriptions of what the claims are about, except arithmetic.

use crate::remark::Remark;

/// All topics in the order of the paper, with one topic for each claim.
pub const TOPICS: &[Remark] = &[
    Remark { text: "TFRC's loss and fall beside short TCP (Fig. 2a, b)", claims: &["G-2a", "G-2b", "G-2c"] },
    Remark { text: "UDP's harmlessness to TCP on long paths (Fig. 2c)", claims: &["G-2d"] },
    Remark {
        text: "GENEVA's advantage over static repair in bursts and residual loss (Figs. 8, 9a, b; Tables 1, 2)",
        claims: &["G-8b1", "G-8a1", "G-9b1", "G-9a1", "G-T1a", "G-T1b", "G-T2a"],
    },
    Remark {
        text: "The order of static 8, static 12 and DP-FEC in losses (Figs. 8, 9a, b)",
        claims: &["G-8b2", "G-8a2", "G-9b2", "G-9a2"],
    },
    Remark {
        text: "TPindex beside long-lived TCP (Figs. 8d, 9d; Table 2)",
        claims: &["G-8d1", "G-8d2", "G-9d1", "G-9d2", "G-T2b", "G-A1"],
    },
    Remark { text: "Mean windows (Figs. 8c, 9c; Table 1)", claims: &["G-8c1", "G-8c2", "G-9c1", "G-9c2", "G-T1g"] },
    Remark {
        text: "TPindex and the rest beside short-lived TCP (Table 1)",
        claims: &["G-T1c", "G-T1d", "G-T1e", "G-T1f", "G-T1h"],
    },
    Remark { text: "Stability over time and without lock-in (Figs. 10, 12)", claims: &["G-10", "G-12", "G-A2"] },
    Remark { text: "Few losses in streams of several rates (Table 2)", claims: &["G-T2c", "G-T2d"] },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Gate;
    use crate::geneva::claims::CLAIMS;

    #[test]
    fn every_claim_but_arithmetic_has_one_topic() {
        for claim in CLAIMS {
            let topics = TOPICS.iter().filter(|topic| topic.claims.contains(&claim.id)).count();
            assert_eq!(topics, usize::from(claim.gate != Gate::Exact), "{}", claim.id);
        }
        let measured = CLAIMS.iter().filter(|claim| claim.gate != Gate::Exact).count();
        assert_eq!(TOPICS.iter().map(|topic| topic.claims.len()).sum::<usize>(), measured, "no claim is named");
    }
}
