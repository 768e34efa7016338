use thalweg_lab::statistics::Verdict;

use super::*;
use crate::evaluation::judge;
use crate::fec_arq::{Results, Variant};

/// Without any runs, arithmetic holds, and claims about runs are undecided.
#[test]
fn without_runs_arithmetic_holds_and_the_rest_is_open() {
    let results = Results::new(Plan::quick(Vec::new()));
    for variant in Variant::SHOWN {
        for finding in judge(&results, variant) {
            let expected = match finding.claim.gate {
                Gate::Exact => Verdict::Holds,
                // The estimate needs no run.
                _ if finding.claim.id == "F-3" => Verdict::Holds,
                Gate::Hard | Gate::Soft => Verdict::Undecided,
            };
            assert_eq!(finding.verdict(), expected, "{}", finding.claim.id);
        }
    }
}
