//! Proportional rate reduction: the number of segments that each acknowledgement in recovery releases (M. Mathis, N.
//! Cardwell, Y. Cheng, N. Dukkipati: *Proportional Rate Reduction*, RFC 9937, which replaces RFC 6937).
//!
//! | RFC 9937 | here |
//! |---|---|
//! | ssthresh, RecoverFS | `ssthresh`, `recover_fs` |
//! | prr_delivered, prr_out | `delivered`, `out` |
//! | SndCnt | `allowance` |
//! | cwnd = inflight + SndCnt | none: the allowance is counted down instead |

/// The state of one recovery, in segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Prr {
    ssthresh: u32,
    recover_fs: u32,
    delivered: u32,
    out: u32,
    allowance: u32,
}

impl Prr {
    pub(crate) fn new(ssthresh: u32, recover_fs: u32) -> Prr {
        Prr { ssthresh, recover_fs: recover_fs.max(1), ..Prr::default() }
    }

    /// Handles an acknowledgement that delivered `delivered` segments and left `pipe` on the path.
    ///
    /// `more` segments may leave below the threshold beyond those that recovery has delivered: one segment after an
    /// acknowledgement that moved HighACK and indicated no further loss (SafeACK). If none, no more may leave than this
    /// acknowledgement delivered.
    pub(crate) fn on_ack(&mut self, delivered: u32, pipe: u32, more: Option<u32>) {
        if delivered == 0 {
            return;
        }
        self.delivered += delivered;
        self.allowance = if pipe > self.ssthresh {
            let share = u64::from(self.delivered) * u64::from(self.ssthresh);
            (share.div_ceil(u64::from(self.recover_fs)) as u32).saturating_sub(self.out)
        } else {
            let conserved = self.delivered.saturating_sub(self.out).max(delivered);
            more.map_or(delivered, |more| conserved + more).min(self.ssthresh - pipe)
        };
        if self.out == 0 {
            // Recovery begins with a fast retransmit.
            self.allowance = self.allowance.max(1);
        }
    }

    pub(crate) fn on_sent(&mut self) {
        self.out += 1;
        self.allowance = self.allowance.saturating_sub(1);
    }

    pub(crate) fn allowance(&self) -> u32 {
        self.allowance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a recovery in which every acknowledgement SACKs one more segment; returns the acknowledgements after which
    /// a segment was sent, and the final pipe.
    fn sent_after(mut prr: Prr, mut pipe: u32, acks: u32) -> (Vec<u32>, u32) {
        let mut sent = Vec::new();
        for ack in 1..=acks {
            pipe -= 1;
            prr.on_ack(1, pipe, Some(0));
            while prr.allowance() > 0 {
                prr.on_sent();
                pipe += 1;
                sent.push(ack);
            }
        }
        (sent, pipe)
    }

    #[test]
    fn one_loss_sends_for_every_other_acknowledgement_and_ends_at_the_threshold() {
        // A window of 20 with its first segment lost and Reno's half as its target: 19 are acknowledged one by one.
        let (sent, pipe) = sent_after(Prr::new(10, 20), 19, 19);
        assert_eq!(sent[..8], [1, 3, 5, 7, 9, 11, 13, 15]);
        assert_eq!((sent.len(), pipe), (10, 10));
    }

    #[test]
    fn after_heavy_loss_it_conserves_packets_and_grows_by_one_when_that_is_safe() {
        // 16 of 20 are lost: four on the path, below the threshold of ten.
        let (sent, pipe) = sent_after(Prr::new(10, 20), 4, 4);
        assert_eq!((sent, pipe), (vec![1, 2, 3, 4], 4));
        let mut prr = Prr::new(10, 20);
        prr.on_ack(1, 4, Some(1));
        assert_eq!(prr.allowance(), 2);
    }
}
