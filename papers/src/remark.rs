//! Remarks that apply to several claims: the reason that they do not hold, their bounds, or their topic.

/// A remark about claims.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Remark {
    /// The identifiers of the claims.
    pub claims: &'static [&'static str],
    /// The text of the remark.
    pub text: &'static str,
}

/// The remark among `remarks` that is about a claim, if one is.
pub fn of<'a>(remarks: &'a [Remark], claim: &str) -> Option<&'a Remark> {
    remarks.iter().find(|remark| remark.claims.contains(&claim))
}

#[cfg(test)]
mod tests {
    use crate::{gca, geneva, r3cp, tcp_stream};

    #[test]
    fn causes_name_claims_and_each_claim_once() {
        let geneva: Vec<&str> = geneva::claims::CLAIMS.iter().map(|claim| claim.id).collect();
        let gca: Vec<&str> = gca::claims::CLAIMS.iter().map(|claim| claim.id).collect();
        let tcp_stream: Vec<&str> = tcp_stream::claims::CLAIMS.iter().map(|claim| claim.id).collect();
        let r3cp: Vec<&str> = r3cp::claims::CLAIMS.iter().map(|claim| claim.id).collect();
        let of_geneva = [geneva::causes::CAUSES, geneva::causes::UNEXPLAINED].concat();
        let all = [
            (gca, gca::causes::CAUSES.to_vec()),
            (geneva, of_geneva),
            (tcp_stream, tcp_stream::causes::CAUSES.to_vec()),
            (r3cp, r3cp::causes::CAUSES.to_vec()),
        ];
        for (claims, causes) in all {
            let named: Vec<&str> = causes.iter().flat_map(|cause| cause.claims).copied().collect();
            for (nth, name) in named.iter().enumerate() {
                assert!(claims.contains(name), "{name} is no claim");
                assert!(!named[..nth].contains(name), "{name} has two causes");
            }
        }
    }
}
