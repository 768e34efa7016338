//! Diagnosis of this machine for streaming: findings, measured where possible, and commands that correct poor ones.

mod machine;
mod sockets;
mod tcp_stream;
mod time;

/// The grade of a finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grade {
    /// A good state: nothing to correct.
    Good,
    /// A state in which Thalweg works, but less well than it could.
    Poor,
    /// A state that cannot be determined here.
    Unknown,
}

/// The result of one check.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// The name of the check, words joined by `_`.
    pub name: &'static str,
    /// The grade.
    pub grade: Grade,
    /// The finding, for people.
    pub found: String,
    /// The measured values, for programs; the unit is the last word of a name.
    pub measures: Vec<(&'static str, f64)>,
    /// The consequence for a stream.
    pub meaning: String,
    /// The commands that correct a poor finding, if there are any.
    pub fix: Vec<String>,
}

impl Finding {
    fn good(name: &'static str, found: impl Into<String>, meaning: impl Into<String>) -> Finding {
        let (found, meaning) = (found.into(), meaning.into());
        Finding { name, grade: Grade::Good, found, measures: Vec::new(), meaning, fix: Vec::new() }
    }

    fn poor(name: &'static str, found: impl Into<String>, meaning: impl Into<String>) -> Finding {
        Finding { grade: Grade::Poor, ..Finding::good(name, found, meaning) }
    }

    fn unknown(name: &'static str, found: impl Into<String>) -> Finding {
        Finding { grade: Grade::Unknown, ..Finding::good(name, found, "") }
    }

    fn measure(mut self, name: &'static str, value: f64) -> Finding {
        self.measures.push((name, value));
        self
    }

    fn fix(mut self, command: impl Into<String>) -> Finding {
        self.fix.push(command.into());
        self
    }
}

/// Runs all checks; takes less than two seconds.
pub fn examine() -> Vec<Finding> {
    let mut findings = vec![machine::kernel(), machine::processors()];
    findings.extend(sockets::offloads());
    findings.extend(sockets::buffers());
    findings.push(time::wake_ups());
    findings.push(time::clock());
    findings.push(machine::repair());
    findings.push(sockets::ipv6());
    findings.push(sockets::multicast());
    findings.push(tcp_stream::law());
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_have_a_meaning_and_only_poor_ones_a_fix() {
        let findings = examine();
        assert!(findings.len() >= 10);
        for finding in findings {
            assert!(!finding.found.is_empty(), "{finding:?}");
            assert!(finding.grade == Grade::Unknown || !finding.meaning.is_empty(), "{finding:?}");
            assert!(finding.grade == Grade::Poor || finding.fix.is_empty(), "{finding:?}");
            assert!(finding.measures.iter().all(|(_, value)| value.is_finite()), "{finding:?}");
        }
    }
}
