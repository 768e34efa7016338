//! Fast retransmit and fast recovery: with SACK (RFC 6675 §5, with or without RFC 9937), and without SACK (RFC 6582
//! §3.2).
//!
//! | RFC 6675 | here |
//! |---|---|
//! | DupAcks, RecoveryPoint, RescueRxt | `dup_acks`, `recover`, `rescue` |
//! | steps (1), (2) | `must_recover` |
//! | step (3), limited transmit | `Sender::has_room`: pipe has fallen |
//! | step (4) | `begin_recovery` |
//! | steps (A), (B) | `recover_on` |
//! | step (C), NextSeg() | `Sender::choose`, `next_segment` |

use thalweg_core::law::window::CongestionWindow;
use thalweg_core::time::Time;

use super::{Choice, Dialect, Phase, Recovery, Sender};
use crate::tcp::ack::Ack;
use crate::tcp::prr::Prr;
use crate::tcp::scoreboard::{AckSummary, DUP_THRESH};

impl<L: CongestionWindow> Sender<L> {
    /// True for a duplicate acknowledgement. RFC 6675 §2 with SACK: it SACKs a segment for the first time. RFC 5681 §2
    /// without.
    pub(super) fn is_duplicate(&self, ack: &Ack, summary: &AckSummary) -> bool {
        if self.config.recovery.has_sack() {
            summary.sacked > 0
        } else {
            ack.next == self.board.una() && summary.advanced == 0 && self.board.flight() > 0
        }
    }

    /// True if this acknowledgement begins fast recovery.
    pub(super) fn must_recover(&self, summary: &AckSummary) -> bool {
        let una = self.board.una();
        if self.config.recovery.has_sack() {
            // RFC 6675 §5.1: not before all segments are acknowledged that had been sent when the timer expired.
            let settled = self.recover.is_none_or(|recover| una >= recover);
            summary.sacked > 0 && settled && (self.dup_acks >= DUP_THRESH || self.board.is_first_lost())
        } else {
            // RFC 6582 §3.2 (2): more than "recover", as duplicates right behind it may be echoes of retransmissions.
            let settled = self.recover.is_none_or(|recover| una > recover);
            summary.advanced == 0 && settled && self.dup_acks >= DUP_THRESH
        }
    }

    pub(super) fn begin_recovery(&mut self, now: Time, summary: &AckSummary) {
        self.law.on_loss(now, self.flight_size());
        self.counters.recoveries += 1;
        self.phase = Phase::Recovery;
        self.recover = Some(self.board.nxt());
        self.rescue = self.board.una() + 1;
        self.partial = false;
        self.forced = true;
        match self.config.recovery {
            // RFC 5681 §3.2 (3): the duplicates have left the path.
            Recovery::NewReno => self.inflation = self.dup_acks,
            Recovery::Sack => {}
            Recovery::SackPrr => {
                let before = self.board.sacked() - summary.sacked;
                let acked = summary.delivered - summary.sacked;
                let recover_fs = match self.config.dialect {
                    Dialect::Rfc | Dialect::Linux => self.board.flight() - before + acked,
                    // UnAckDataCount()
                    Dialect::Ns3 => self.board.flight(),
                };
                self.prr = Prr::new(self.law.ssthresh() as u32, recover_fs);
                self.proportion(summary);
            }
        }
    }

    /// Handles an acknowledgement in recovery.
    pub(super) fn recover_on(&mut self, now: Time, summary: &AckSummary) {
        if self.recover.is_some_and(|recover| self.board.una() >= recover) {
            self.phase = Phase::Open;
            (self.inflation, self.forced) = (0, false);
            self.law.on_recovered(now);
            return;
        }
        self.partial |= summary.advanced > 0;
        match self.config.recovery {
            Recovery::Sack => {}
            Recovery::SackPrr => self.proportion(summary),
            Recovery::NewReno if summary.advanced > 0 => {
                // RFC 6582 §3.2 (3), a partial acknowledgement: the next segment is lost, too. Deflate, and add one
                // back.
                self.forced = true;
                self.inflation = self.inflation.saturating_sub(summary.advanced as u32) + 1;
            }
            Recovery::NewReno => self.inflation += u32::from(self.dup_acks > 0),
        }
    }

    /// The flight size that a loss halves. RFC 5681 §3.2 (2): without the segments that limited transmit sent.
    fn flight_size(&self) -> u32 {
        match self.config.dialect {
            Dialect::Rfc | Dialect::Linux => self.board.flight() - self.limited,
            Dialect::Ns3 => self.board.pipe(),
        }
    }

    fn proportion(&mut self, summary: &AckSummary) {
        let more = match self.config.dialect {
            Dialect::Rfc | Dialect::Linux => Some(u32::from(summary.advanced > 0 && summary.lost == 0)),
            // TcpPrrRecovery::DoRecovery(): SSRB of RFC 6937, where a retransmission has arrived.
            Dialect::Ns3 => summary.again.then_some(1),
        };
        self.prr.on_ack(summary.delivered, self.board.pipe(), more);
    }

    /// NextSeg(): the rules in their order.
    pub(super) fn next_segment(&mut self, has_new: bool) -> Choice {
        if let Some(number) = self.board.first_lost(u64::MAX) {
            return Choice::Repair(number);
        }
        if has_new {
            return Choice::New;
        }
        if let Some(number) = self.board.first_hole() {
            return Choice::Repair(number);
        }
        if self.board.una() <= self.rescue {
            return Choice::Nothing;
        }
        self.board.last_unsacked().map_or(Choice::Nothing, Choice::Rescue)
    }

    /// Updates the edges, the limits and the timer after a transmission.
    pub(super) fn after_sending(&mut self, now: Time, number: u64) {
        let has_sack = self.config.recovery.has_sack();
        match self.choice {
            Choice::First => {
                self.forced = false;
                if has_sack {
                    self.board.raise_rxt(number);
                }
            }
            Choice::Repair(_) => self.board.raise_rxt(number),
            // HighRxt stays.
            Choice::Rescue(_) => self.rescue = self.recover.unwrap_or_default(),
            Choice::Nothing | Choice::New => {}
        }
        if self.phase == Phase::Recovery {
            self.prr.on_sent();
        }
        self.start_timer(now, self.choice == Choice::First && (has_sack || !self.partial));
    }
}
