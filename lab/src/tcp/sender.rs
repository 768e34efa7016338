//! The end that sends data (RFC 5681), over any law that says how much may be under way.
//!
//! Everything leaves by `poll`: each change of state settles what the next `poll` sends, so that `next` is a load.

mod config;
mod recovery;
mod timer;

use thalweg_core::law::window::{Acked, CongestionWindow};
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::time::{Span, Time};

pub use self::config::{Dialect, MSS, Recovery, SenderConfig, SenderCounters};
use super::NEVER;
use super::prr::Prr;
use super::rtt::Rtt;
use super::scoreboard::{News, Scoreboard};
use super::segment::{Ack, Segment};
use crate::node::{Node, Tallied, Tally};
use crate::packet::{Body, Packet};

/// A sender of as many segments as its configuration says.
#[derive(Clone, PartialEq, Debug)]
pub struct Sender<L> {
    config: SenderConfig,
    law: L,
    board: Scoreboard,
    rtt: Rtt,
    phase: Phase,
    /// RecoveryPoint of RFC 6675, "recover" of RFC 6582: the first number behind what had been sent when recovery last
    /// began or the timer last expired.
    recover: Option<u64>,
    dup_acks: u32,
    /// Segments of this run of duplicate acknowledgements that went out by limited transmit.
    limited: u32,
    /// What RFC 6582 adds to the window in recovery.
    inflation: u32,
    prr: Prr,
    /// RescueRxt of RFC 6675 as the first number behind it.
    rescue: u64,
    /// Whether the first segment in the window leaves whatever the window says.
    forced: bool,
    /// Whether RFC 6582 has had its first partial acknowledgement.
    partial: bool,
    /// The first segment in the window when the timer last expired.
    timed_out: Option<u64>,
    /// A number behind it ends a round.
    round: u64,
    /// The law's window in whole segments.
    window: u32,
    /// Whether the window, not the lack of data, stopped the last transmission.
    held_back: bool,
    choice: Choice,
    expires: Time,
    wake: Time,
    counters: SenderCounters,
    /// Packets that came, of whatever kind.
    taken: u64,
}

/// What the last loss asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Nothing.
    Open,
    /// Fast recovery.
    Recovery,
    /// The timer expired: everything before `recover` is sent again as acknowledgements allow.
    Timeout,
}

/// What the next `poll` sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Choice {
    Nothing,
    New,
    /// A segment again, and everything below it that is lost was sent again before.
    Repair(u64),
    /// The first in the window again, whatever the window says.
    First,
    /// The last that is not SACKed again, once a recovery.
    Rescue(u64),
}

impl<L: CongestionWindow> Sender<L> {
    /// A sender whose window starts as `law` says.
    pub fn new(config: SenderConfig, law: L) -> Sender<L> {
        let mut sender = Sender {
            window: 0,
            law,
            board: Scoreboard::new(),
            rtt: Rtt::new(config.timeouts),
            phase: Phase::Open,
            recover: None,
            dup_acks: 0,
            limited: 0,
            inflation: 0,
            prr: Prr::default(),
            rescue: 0,
            forced: false,
            partial: false,
            timed_out: None,
            round: 0,
            held_back: false,
            choice: Choice::Nothing,
            expires: NEVER,
            wake: NEVER,
            counters: SenderCounters::default(),
            taken: 0,
            config,
        };
        sender.settle(config.start);
        sender
    }

    /// Its counters.
    pub fn counters(&self) -> SenderCounters {
        self.counters
    }

    /// Segments that are acknowledged cumulatively.
    pub fn acknowledged(&self) -> u64 {
        self.board.una()
    }

    /// Segments that were sent and are not acknowledged cumulatively (FlightSize of RFC 5681).
    pub fn flight(&self) -> u32 {
        self.board.flight()
    }

    /// The law.
    pub fn law(&self) -> &L {
        &self.law
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
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
            Phase::Recovery => self.recover_on(now, &news),
            _ if self.must_recover(&news) => self.begin_recovery(now, &news),
            _ => {
                if self.phase == Phase::Timeout && self.recover.is_none_or(|recover| self.board.una() >= recover) {
                    self.phase = Phase::Open;
                }
                if news.advanced > 0 {
                    self.open_window(now, flight, &news);
                }
            }
        }
        if self.config.segments == Some(self.board.una()) && self.counters.completed.is_none() {
            self.counters.completed = Some(now);
        }
    }

    fn open_window(&mut self, now: Time, flight: u32, news: &News) {
        let round_end = self.board.una() > self.round;
        if round_end {
            self.round = self.board.nxt();
        }
        self.law.on_ack(&Acked {
            now,
            newly: news.delivered,
            flight,
            rtt: news.sent.map(|sent| now.since(sent)),
            srtt: self.rtt.srtt(),
            round_end,
            window_limited: self.held_back,
        });
    }

    /// Decides what leaves next and when to wake.
    fn settle(&mut self, now: Time) {
        self.window = self.law.cwnd() as u32;
        self.choose(now);
    }

    fn choose(&mut self, now: Time) {
        self.choice = self.choice();
        self.wake = if self.choice == Choice::Nothing { self.expires } else { now };
    }

    fn choice(&mut self) -> Choice {
        if self.forced {
            return Choice::First;
        }
        let has_new = self.board.nxt() < self.end();
        if !self.has_room() {
            self.held_back = has_new;
            return Choice::Nothing;
        }
        self.held_back = false;
        match self.phase {
            Phase::Timeout => match self.board.first_lost(self.recover.unwrap_or_default()) {
                Some(number) => Choice::Repair(number),
                None if has_new => Choice::New,
                None => Choice::Nothing,
            },
            Phase::Recovery if self.config.recovery.has_sack() => self.next_segment(has_new),
            _ if has_new => Choice::New,
            _ => Choice::Nothing,
        }
    }

    /// The first number that must not be sent yet.
    fn end(&self) -> u64 {
        let offered = self.board.una() + u64::from(self.config.receive_window);
        self.config.segments.map_or(offered, |segments| segments.min(offered))
    }

    fn has_room(&self) -> bool {
        if self.phase == Phase::Recovery && self.config.recovery == Recovery::SackPrr {
            return self.prr.allowance() > 0;
        }
        let extra = match self.phase {
            // With SACK, pipe has fallen by what arrived, and the first two duplicates let one segment out each alike.
            _ if self.config.recovery.has_sack() => 0,
            Phase::Recovery => self.inflation,
            // RFC 3042.
            Phase::Open => self.dup_acks.min(2),
            Phase::Timeout => 0,
        };
        self.board.pipe() < self.window + extra
    }

    fn emit(&mut self, now: Time) -> Option<Packet> {
        let number = match self.choice {
            Choice::Nothing => return None,
            Choice::New => {
                self.limited += u32::from(self.phase == Phase::Open && self.dup_acks > 0);
                self.board.send(now)
            }
            Choice::First => self.board.resend(self.board.una()),
            Choice::Repair(number) | Choice::Rescue(number) => self.board.resend(number),
        };
        let again = self.choice != Choice::New;
        self.after_sending(now, number);
        self.counters.sent += 1;
        self.counters.retransmitted += u64::from(again);
        Some(Packet::segment(self.config.flow, self.config.mss, Segment::Data { number, again }))
    }
}

impl<L: CongestionWindow> Node for Sender<L> {
    fn accept(&mut self, now: Time, packet: Packet) {
        self.taken += 1;
        let Body::Segment(Segment::Ack(ack)) = packet.body else { return };
        // Nobody can have what was not sent.
        if ack.next <= self.board.nxt() {
            self.on_ack(now, &ack);
            self.settle(now);
        }
    }

    #[inline]
    fn next(&self) -> Option<Time> {
        (self.wake != NEVER).then_some(self.wake)
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        if now < self.wake {
            return None;
        }
        if now >= self.expires {
            self.on_timeout(now);
            self.settle(now);
        }
        let packet = self.emit(now);
        self.choose(now);
        packet
    }
}

impl<L: CongestionWindow> Tallied for Sender<L> {
    fn tally(&self) -> Tally {
        Tally { added: self.counters.sent, consumed: self.taken, ..Tally::default() }
    }
}

impl<L: CongestionWindow> Probe for Sender<L> {
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("cwnd", self.law.cwnd());
        visit("ssthresh", self.law.ssthresh());
        visit("srtt", self.rtt.srtt().map_or(f64::NAN, Span::as_secs_f64));
        visit("rto", self.rtt.rto().as_secs_f64());
        visit("flight", f64::from(self.board.flight()));
        visit("pipe", f64::from(self.board.pipe()));
        self.counters.probe(visit);
    }
}
