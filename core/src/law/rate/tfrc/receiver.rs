//! The receiver of TFRC: RFC 5348 §5 and §6.

mod history;
mod losses;
mod meter;
#[cfg(test)]
mod tests;

use self::history::LossHistory;
use self::losses::{Arrival, Losses};
use self::meter::Meter;
use super::{Data, Equation, Feedback, MAX_RTT, TcpThroughput};
use crate::probe::{Probe, Visitor};
use crate::time::{Span, Time};
use crate::units::{Bytes, Seconds};

/// The minimum of X_target, in packets per round trip, and its value if the very first packet is lost. §6.3.1.
const LEAST_TARGET: f64 = 0.5;

/// The parameters of a receiver.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// s: the size of the sender's packets, at least a byte.
    pub segment: Bytes,
    /// True if a long time without loss reduces the weight of older loss intervals (§5.5).
    pub discounting: bool,
}

impl Config {
    /// A sender's packets of `segment`, with history discounting.
    pub fn new(segment: Bytes) -> Config {
        Config { segment, discounting: true }
    }
}

/// The reporting half of TFRC.
///
/// Pass in every packet; after each, and whenever `poll_timeout` is reached, call `poll_feedback`.
#[derive(Clone, PartialEq, Debug)]
pub struct Receiver<E = TcpThroughput> {
    config: Config,
    equation: E,
    losses: Losses,
    history: LossHistory,
    meter: Meter,
    /// S_m, the packet with the highest sequence number, its arrival time and its size.
    latest: Option<(Data, Time, Bytes)>,
    /// R_m: the round trip carried in packets.
    rtt: Option<Span>,
    /// R_(m-1): the round trip when the timer was set.
    last_rtt: Option<Span>,
    /// The expiry of the feedback timer.
    timer: Option<Time>,
    state: State,
    p: f64,
    /// True if a loss event began since the last report.
    new_loss_event: bool,
    x_recv: f64,
    /// The largest X_recv so far: X_target of §6.3.1.
    x_target: f64,
    received: u64,
    reports: u64,
}

/// The state of the receiver between two reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// No data since the last report.
    Quiet,
    /// No data since the last report, and the timer has expired once: the next packet triggers a report at once. §6.1.
    Missed,
    /// Data to report when the timer expires.
    Fresh,
    /// A report that has been due since that time.
    Due(Time),
}

impl Receiver {
    /// A receiver that expects packet 0.
    pub fn new(config: Config) -> Receiver {
        Receiver::with_equation(config, TcpThroughput::default())
    }
}

impl<E: Equation> Receiver<E> {
    /// A receiver whose sender takes X_Bps from `equation`.
    pub fn with_equation(config: Config, equation: E) -> Receiver<E> {
        Receiver {
            equation,
            losses: Losses::default(),
            history: LossHistory::new(config.discounting),
            meter: Meter::default(),
            latest: None,
            rtt: None,
            last_rtt: None,
            timer: None,
            state: State::Quiet,
            p: 0.0,
            new_loss_event: false,
            x_recv: 0.0,
            x_target: 0.0,
            received: 0,
            reports: 0,
            config,
        }
    }

    /// Changes the equation; only the first loss event uses it.
    pub fn set_equation(&mut self, equation: E) {
        self.equation = equation;
    }

    /// Takes a packet of `size` that arrived at `now` (§6.1).
    pub fn handle_data(&mut self, now: Time, data: &Data, size: Bytes) {
        self.accept(now, data, size, false);
    }

    /// Takes a packet that arrived with an ECN congestion mark, which counts as a loss (§5.2).
    pub fn handle_marked(&mut self, now: Time, data: &Data, size: Bytes) {
        self.accept(now, data, size, true);
    }

    /// The report that is due at `now` (§6.2), if one is.
    pub fn poll_feedback(&mut self, now: Time) -> Option<Feedback> {
        let last_rtt = self.last_rtt;
        if self.timer.is_some_and(|timer| timer <= now) {
            self.set_timer(now);
            self.state = match self.state {
                State::Quiet | State::Missed => State::Missed,
                State::Fresh => State::Due(now),
                State::Due(since) => State::Due(since),
            };
        }
        let (data, at, size) = self.latest.filter(|_| matches!(self.state, State::Due(_)))?;
        self.p = self.history.loss_event_rate(data.sequence);
        // The first report has no measurement. §6.3.
        if let Some(rtt) = last_rtt.or(self.rtt).filter(|_| self.reports > 0) {
            // The minimum is one packet per round trip (§6.2), even if the packet's own round trip is shorter.
            self.x_recv = self.meter.rate(now, rtt).max(size.0 as f64 / rtt.as_secs_f64());
            self.x_target = self.x_target.max(self.x_recv);
        }
        self.set_timer(now);
        self.state = State::Quiet;
        self.reports += 1;
        let new_loss_event = std::mem::take(&mut self.new_loss_event);
        Some(Feedback { recvdata: data.sent, delay: now.since(at), x_recv: self.x_recv, p: self.p, new_loss_event })
    }

    /// The time at which `poll_feedback` must be called if no packet arrives before.
    pub fn poll_timeout(&self) -> Option<Time> {
        if let State::Due(since) = self.state { Some(since) } else { self.timer }
    }

    /// p: the loss event rate, as last computed.
    pub fn loss_event_rate(&self) -> f64 {
        self.p
    }

    /// Packets received, without duplicates and those too late to count.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Packets declared lost.
    pub fn lost(&self) -> u64 {
        self.losses.lost()
    }

    fn accept(&mut self, now: Time, data: &Data, size: Bytes, marked: bool) {
        let rtt = data.rtt.filter(|rtt| (Span::from_nanos(1)..=MAX_RTT).contains(rtt)).or(self.rtt);
        let arrival = Arrival { sequence: data.sequence, at: now, marked };
        // Before there is a round trip, packets are a second apart, and no two of them share one.
        let window = rtt.unwrap_or(Span::ZERO);
        if !self.losses.counts(data.sequence) {
            return;
        }
        self.meter.add(now, size, rtt);
        self.received += 1;
        let mut events = 0u32;
        self.losses.accept(arrival, window, |lost| {
            events += 1;
            self.history.open(lost, || {
                let carried = rtt.map(|rtt| (rtt, self.x_target.max(self.meter.rate(now, rtt))));
                // If the very first packet is lost, no data was carried before it.
                let carried = carried.map(|(rtt, x_target)| (rtt, if lost == 0 { 0.0 } else { x_target }));
                first_interval(&self.equation, self.config.segment, carried)
            });
        });
        self.new_loss_event |= events > 0;
        let first = self.latest.is_none();
        // Deviation(RFC 5348 §3.2.2): t_recvdata is that of the highest packet, not of the last to arrive, so that
        // reordered packets never move the sender's intervals backwards.
        if self.latest.is_none_or(|(highest, ..)| highest.sequence < data.sequence) {
            self.latest = Some((*data, now, size));
            self.rtt = rtt;
        }
        let unasked = first || self.rtt.is_none() || self.state == State::Missed;
        if unasked || (events > 0 && self.is_worse()) {
            self.state = State::Due(now);
        } else if self.state == State::Quiet {
            self.state = State::Fresh;
        }
        // The first packet that carries a round trip starts the timer.
        if !first && self.timer.is_none() {
            self.set_timer(now);
        }
    }

    /// Sets the timer to R_m after `now`, once there is one. §6.2, step 4.
    fn set_timer(&mut self, now: Time) {
        self.timer = self.rtt.map(|rtt| now + rtt);
        self.last_rtt = self.rtt;
    }

    /// Recomputes p; true if it has grown. §6.1, steps 3 and 4.
    fn is_worse(&mut self) -> bool {
        let highest = self.latest.map_or(0, |(data, ..)| data.sequence);
        let p_prev = self.p;
        self.p = self.history.loss_event_rate(highest);
        self.p > p_prev
    }
}

/// The length of the interval before the first loss event: 1/p of X_target, here after the round trip in which it is
/// reached. §6.3.1.
fn first_interval(equation: &impl Equation, segment: Bytes, carried: Option<(Span, f64)>) -> f64 {
    // Without a round trip X_target is half a packet per round trip, whatever its length.
    let (rtt, x_target) = carried.map_or((1.0, 0.0), |(rtt, x_target)| (rtt.as_secs_f64(), x_target));
    let least = LEAST_TARGET * segment.0 as f64 / rtt;
    1.0 / equation.loss_event_rate(segment, Seconds(rtt), x_target.max(least))
}

impl<E: Equation> Probe for Receiver<E> {
    /// Shows `p`, `x_recv` in bytes per second, `received` and `lost` in packets, and `r` in seconds.
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("p", self.p);
        visit("x_recv", self.x_recv);
        visit("received", self.received as f64);
        visit("lost", self.losses.lost() as f64);
        visit("r", self.rtt.map_or(f64::NAN, Span::as_secs_f64));
    }
}
