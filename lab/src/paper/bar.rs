//! What claims are measured against, and who says so: a paper's words seldom are a number.

/// Where the bar of some claims lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bar {
    /// The names of the claims that it judges.
    pub claims: &'static [&'static str],
    /// The bar, and whose it is.
    pub text: &'static str,
}

/// The bar among `bars` that judges a claim.
pub fn of<'a>(bars: &'a [Bar], claim: &str) -> Option<&'a Bar> {
    bars.iter().find(|bar| bar.claims.contains(&claim))
}
