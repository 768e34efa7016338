//! What was given up because nothing was heard, where it may be the acknowledgement alone that was lost.

use std::collections::BTreeSet;

/// Packets over which it is forgotten how many of them came.
const MEMORY: f64 = 64.0;

/// Originals that a timer gave up though no later packet has come, and how often such a packet had come after all.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Unheard {
    originals: BTreeSet<u64>,
    given_up: f64,
    came: f64,
}

impl Unheard {
    /// The timer gave a packet up: `original`, or a combination.
    pub(super) fn give_up(&mut self, original: Option<u64>) {
        let keep = 1.0 - 1.0 / MEMORY;
        (self.given_up, self.came) = (self.given_up * keep + 1.0, self.came * keep);
        self.originals.extend(original);
    }

    /// One of them had come.
    pub(super) fn came(&mut self) {
        self.came = (self.came + 1.0).min(self.given_up);
    }

    /// A later packet has come and this has not, `original` or a combination: it is lost.
    pub(super) fn is_lost(&mut self, original: Option<u64>) {
        if let Some(original) = original {
            self.originals.remove(&original);
        }
    }

    /// All before `edge` has come.
    pub(super) fn forget(&mut self, edge: u64) {
        while self.originals.first().is_some_and(|first| *first < edge) {
            self.originals.pop_first();
        }
    }

    /// The probability that `original` has come, where `eps` of the packets are lost. Before there was any such packet the way
    /// back is taken for one like the way there: news is told twice, and both are lost as often as eps² / (eps² + eps).
    pub(super) fn p_came(&self, original: u64, eps: f64) -> f64 {
        if !self.originals.contains(&original) {
            return 0.0;
        }
        let guess = eps / (1.0 + eps);
        (self.came + guess) / (self.given_up + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_that_came_is_learned_and_forgotten() {
        let mut unheard = Unheard::default();
        assert_eq!(unheard.p_came(7, 0.25), 0.0);
        unheard.give_up(Some(7));
        // One guess of a fifth, and one that has not come.
        assert!((unheard.p_came(7, 0.25) - 0.1).abs() < 1e-12);
        for nth in 0..1000 {
            unheard.give_up(None);
            if nth % 2 == 0 {
                unheard.came();
            }
        }
        // The newest counts for one in sixty-four.
        assert!((unheard.p_came(7, 0.01) - 0.5).abs() < 0.02, "{}", unheard.p_came(7, 0.01));
        (0..1000).for_each(|_| unheard.give_up(None));
        assert!(unheard.p_came(7, 0.01) < 0.01);
        unheard.is_lost(Some(7));
        assert_eq!(unheard.p_came(7, 0.01), 0.0);
        unheard.give_up(Some(8));
        unheard.forget(9);
        assert_eq!(unheard.p_came(8, 0.01), 0.0);
    }
}
