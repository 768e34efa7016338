//! R3CP+: Y. S. Sun, F.-M. Tsou, M. C. Chen, "Predictive flow control for TCP-friendly end-to-end real-time video on the
//! Internet", 2001, §3.
//!
//! The receiver of a stored video decides once per flow control period, about a round trip. From its buffer, which is a
//! bank, and from the forecast of loss and round trip it computes the rate at which it *desires* the video, Eq. (14);
//! from the present and the forecast state of the path the rate that it *requests*, Table 1. What lies between the two
//! the sender skips, Eq. (10), by [`schedule::selective`](crate::law::schedule::selective).
//!
//! Point n is the start of period n. Decided by then are the rates up to n - 1; what was sent at rho_{n-1} arrives in
//! period n. Rates are in packets per second, queues in packets, times in seconds.
//!
//! | paper | here | |
//! |---|---|---|
//! | q_n | [`Point::q`] | packets in the buffer, in media time: see below |
//! | q*_n, Eq. (9) | [`Point::target`] | mu d + P_L, and the store |
//! | zeta_n, Eq. (10) | [`skipped`] | packets that the sender skips in a period |
//! | q^v_n, Eq. (11) | [`Point::virtual_queue`] | the queue as if nothing had been skipped |
//! | q^v_{n+1}, q^v_{n+2}, Eqs. (12), (13) | [`Point::next_queue`], [`Point::queue_after`] | |
//! | lambda_n, Eq. (14) | [`Point::desired_rate`] | |
//! | UNLOADED, LOADED, CONGESTED | [`State`] | loss below p_low, between, above p_high (§3.2) |
//! | rho_n, Table 1 | [`R3cp::requested_rate`] | |
//! | Δinc, δinc, δdec, Δdec | `inc_big`, `inc_small`, `dec_small`, `dec_big` | [`Parameters`] |
//! | p, d of period n | [`Forecast`] | two predictors, bounded by what was measured |
//!
//! A frame is no fluid: the caller measures q in media time, as the playback time between the point of playback and the
//! newest position that was due, times mu.

mod forecast;
mod parameters;
#[cfg(test)]
mod tests;

use core::str::FromStr;

pub use forecast::{Forecast, LEAST_PERIOD};
pub use parameters::{Base, PAPERS_MU, PLAYERS_GATE, Parameters};

use crate::law::ParameterError;
use crate::units::Seconds;

/// The loss above which the gate is open at any delay.
pub const HEAVY_LOSS: f64 = 0.3;
/// The part of the store's length in which it is filled. Ours.
const REFILL: f64 = 0.5;

/// The state of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Loss below p_low.
    Unloaded,
    /// Loss from p_low to p_high.
    Loaded,
    /// Loss above p_high.
    Congested,
}

impl State {
    /// The state at a loss of `p`.
    // Reading(R3CP+ §3.2): at p_low and at p_high themselves the path is loaded.
    pub fn of(p: f64, p_low: f64, p_high: f64) -> State {
        match p {
            p if p < p_low => State::Unloaded,
            p if p > p_high => State::Congested,
            _ => State::Loaded,
        }
    }
}

impl FromStr for State {
    type Err = ParameterError;

    /// `unloaded`, `loaded` or `congested`.
    fn from_str(text: &str) -> Result<State, ParameterError> {
        match text {
            "unloaded" => Ok(State::Unloaded),
            "loaded" => Ok(State::Loaded),
            "congested" => Ok(State::Congested),
            _ => Err(ParameterError::Value {
                name: "state",
                value: text.to_owned(),
                expected: "unloaded, loaded or congested",
            }),
        }
    }
}

/// The receiver's knowledge at flow control point n.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    /// q_n: packets in the buffer.
    pub q: f64,
    /// Skipped packets that would be in the buffer now.
    pub zeta_in_q: f64,
    /// zeta_{n-1}: packets of this period's arrivals that are skipped.
    pub zeta_next: f64,
    /// rho_{n-1}: the rate requested last.
    pub rho_prev: f64,
    /// The predicted loss of the period. 0 to below 1.
    pub p: f64,
    /// The predicted length of the period in seconds. Above 0.
    pub d: f64,
    /// mu: the mean playback rate.
    pub mu: f64,
    /// P_L: packets of the retransmission window.
    pub p_l: f64,
}

impl Point {
    /// q*: the target queue. Eq. (9).
    // Reading(R3CP+ Eq. (9)): P_lambda, a round trip's worth of data, is mu d. Only with it Eq. (14) is the solution of
    // Eqs. (9) and (11) to (13); lambda d would be singular without loss.
    pub fn target(&self) -> f64 {
        self.mu * self.d + self.p_l
    }

    /// q^v_n: the queue, and the skipped packets that would be in it. Eq. (11).
    // Deviation(R3CP+ Eq. (11)): the printed zeta_n depends on lambda_n, which is computed from it. Here, and in Eqs. (12)
    // and (14), it is that of the decisions already made.
    pub fn virtual_queue(&self) -> f64 {
        self.q + self.zeta_in_q
    }

    /// q^v_{n+1}: the virtual queue at the next point. Eq. (12).
    pub fn next_queue(&self) -> f64 {
        self.virtual_queue() - self.mu * self.d + self.rho_prev * (1.0 - self.p) * self.d + self.zeta_next
    }

    /// q^v_{n+2}: the virtual queue at the point after, if `lambda` is sent from now on. Eq. (13).
    pub fn queue_after(&self, lambda: f64) -> f64 {
        self.next_queue() - self.mu * self.d + lambda * (1.0 - self.p) * self.d
    }

    /// lambda_n: the rate at which the queue meets its target two points from now, without any bounds. Eq. (14).
    pub fn desired_rate(&self) -> f64 {
        let Point { zeta_next, rho_prev, p, d, mu, p_l, .. } = *self;
        (p_l + 3.0 * mu * d - self.virtual_queue() - zeta_next) / ((1.0 - p) * d) - rho_prev
    }

    /// The rate at which the queue has `packets` more than its target after `span` seconds, from the next point on. With no
    /// packets and a span of d it is the desired rate.
    pub fn rate_to_store(&self, packets: f64, span: f64) -> f64 {
        let missing = self.target() + packets - self.next_queue();
        (self.mu + missing / span) / (1.0 - self.p)
    }
}

/// zeta_n: the packets that the sender skips in a period of `d` seconds at which it owes `lambda` and may send `rho`,
/// `retransmitted` packets included. Eq. (10).
pub fn skipped(lambda: f64, rho: f64, d: f64, retransmitted: f64) -> f64 {
    if lambda > rho { (lambda - rho) * d + retransmitted } else { 0.0 }
}

/// A cell of Table 1, and the rates in it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Request {
    /// The state as measured: the row.
    pub current: State,
    /// The state as predicted: the column.
    pub forecast: State,
    /// lambda_n: the desired rate.
    pub lambda: f64,
    /// rho_{n-1}: the rate requested last.
    pub rho_prev: f64,
    /// The rate received, which [`Base::Throughput`] reduces.
    pub throughput: f64,
    /// True if the bank takes whatever the path carries: the top of the UNLOADED row is then lambda_max, as printed, and
    /// lambda_n otherwise.
    pub bank_open: bool,
}

/// A path as measured or as predicted.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Path {
    /// The loss of a period.
    pub p: f64,
    /// The round trip above its minimum.
    pub delay: Seconds,
}

/// The outcome of a flow control point: the flow control message's rates, and the states behind them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Decision {
    /// lambda_n: the desired rate, from which the sender computes what it skips.
    pub lambda: f64,
    /// rho_n: the requested rate.
    pub rho: f64,
    /// The measured state.
    pub current: State,
    /// The predicted state.
    pub forecast: State,
}

/// The law of the receiver.
#[derive(Clone, PartialEq, Debug)]
pub struct R3cp {
    parameters: Parameters,
}

impl R3cp {
    /// The law with these constants.
    ///
    /// # Errors
    /// The parameters do not pass [`Parameters::check`].
    pub fn new(parameters: Parameters) -> Result<R3cp, ParameterError> {
        parameters.check()?;
        Ok(R3cp { parameters })
    }

    /// The constants in force.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The state of a path, by its loss.
    // Deviation(R3CP+ §3.2): with the gate, loss counts as congestion only while the round trip stands above its minimum,
    // or above 30 %. A path that loses at random, such as a radio link, is else taken for a full one, and the video
    // starves: with 5 % of random loss half of its frames.
    pub fn state(&self, path: Path) -> State {
        let Parameters { p_low, p_high, gate, .. } = self.parameters;
        let shut = gate.0 > 0.0 && path.delay.0 < gate.0 && path.p <= HEAVY_LOSS;
        if shut { State::Unloaded } else { State::of(path.p, p_low, p_high) }
    }

    /// The rate that fills the store, without any bounds; lambda_n without a store.
    pub fn storing_rate(&self, point: &Point) -> f64 {
        let Seconds(store) = self.parameters.store;
        point.rate_to_store(point.mu * store, point.d.max(REFILL * store))
    }

    /// rho_n: the requested rate. Table 1.
    pub fn requested_rate(&self, request: &Request) -> f64 {
        use State::{Congested, Loaded, Unloaded};
        let Request { current, forecast, lambda, rho_prev: rho, throughput, bank_open } = *request;
        let Parameters { inc_big, inc_small, dec_small, dec_big, lambda_max, rho_min, base, .. } = self.parameters;
        // Deviation(R3CP+ Table 1): the bank has a limit, so the top is lambda_n: with lambda_max a path without loss is
        // used at the peak rate for ever, where the paper's Fig. 7 has the flow take what it needs.
        let top = if bank_open { lambda_max } else { lambda };
        // Reading(R3CP+ §3.2): the table reduces the rate requested last, the text the throughput, which the text also
        // makes a bound of UNLOADED, CONGESTED. The default is the table.
        let (bound, reduced) = match base {
            Base::Requested => (f64::INFINITY, rho),
            Base::Throughput => (throughput, throughput),
        };
        let rate = match (current, forecast) {
            (Unloaded, Unloaded) => top.min(rho + inc_big),
            (Unloaded, Loaded) => top.min(rho + inc_small),
            (Unloaded, Congested) => lambda.min(rho + inc_small).min(bound),
            (Loaded, _) => lambda.min(rho),
            (Congested, Unloaded | Loaded) => lambda.min(reduced * dec_small),
            (Congested, Congested) => lambda.min(reduced * dec_big),
        };
        rate.max(rho_min).min(lambda_max)
    }

    /// The decision at `point`, with the path as measured in the last period and as predicted for this one.
    // Deviation(R3CP+ Eq. (9)): the store belongs to the target. The lambda that follows from it is the one that Table 1
    // compares, so that the rate rises to fill the store and then rests; as a limit on the top alone it would make the
    // rate saw. The store is filled in a part of its own length, not in a period: the frames of real videos are so
    // unequal that the rate would jump between its bounds. What must be skipped follows from the paper's target: no frame is worth less than a fuller store.
    pub fn decide(&self, point: &Point, measured: Path, predicted: Path, throughput: f64) -> Decision {
        let lambda_max = self.parameters.lambda_max;
        let bounded = |rate: f64| rate.max(0.0).min(lambda_max);
        let (current, forecast) = (self.state(measured), self.state(predicted));
        let rho = self.requested_rate(&Request {
            current,
            forecast,
            lambda: bounded(self.storing_rate(point)),
            rho_prev: point.rho_prev,
            throughput,
            bank_open: false,
        });
        let lambda = bounded(point.desired_rate());
        // Deviation(R3CP+ §3.2): with a store, nothing is skipped on an UNLOADED path while half of the target is there: rho
        // rises to lambda by itself. At the start of a video this would else cost frames on any path.
        let can_wait = self.parameters.store.0 > 0.0 && point.virtual_queue() > 0.5 * point.target();
        let is_unloaded = (current, forecast) == (State::Unloaded, State::Unloaded);
        let lambda = if can_wait && is_unloaded { lambda.min(rho) } else { lambda };
        Decision { lambda, rho, current, forecast }
    }
}
