//! The retransmission timer, and the effects of its expiry (RFC 6298 §5).

use thalweg_core::law::window::CongestionWindow;
use thalweg_core::time::Time;

use super::{Dialect, Phase, Sender};

impl<L: CongestionWindow> Sender<L> {
    /// Starts the timer for a segment that was sent (§5.1); `fast` is true for the fast retransmit.
    ///
    /// RFC 6675 §6 allows a restart of the timer for each retransmission in recovery. Only the first restarts it here:
    /// every further restart would hide the loss of an earlier retransmission for as long as losses go on, and with it
    /// the congestion. ns-3.37 restarts it for none (`SendDataPacket()`).
    pub(super) fn start_timer(&mut self, now: Time, fast: bool) {
        if (fast && self.config.dialect != Dialect::Ns3) || self.expires == Time::NEVER {
            self.expires = now + self.rtt.rto();
        }
    }

    /// Restarts the timer when new data is acknowledged (§5.2, §5.3). RFC 6582 §3.2 restarts it for the first partial
    /// acknowledgement alone; so does ns-3.37, with SACK, too, and each restart ends a back-off there (`ProcessAck()`,
    /// `NewAck()`).
    pub(super) fn restart_timer(&mut self, now: Time) {
        let ns3 = self.config.dialect == Dialect::Ns3;
        let impatient = ns3 || !self.config.recovery.has_sack();
        let goes_on = self.phase == Phase::Recovery && self.recover.is_none_or(|recover| self.board.una() < recover);
        if self.board.flight() == 0 {
            self.expires = Time::NEVER;
        } else if !(impatient && self.partial && goes_on) {
            if ns3 {
                self.rtt.end_back_off();
            }
            self.expires = now + self.rtt.rto();
        }
    }

    /// Handles an expiry (§5.4 to §5.6; RFC 5681 §3.1, RFC 6675 §5.1).
    // Deviation(RFC 2018 §8): SACKed segments stay SACKed, as RFC 6675 §5.1 considers: receivers here never renege.
    pub(super) fn on_timeout(&mut self, now: Time) {
        let una = self.board.una();
        let flight = match self.config.dialect {
            Dialect::Rfc | Dialect::Linux => self.board.flight(),
            Dialect::Ns3 => self.board.pipe(),
        };
        // ns-3.37, ReTxTimeout(): each expiry is a loss of its own, also in recovery and also of the same segment; the
        // record that the segment was sent before has just been cleared by SetSentListLost().
        let ns3 = self.config.dialect == Dialect::Ns3;
        if ns3 && self.phase == Phase::Recovery {
            self.law.on_recovered(now);
        }
        self.law.on_timeout(now, flight, !ns3 && self.timed_out == Some(una));
        self.timed_out = Some(una);
        self.counters.timeouts += 1;
        self.rtt.back_off();
        self.board.lose_all();
        self.phase = Phase::Timeout;
        self.recover = Some(self.board.nxt());
        (self.dup_acks, self.limited, self.inflation, self.forced) = (0, 0, 0, false);
        self.expires = now + self.rtt.rto();
    }
}
