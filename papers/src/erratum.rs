//! Errors in a paper's text.

/// An error in the paper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Erratum {
    /// The place in the paper.
    pub at: &'static str,
    /// The printed text.
    pub printed: &'static str,
    /// The correction, and its certainty.
    pub correct: &'static str,
}

pub(super) const fn erratum(at: &'static str, printed: &'static str, correct: &'static str) -> Erratum {
    Erratum { at, printed, correct }
}
