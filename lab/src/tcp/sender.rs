//! The sending endpoint (RFC 5681), over any law that determines the congestion window.
//!
//! All packets leave through `poll`: each change of state decides what the next `poll` sends, so that `next` is a
//! single load.

mod config;
mod feedback;
mod recovery;
mod timer;

use thalweg_core::law::window::CongestionWindow;
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::time::{Span, Time};

pub use self::config::{Dialect, MSS, Recovery, SenderConfig, SenderCounters};
use super::prr::Prr;
use super::rtt::Rtt;
use super::scoreboard::Scoreboard;
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
    /// RecoveryPoint of RFC 6675, "recover" of RFC 6582: the number that followed the last segment sent when recovery
    /// last began or the timer last expired.
    recover: Option<u64>,
    dup_acks: u32,
    /// Segments of this run of duplicate acknowledgements that were sent by limited transmit.
    limited: u32,
    /// The inflation of the window in recovery by RFC 6582.
    inflation: u32,
    prr: Prr,
    /// RescueRxt of RFC 6675 as the first number behind it.
    rescue: u64,
    /// True if the first segment in the window leaves regardless of the window.
    forced: bool,
    /// True if this recovery has had its first partial acknowledgement.
    partial: bool,
    /// The first segment in the window when the timer last expired.
    timed_out: Option<u64>,
    /// The number whose passing by HighACK ends a round.
    round: u64,
    /// The law's window in whole segments.
    window: u32,
    /// True if the window or the pacing, not the lack of data, stopped the last transmission.
    held_back: bool,
    choice: Choice,
    /// The time at which a law that paces releases the next segment.
    release: Time,
    expires: Time,
    wake: Time,
    counters: SenderCounters,
    /// Packets received, of any kind.
    taken: u64,
}

/// The recovery that the last loss requires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// No recovery.
    Open,
    /// Fast recovery.
    Recovery,
    /// The timer expired: all segments before `recover` are retransmitted as acknowledgements allow.
    Timeout,
}

/// The segment that the next `poll` sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Choice {
    Nothing,
    New,
    /// A retransmission; all lost segments below it have been retransmitted before.
    Repair(u64),
    /// A retransmission of the first segment in the window, regardless of the window.
    First,
    /// A retransmission of the last segment that is not SACKed, once per recovery.
    Rescue(u64),
}

impl<L: CongestionWindow> Sender<L> {
    /// A sender with the initial window of `law`.
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
            release: Time::ZERO,
            expires: Time::NEVER,
            wake: Time::NEVER,
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

    /// Segments acknowledged cumulatively.
    pub fn acknowledged(&self) -> u64 {
        self.board.una()
    }

    /// Segments sent and not acknowledged cumulatively (FlightSize of RFC 5681).
    pub fn flight(&self) -> u32 {
        self.board.flight()
    }

    /// The law.
    pub fn law(&self) -> &L {
        &self.law
    }

    /// Decides the next transmission and the time of the next wake-up.
    fn settle(&mut self, now: Time) {
        self.window = self.law.cwnd() as u32;
        self.choose(now);
    }

    fn choose(&mut self, now: Time) {
        self.choice = self.choice(now);
        self.wake = match self.choice {
            Choice::Nothing => self.expires,
            _ if self.release > now => self.release.min(self.expires),
            _ => now,
        };
    }

    fn choice(&mut self, now: Time) -> Choice {
        if self.forced {
            return Choice::First;
        }
        let has_new = self.board.nxt() < self.end();
        if !self.has_room() {
            self.held_back = has_new;
            return Choice::Nothing;
        }
        self.held_back = has_new && self.release > now;
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
            // With SACK, pipe has fallen by the segments that arrived, so that the first two duplicates release one
            // segment each, too.
            _ if self.config.recovery.has_sack() => 0,
            Phase::Recovery => self.inflation,
            // RFC 3042.
            Phase::Open => self.dup_acks.min(2),
            Phase::Timeout => 0,
        };
        self.board.pipe() < self.window + extra
    }

    fn emit(&mut self, now: Time) -> Option<Packet> {
        if now < self.release {
            return None;
        }
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
        if let Some(gap) = self.law.gap() {
            self.release = now + gap;
        }
        self.counters.sent += 1;
        self.counters.retransmitted += u64::from(again);
        Some(Packet::segment(self.config.flow, self.config.mss, number, again))
    }
}

impl<L: CongestionWindow> Node for Sender<L> {
    fn accept(&mut self, now: Time, packet: Packet) {
        self.taken += 1;
        let Body::Ack(ack) = packet.body else { return };
        // No receiver can have a segment that was not sent.
        if ack.next <= self.board.nxt() {
            self.on_ack(now, &ack);
            if self.config.segments == Some(self.board.una()) && self.counters.completed.is_none() {
                self.counters.completed = Some(now);
            }
            self.settle(now);
        }
    }

    #[inline]
    fn next(&self) -> Option<Time> {
        (self.wake != Time::NEVER).then_some(self.wake)
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
        // The values of a law beyond every law's window and threshold: lwnd, dwnd, cap, w_max, base_rtt...
        self.law.probe(&mut |name, value| {
            if !NAMES.contains(&name) {
                visit(name, value);
            }
        });
    }
}

/// The names of the values that every sender shows.
const NAMES: [&str; 10] =
    ["cwnd", "ssthresh", "srtt", "rto", "flight", "pipe", "sent", "retransmitted", "timeouts", "recoveries"];
