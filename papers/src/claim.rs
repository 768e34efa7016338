//! Claims of papers, and the findings about them.
//!
//! A claim consists of parts. It holds if all of them hold, and is contradicted if one is.

use thalweg_lab::statistics::Verdict;

use crate::jobs::Jobs;
use crate::part::Part;
use crate::results::Results;

/// A statement of a paper, or one that follows from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Statement {
    /// A permanent identifier.
    pub id: &'static str,
    /// The strength of the expectation that it holds.
    pub gate: Gate,
    /// The place in the paper.
    pub source: &'static str,
    /// The text of the statement.
    pub text: &'static str,
}

/// A statement, and the function that judges it.
#[derive(Clone, Debug)]
pub struct Claim<P: Jobs, R> {
    /// A permanent identifier.
    pub id: &'static str,
    /// The strength of the expectation that it holds.
    pub gate: Gate,
    /// The place in the paper.
    pub source: &'static str,
    /// The text of the statement.
    pub text: &'static str,
    /// The judge, which makes the parts of the finding.
    pub(crate) judge: fn(&Evaluator<'_, P, R>) -> Vec<Part>,
}

/// The results and the reading by which claims are judged.
#[derive(Clone, Copy, Debug)]
pub struct Evaluator<'a, P: Jobs, R> {
    pub(crate) results: &'a Results<P>,
    pub(crate) reading: R,
}

/// The strength of the expectation that a claim holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gate {
    /// Arithmetic: it must hold.
    Exact,
    /// It should be reproduced.
    Hard,
    /// The paper says so, but the outcome depends on choices that it does not publish.
    Soft,
}

impl Gate {
    /// The name in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Gate::Exact => "exact",
            Gate::Hard => "hard",
            Gate::Soft => "soft",
        }
    }
}

/// The finding about a claim.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The claim.
    pub claim: Statement,
    /// The parts of the claim.
    pub parts: Vec<Part>,
    /// The reason that the claim does not count if it holds, if there is one.
    pub qualification: Option<Qualification>,
}

/// A reason that a claim that holds proves nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Qualification {
    /// The case that the claim is about never occurred.
    Vacuous,
    /// The claim is about something that was replaced by a stand-in.
    StandIn,
}

impl Finding {
    /// The verdict: holds if every part does, contradicted if one part is.
    pub fn verdict(&self) -> Verdict {
        let first = if self.parts.is_empty() { Verdict::Undecided } else { Verdict::Holds };
        self.parts.iter().map(Part::verdict).fold(first, Verdict::and)
    }

    /// The verdict; none if the claim holds and does not count.
    pub fn counted(&self) -> Option<Verdict> {
        let verdict = self.verdict();
        (self.qualification.is_none() || verdict != Verdict::Holds).then_some(verdict)
    }

    /// The verdict's name in reports.
    pub fn word(&self) -> &'static str {
        match (self.verdict(), self.qualification) {
            (Verdict::Holds, Some(Qualification::Vacuous)) => "holds, vacuous",
            (Verdict::Holds, Some(Qualification::StandIn)) => "holds, by a stand-in",
            (verdict, _) => verdict.word(),
        }
    }
}

/// The differences, seed by seed.
pub(crate) fn difference(first: &[f64], second: &[f64]) -> Vec<f64> {
    first.iter().zip(second).map(|(first, second)| first - second).collect()
}

#[cfg(test)]
mod tests {
    use crate::{fec_arq, gca, geneva, r3cp, tcp_stream};

    #[test]
    fn claims_have_names_of_their_own() {
        let mut names: Vec<&str> = fec_arq::claims::CLAIMS.iter().map(|claim| claim.id).collect();
        names.extend(gca::claims::CLAIMS.iter().map(|claim| claim.id));
        names.extend(geneva::claims::CLAIMS.iter().map(|claim| claim.id));
        names.extend(r3cp::claims::CLAIMS.iter().map(|claim| claim.id));
        names.extend(tcp_stream::claims::CLAIMS.iter().map(|claim| claim.id));
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
