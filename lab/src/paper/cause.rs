//! Why some claims do not hold: what was measured beside an evaluation itself.

/// What keeps claims from holding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cause {
    /// The names of the claims that it bears on.
    pub claims: &'static [&'static str],
    /// What was measured.
    pub text: &'static str,
}

/// The cause among `causes` that bears on a claim, if one is known.
pub fn of<'a>(causes: &'a [Cause], claim: &str) -> Option<&'a Cause> {
    causes.iter().find(|cause| cause.claims.contains(&claim))
}

#[cfg(test)]
mod tests {
    use crate::paper::{geneva, tcp_stream};

    #[test]
    fn causes_name_claims_and_each_claim_once() {
        let geneva: Vec<&str> = geneva::claims::CLAIMS.iter().map(|claim| claim.id).collect();
        let tcp_stream: Vec<&str> = tcp_stream::claims::CLAIMS.iter().map(|claim| claim.id).collect();
        for (claims, causes) in [(geneva, geneva::causes::CAUSES), (tcp_stream, tcp_stream::causes::CAUSES)] {
            let named: Vec<&str> = causes.iter().flat_map(|cause| cause.claims).copied().collect();
            for (nth, name) in named.iter().enumerate() {
                assert!(claims.contains(name), "{name} is no claim");
                assert!(!named[..nth].contains(name), "{name} has two causes");
            }
        }
    }
}
