//! The sender of TFRC: RFC 5348 §4, §8.2.1 for data-limited senders, and §8.3 for late timers.

mod config;
mod limits;
mod nofeedback;
mod pacer;
mod recv_set;
#[cfg(test)]
mod tests;

pub use self::config::Config;

use self::limits::DataLimits;
use self::pacer::{Gaps, Pacer};
use self::recv_set::RecvSet;
use super::{BadFeedback, Data, Equation, Feedback, MAX_RTT, TcpThroughput};
use crate::law::ParameterError;
use crate::probe::{Probe, Visitor};
use crate::time::{Span, Time};
use crate::units::{Rate, Seconds};

/// q: the weight of the old value in R. §4.3, step 2.
const Q: f64 = 0.9;
/// q2: the weight of the old value in R_sqmean. §4.5.
const Q2: f64 = 0.9;
/// t_mbi: the longest time between two packets. §4.3, step 4.
pub const T_MBI: Seconds = Seconds(64.0);
/// The no-feedback timer until there is a round-trip sample. §4.2.
const FIRST_TIMEOUT: Span = Span::from_secs(2);
/// The factor on X_recv when a data-limited sender learns of loss. §4.3, step 4.
const KEPT: f64 = 0.85;
/// W_init is at least two segments and this many bytes. §4.2.
const W_INIT: f64 = 4380.0;
/// Shorter round trips count as this: clocks resolve no less, and rates are divided by it.
const MIN_RTT: Span = Span::from_micros(1);
/// The upper bound of X, in bytes per second, so that halving can always bring it down again.
const FASTEST: f64 = 1e12;

/// The sending half of TFRC.
///
/// Call `poll_packet` whenever there is a packet and, if it refuses, again at `next_send`; pass in every report; call
/// `handle_timeout` when `poll_timeout` is reached.
#[derive(Clone, PartialEq, Debug)]
pub struct Sender<E = TcpThroughput> {
    config: Config,
    equation: E,
    sequence: u64,
    /// X, in bytes per second.
    x: f64,
    /// X_Bps at the last report with p above 0.
    x_bps: Option<f64>,
    p: f64,
    /// R, in seconds.
    r: Option<f64>,
    /// R_sqmean / sqrt(R_sample), and R_sqmean. §4.5.
    damping: (f64, Option<f64>),
    /// tld: the time at which X was last doubled.
    tld: Time,
    x_recv_set: RecvSet,
    limits: DataLimits,
    pacer: Pacer,
    nofeedback: Time,
    /// True if no packet was sent since the no-feedback timer was set.
    idle: bool,
}

impl Sender {
    /// A sender that starts at `now` with one packet per second (§4.2).
    ///
    /// # Errors
    /// The configuration does not pass [`Config::check`].
    pub fn new(now: Time, config: Config) -> Result<Sender, ParameterError> {
        Sender::with_equation(now, config, TcpThroughput::default())
    }
}

impl<E: Equation> Sender<E> {
    /// A sender that takes X_Bps from `equation`.
    ///
    /// # Errors
    /// The configuration does not pass [`Config::check`].
    pub fn with_equation(now: Time, config: Config, equation: E) -> Result<Sender<E>, ParameterError> {
        config.check()?;
        Ok(Sender {
            equation,
            sequence: 0,
            x: config.segment.0 as f64,
            x_bps: None,
            p: 0.0,
            r: None,
            damping: (1.0, None),
            tld: now,
            x_recv_set: RecvSet::new(now),
            limits: DataLimits::default(),
            pacer: Pacer::new(now),
            nofeedback: now + FIRST_TIMEOUT,
            idle: true,
            config,
        })
    }

    /// Changes the equation; the next report is the first to use it.
    pub fn set_equation(&mut self, equation: E) {
        self.equation = equation;
    }

    /// Changes the application's bit rate, starting with the next packet.
    ///
    /// # Errors
    /// The rate does not pass [`Config::check`]; the old one stays.
    pub fn set_media_rate(&mut self, media_rate: Rate) -> Result<(), ParameterError> {
        let config = Config { media_rate, ..self.config };
        config.check()?;
        self.config = config;
        Ok(())
    }

    /// The header of a packet to send at `now`, if one may leave. Call this only when there is a packet to send: a
    /// refusal is taken as a sign that the sender is not data-limited.
    pub fn poll_packet(&mut self, now: Time) -> Option<Data> {
        let gaps = self.gaps();
        let rtt = self.rtt();
        let granularity = self.config.granularity.min(rtt.unwrap_or(Span::MAX));
        // t_delta = min(t_ipi, t_gran, R) / 2. §8.3.
        let t_delta = gaps.rate.min(granularity) / 2;
        let (by_rate, by_media) = (self.pacer.by_rate(gaps), self.pacer.by_media(gaps));
        if now + t_delta < by_rate {
            self.limits.not_limited(now);
            return None;
        }
        if now + t_delta.min(gaps.media / 2) < by_media {
            return None;
        }
        // A packet at the allowed rate's send time was waiting for the rate; one sent later was waiting for data.
        if by_rate >= by_media && now.since(by_rate) <= t_delta {
            self.limits.not_limited(now);
        }
        self.pacer.on_sent(now, gaps, granularity);
        if self.sequence == 0 {
            // The two round trips without a limit begin with the connection. §4.3.
            self.x_recv_set = RecvSet::new(now);
        }
        self.idle = false;
        let sequence = self.sequence;
        self.sequence += 1;
        Some(Data { sequence, sent: now, rtt })
    }

    /// The earliest time of the next packet.
    pub fn next_send(&self) -> Time {
        let gaps = self.gaps();
        self.pacer.by_rate(gaps).max(self.pacer.by_media(gaps))
    }

    /// Takes a report into account (§4.3).
    ///
    /// # Errors
    /// The report is impossible or outdated; nothing changes.
    pub fn handle_feedback(&mut self, now: Time, feedback: &Feedback) -> Result<(), BadFeedback> {
        let r_sample = self.checked(now, feedback)?;
        // Steps 1 and 2.
        let r = self.r.map_or(r_sample, |r| Q * r + (1.0 - Q) * r_sample);
        let first = self.r.replace(r).is_none();
        // Step 3, with X before its update.
        let rto = self.rto();
        // Step 4.
        let limited = self.limits.on_feedback(now, feedback.recvdata, Span::from_secs_f64(r));
        // "The first feedback packet" includes those about packets that carried no round trip yet.
        let limited = limited && feedback.x_recv > 0.0;
        let worse = feedback.new_loss_event || feedback.p > self.p;
        self.p = feedback.p;
        self.compute_x_bps(r);
        if first {
            // §4.2 in place of step 4.
            // Deviation(RFC 5348 §4.3): s / t_mbi is the minimum rate before the first loss, too; else a round trip of
            // a minute would bring it lower than any loss can.
            self.x = self.initial_rate(r).max(self.config.slowest());
            self.tld = now;
        } else {
            let recv_limit = self.recv_limit(now, feedback.x_recv.min(FASTEST), limited, worse);
            self.set_x(now, recv_limit);
        }
        // Step 5.
        if self.config.damping {
            let root = f64::sqrt(r_sample);
            let r_sqmean = self.damping.1.map_or(root, |mean| Q2 * mean + (1.0 - Q2) * root);
            self.damping = (r_sqmean / root, Some(r_sqmean));
        }
        // Step 6.
        self.set_timer(now, rto);
        Ok(())
    }

    /// X_inst within the media rate: the rate at which packets are paced.
    pub fn rate(&self) -> Rate {
        Rate::from_bps((8.0 * self.x_inst()) as u64).min(self.config.media_rate)
    }

    /// X: the rate that the path allows regardless of the media rate, in bytes per second.
    pub fn allowed(&self) -> f64 {
        self.x
    }

    /// Replaces X, in bytes per second, until the next report; not below one packet in [`T_MBI`].
    pub fn set_allowed(&mut self, x: f64) {
        self.x = x.clamp(self.config.slowest(), FASTEST);
    }

    /// R: the smoothed round trip, after the first report.
    pub fn rtt(&self) -> Option<Span> {
        self.r.map(Span::from_secs_f64)
    }

    /// p: the loss event rate of the last report.
    pub fn loss_event_rate(&self) -> f64 {
        self.p
    }

    /// The number of packets sent.
    pub fn sent(&self) -> u64 {
        self.sequence
    }

    /// The round-trip sample of a plausible report, in seconds.
    fn checked(&self, now: Time, feedback: &Feedback) -> Result<f64, BadFeedback> {
        let age = now.since(feedback.recvdata);
        let sample = age.saturating_sub(feedback.delay);
        if self.sequence == 0 || feedback.recvdata > now || feedback.delay > age || sample > MAX_RTT {
            return Err(BadFeedback::Time);
        }
        if feedback.recvdata < self.limits.covered() {
            return Err(BadFeedback::Overtaken);
        }
        if !(0.0..f64::INFINITY).contains(&feedback.x_recv) {
            return Err(BadFeedback::ReceiveRate);
        }
        if !(0.0..=1.0).contains(&feedback.p) {
            return Err(BadFeedback::LossEventRate);
        }
        Ok(sample.max(MIN_RTT).as_secs_f64())
    }

    fn compute_x_bps(&mut self, r: f64) {
        self.x_bps = (self.p > 0.0).then(|| self.equation.rate(self.config.segment, Seconds(r), self.p));
    }

    /// W_init / R, which is also recover_rate. §4.2, §4.4.
    fn initial_rate(&self, r: f64) -> f64 {
        let s = self.config.segment.0 as f64;
        ((4.0 * s).min((2.0 * s).max(W_INIT)) / r).min(FASTEST)
    }

    /// The first half of step 4: the limit that the reports set.
    fn recv_limit(&mut self, now: Time, x_recv: f64, limited: bool, worse: bool) -> f64 {
        if limited && worse {
            self.x_recv_set.halve();
            self.x_recv_set.maximize(now, KEPT * x_recv);
            return self.x_recv_set.max();
        }
        if limited {
            self.x_recv_set.maximize(now, x_recv);
        } else {
            self.x_recv_set.update(now, x_recv, self.rtt().unwrap_or(Span::ZERO));
        }
        2.0 * self.x_recv_set.max()
    }

    /// The second half of step 4.
    fn set_x(&mut self, now: Time, recv_limit: f64) {
        let Some(r) = self.r else { return };
        if let Some(x_bps) = self.x_bps {
            self.x = x_bps.min(recv_limit).clamp(self.config.slowest(), FASTEST);
        } else if now.since(self.tld).as_secs_f64() >= r {
            self.x = (2.0 * self.x).min(recv_limit).max(self.initial_rate(r)).clamp(self.config.slowest(), FASTEST);
            self.tld = now;
        }
    }

    /// X R_sqmean / sqrt(R_sample), not below one packet in t_mbi. §4.5.
    fn x_inst(&self) -> f64 {
        (self.x * self.damping.0).max(self.config.slowest())
    }

    fn gaps(&self) -> Gaps {
        let rate = Span::from_secs_f64(self.config.segment.0 as f64 / self.x_inst());
        Gaps { rate, media: self.config.media_rate.time_for(self.config.segment) }
    }
}

impl<E: Equation> Probe for Sender<E> {
    /// Shows `x`, `x_inst`, `x_bps` and `x_recv` (the maximum of X_recv_set) in bytes per second, `p`, and `r` in
    /// seconds.
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("x", self.x);
        visit("x_inst", self.x_inst());
        visit("x_bps", self.x_bps.unwrap_or(f64::NAN));
        visit("x_recv", self.x_recv_set.max());
        visit("p", self.p);
        visit("r", self.r.unwrap_or(f64::NAN));
    }
}
