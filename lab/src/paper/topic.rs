//! What several claims are about together, for those who read in a hurry.

/// Claims that say one thing in several places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Topic {
    /// What they are about, and where the paper has it.
    pub about: &'static str,
    /// Their names.
    pub claims: &'static [&'static str],
}
