//! What this machine offers a stream, measured where it can be, and how to get more.

mod films;
mod machine;
mod sockets;
mod time;

/// Whether something is as a stream wants it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grade {
    /// As it should be.
    Good,
    /// Thalweg works, but less well than it could.
    Poor,
    /// Not to be found out here.
    Unknown,
}

/// One thing that was looked at.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// Its name, words joined by `_`.
    pub name: &'static str,
    /// How it is.
    pub grade: Grade,
    /// What was found, for people.
    pub found: String,
    /// What was found, for programs; the unit is the last word of a name.
    pub measures: Vec<(&'static str, f64)>,
    /// What that means for a stream.
    pub meaning: String,
    /// The commands that change it, if it is poor and there are any.
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

/// Looks at everything; takes less than two seconds.
pub fn examine() -> Vec<Finding> {
    let mut findings = vec![machine::kernel(), machine::processors()];
    findings.extend(sockets::offloads());
    findings.extend(sockets::buffers());
    findings.push(time::wake_ups());
    findings.push(time::clock());
    findings.push(machine::repair());
    findings.push(sockets::ipv6());
    findings.push(sockets::multicast());
    findings.push(films::law());
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_says_what_it_means_and_only_poor_ones_want_a_change() {
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
