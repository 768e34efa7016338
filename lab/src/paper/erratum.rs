//! What a paper prints and cannot mean.

/// An error of the paper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Erratum {
    /// Where it stands.
    pub at: &'static str,
    /// What is printed.
    pub printed: &'static str,
    /// What it should be, and how sure that is.
    pub correct: &'static str,
}

pub(super) const fn erratum(at: &'static str, printed: &'static str, correct: &'static str) -> Erratum {
    Erratum { at, printed, correct }
}
