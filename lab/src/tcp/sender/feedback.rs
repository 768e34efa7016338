//! What an acknowledgement tells the sender, and what of it the law is told.

use thalweg_core::law::window::{Acked, CongestionWindow};
use thalweg_core::time::Time;

use super::{Dialect, Phase, Sender};
use crate::tcp::scoreboard::News;
use crate::tcp::segment::Ack;

impl<L: CongestionWindow> Sender<L> {
    pub(super) fn on_ack(&mut self, now: Time, ack: &Ack) {
        let flight = self.board.flight();
        let news = self.board.update(ack);
        if let Some(sent) = news.sent {
            self.rtt.sample(now.since(sent));
        }
        if news.advanced > 0 {
            (self.dup_acks, self.limited) = (0, 0);
            self.restart_timer(now);
        }
        self.dup_acks += u32::from(self.is_duplicate(ack, &news));
        match self.phase {
            Phase::Recovery => {
                self.recover_on(now, &news);
                if self.phase == Phase::Open && self.config.dialect == Dialect::Ns3 {
                    // ns-3.37, ProcessAck(): the acknowledgement that ends recovery grows the window, too, by all that it
                    // covers, SACKed before or not.
                    self.open_window(now, flight, &News { delivered: news.advanced as u32, ..news });
                    return;
                }
            }
            _ if self.must_recover(&news) => self.begin_recovery(now, &news),
            _ => {
                if self.phase == Phase::Timeout && self.recover.is_none_or(|recover| self.board.una() >= recover) {
                    self.phase = Phase::Open;
                }
                if news.advanced > 0 {
                    self.open_window(now, flight, &news);
                    return;
                }
            }
        }
        if news.delivered > 0 {
            self.law.on_repair_ack(&self.acked(now, flight, &news), news.lost);
        }
    }

    fn open_window(&mut self, now: Time, flight: u32, news: &News) {
        let round_end = self.board.una() > self.round;
        if round_end {
            self.round = self.board.nxt();
        }
        self.law.on_ack(&Acked { round_end, ..self.acked(now, flight, news) });
    }

    fn acked(&self, now: Time, flight: u32, news: &News) -> Acked {
        Acked {
            now,
            newly: news.delivered,
            flight,
            rtt: news.sent.map(|sent| now.since(sent)),
            srtt: self.rtt.srtt(),
            round_end: false,
            window_limited: self.held_back,
        }
    }
}
