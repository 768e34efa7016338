//! What papers claim, and what became of it.
//!
//! A claim is made of parts; it holds if all of them do, and is contradicted if one is.

use super::part::Part;
use crate::statistics::Verdict;

/// Something that a paper says, or that follows from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Statement {
    /// A name that stays.
    pub id: &'static str,
    /// How strongly it should be held.
    pub gate: Gate,
    /// Where the paper says it.
    pub source: &'static str,
    /// What it says.
    pub text: &'static str,
}

/// A statement, and what judges it.
#[derive(Clone, Copy, Debug)]
pub struct Claim<J> {
    /// A name that stays.
    pub id: &'static str,
    /// How strongly it should be held.
    pub gate: Gate,
    /// Where the paper says it.
    pub source: &'static str,
    /// What it says.
    pub text: &'static str,
    /// Makes the parts of the finding.
    pub(super) judge: J,
}

impl<J: Copy> Claim<J> {
    /// What became of it, judged by `by`.
    pub(super) fn finding(&self, by: impl FnOnce(J) -> Vec<Part>) -> Finding {
        let Claim { id, gate, source, text, judge } = *self;
        Finding { claim: Statement { id, gate, source, text }, parts: by(judge), aside: None }
    }
}

/// How strongly a claim is to be held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gate {
    /// Arithmetic: it must hold.
    Exact,
    /// It should be reproduced.
    Hard,
    /// The paper says so, and the outcome depends on choices that it does not publish.
    Soft,
}

impl Gate {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Gate::Exact => "exact",
            Gate::Hard => "hard",
            Gate::Soft => "soft",
        }
    }
}

/// What became of a claim.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The claim.
    pub claim: Statement,
    /// What it is made of.
    pub parts: Vec<Part>,
    /// Why it does not count where it holds, if it does not.
    pub aside: Option<Aside>,
}

/// Why a claim that holds proves nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aside {
    /// The case that it speaks of never happened.
    Vacuous,
    /// It speaks of something that a stand-in was run for.
    StandIn,
}

impl Finding {
    /// Holds if every part does, contradicted if one part is.
    pub fn verdict(&self) -> Verdict {
        let first = if self.parts.is_empty() { Verdict::Undecided } else { Verdict::Holds };
        self.parts.iter().map(Part::verdict).fold(first, Verdict::and)
    }

    /// The verdict; none where the claim holds and that does not count.
    pub fn counted(&self) -> Option<Verdict> {
        let verdict = self.verdict();
        (self.aside.is_none() || verdict != Verdict::Holds).then_some(verdict)
    }

    /// The word for it.
    pub fn word(&self) -> &'static str {
        match (self.verdict(), self.aside) {
            (Verdict::Holds, Some(Aside::Vacuous)) => "holds, vacuous",
            (Verdict::Holds, Some(Aside::StandIn)) => "holds, by a stand-in",
            (verdict, _) => verdict.word(),
        }
    }
}

/// Seed by seed.
pub(super) fn difference(first: &[f64], second: &[f64]) -> Vec<f64> {
    first.iter().zip(second).map(|(first, second)| first - second).collect()
}

#[cfg(test)]
mod tests {
    use crate::paper::{fec_arq, geneva, tcp_stream};

    #[test]
    fn claims_have_names_of_their_own() {
        let mut names: Vec<&str> = fec_arq::claims::CLAIMS.iter().map(|claim| claim.id).collect();
        names.extend(geneva::claims::CLAIMS.iter().map(|claim| claim.id));
        names.extend(tcp_stream::claims::CLAIMS.iter().map(|claim| claim.id));
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
