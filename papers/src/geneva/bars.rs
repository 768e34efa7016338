//! The bounds of each claim, and whether the paper or the project set them.

use crate::remark::Remark;

/// All bounds, with one remark for each claim.
pub const BARS: &[Remark] = &[
    Remark {
        claims: &["G-M1", "G-M2", "G-M3", "G-M4", "G-M5", "G-M6"],
        text: "the number itself, but for rounding in the seventh digit: the paper's, G-M5 by the closed form",
    },
    Remark {
        claims: &["G-2a"],
        text: "below 29.7 Mb/s, ours: one per cent under the media rate, for a rate that is capped at 30 ends a little under it \
               without any congestion",
    },
    Remark {
        claims: &["G-2b"],
        text: "the paper's word, falls: 10 ms above 200 ms, and a slope below zero over the steps between",
    },
    Remark { claims: &["G-2c"], text: "above 0.1 %: the paper's" },
    Remark { claims: &["G-2d"], text: "above 0.9 of TCP's rate beside TFRC, ours: the paper says no negative impact" },
    Remark {
        claims: &["G-8b1", "G-9b1"],
        text: "the order at the two largest N, and a slope above zero of the gap over all N: the paper's words",
    },
    Remark {
        claims: &["G-8a1", "G-9a1", "G-8b2", "G-9b2"],
        text: "the order at the two largest N: the paper's words, the choice of N ours",
    },
    Remark { claims: &["G-8a2", "G-9a2"], text: "the order at the N that the paper names" },
    Remark {
        claims: &["G-8d1", "G-9d1"],
        text: "0.05 apart, and 0.58 to 0.70: ours, around the .65 of the paper's figure, whose points are not printed",
    },
    Remark { claims: &["G-8d2", "G-9d2"], text: "the order at every N: the paper's" },
    Remark { claims: &["G-8c1", "G-9c1"], text: "twice at every N, ours: the paper says well above" },
    Remark {
        claims: &["G-8c2"],
        text: "a slope above zero: the paper's; 8.3 to 11 at N = 250: ours, around the paper's 9.2, which has no spread",
    },
    Remark {
        claims: &["G-9c2"],
        text: "at most 9, ours, around the paper's 8.2 to 8.4, for no window is under 8; a smaller range over N than at 10 ms: \
               the paper's",
    },
    Remark {
        claims: &["G-10"],
        text: "every selected flow leaves 8 packets, and stands there for a while in both halves of the run: the paper's \
               words; link loss within 20 % from half to half: ours",
    },
    Remark {
        claims: &["G-T1a", "G-T1b"],
        text: "the order in both blocks: the paper's table; its ratios of .54, .56 (bursts) and .38, .45 (residual loss) are \
               no bar, for a table of one run has no spread: they are compared in Table 1",
    },
    Remark {
        claims: &["G-T1c"],
        text: "the order, and at most .06: the paper's table (.04 in both blocks), the .06 ours",
    },
    Remark { claims: &["G-T1d"], text: "at least .4 (the table has .47 and .43) and the order: the paper's text" },
    Remark { claims: &["G-T1e"], text: "the orders: the paper's table; .03: ours, where the table has .01 and .00" },
    Remark {
        claims: &["G-T1f"],
        text: "at least .45, ours: the text says .49, the table has .55 and .49; the order: the paper's",
    },
    Remark {
        claims: &["G-T1g"],
        text: "9 to 12, and at most 8.6: ours, around the table's 10.19 and 9.88, 8.19 and 8.14; W_tot between Eq. (1) at \
               RTTmin and with a full queue: the paper's equation and queue",
    },
    Remark { claims: &["G-T1h"], text: "0.1 to 0.6, ours: the table's ratios are .17 to .30" },
    Remark { claims: &["G-T2a"], text: "the order in the totals: the paper's table" },
    Remark {
        claims: &["G-T2b"],
        text: "0.05 apart, and 0.55 to 0.70: ours, where the table has .62, .63 and .60; at least .1: ours, the table has .13",
    },
    Remark {
        claims: &["G-T2c"],
        text: "below 0.0001, ours: the table has 0; less than half the bursts of the slow flows, ours: the paper says far fewer",
    },
    Remark { claims: &["G-T2d"], text: "0.03 to 0.3 %, ours: a third to three times the paper's 0.1 %" },
    Remark { claims: &["G-12"], text: "the order of the widest windows: the paper's figure" },
    Remark { claims: &["G-A2"], text: "5 % of the time, ours: the paper's traces never show 60" },
    Remark {
        claims: &["G-A1"],
        text: "within 0.05 of the formula, and within the ranges that it gives for the paper's windows: ours, no words of the \
               paper",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geneva::claims::CLAIMS;

    #[test]
    fn every_claim_has_one_bar() {
        for claim in CLAIMS {
            let bars = BARS.iter().filter(|bar| bar.claims.contains(&claim.id)).count();
            assert_eq!(bars, 1, "{}", claim.id);
        }
        let named = BARS.iter().map(|bar| bar.claims.len()).sum::<usize>();
        assert_eq!(named, CLAIMS.len(), "a bar names what is no claim");
    }
}
