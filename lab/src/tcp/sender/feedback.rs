//! The processing of acknowledgements, and the events that the law is given.

use thalweg_core::law::window::{Acked, CongestionWindow};
use thalweg_core::time::Time;

use super::{Dialect, Phase, Sender};
use crate::tcp::ack::Ack;
use crate::tcp::scoreboard::AckSummary;

impl<L: CongestionWindow> Sender<L> {
    pub(super) fn on_ack(&mut self, now: Time, ack: &Ack) {
        let flight = self.board.flight();
        let summary = self.board.update(ack);
        if let Some(sent) = summary.sent {
            self.rtt.sample(now.since(sent));
        }
        if summary.advanced > 0 {
            (self.dup_acks, self.limited) = (0, 0);
            self.restart_timer(now);
        }
        self.dup_acks += u32::from(self.is_duplicate(ack, &summary));
        match self.phase {
            Phase::Recovery => {
                self.recover_on(now, &summary);
                if self.phase == Phase::Open && self.config.dialect == Dialect::Ns3 {
                    // ns-3.37, ProcessAck(): the acknowledgement that ends recovery also grows the window, by all that
                    // it covers, SACKed before or not.
                    self.open_window(now, flight, &AckSummary { delivered: summary.advanced as u32, ..summary });
                    return;
                }
            }
            _ if self.must_recover(&summary) => self.begin_recovery(now, &summary),
            _ => {
                if self.phase == Phase::Timeout && self.recover.is_none_or(|recover| self.board.una() >= recover) {
                    self.phase = Phase::Open;
                }
                if summary.advanced > 0 {
                    self.open_window(now, flight, &summary);
                    return;
                }
            }
        }
        if summary.delivered > 0 {
            self.law.on_repair_ack(&self.acked(now, flight, &summary), summary.lost);
        }
    }

    fn open_window(&mut self, now: Time, flight: u32, summary: &AckSummary) {
        let round_end = self.board.una() > self.round;
        if round_end {
            self.round = self.board.nxt();
        }
        self.law.on_ack(&Acked { round_end, ..self.acked(now, flight, summary) });
    }

    fn acked(&self, now: Time, flight: u32, summary: &AckSummary) -> Acked {
        Acked {
            now,
            newly: summary.delivered,
            flight,
            rtt: summary.sent.map(|sent| now.since(sent)),
            srtt: self.rtt.srtt(),
            round_end: false,
            window_limited: self.held_back,
        }
    }
}
