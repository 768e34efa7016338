//! The controls of a stored video: rate law, prediction and choice of frames, by the names of the paper's evaluation (§4).

use core::fmt;
use core::str::FromStr;

use crate::law::ParameterError;
use crate::law::predict;
use crate::law::rate::r3cp::{Decision, Forecast, Parameters, Path, Point, R3cp, State};
use crate::law::rate::tfcc::{self, Tfcc};
use crate::wire::stored::Mode;

/// A control that a user names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Control {
    /// R3CP+: Table 1 over forecasts, with selective transmission.
    #[default]
    R3cpPlus,
    /// R3CP: the desired rate is requested, whatever the path's state. Nothing is skipped.
    R3cp,
    /// TFCC: additive increase and multiplicative decrease by loss. Nothing is skipped.
    Tfcc,
    /// The nominal pace of the video, without retransmission.
    None,
}

impl Control {
    /// Every control.
    pub const ALL: [Control; 4] = [Control::R3cpPlus, Control::R3cp, Control::Tfcc, Control::None];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Control::R3cpPlus => "r3cp+",
            Control::R3cp => "r3cp",
            Control::Tfcc => "tfcc",
            Control::None => "none",
        }
    }

    /// A line of help.
    pub const fn help(self) -> &'static str {
        match self {
            Control::R3cpPlus => {
                "rate by the state and the forecast of the path; pictures are skipped before they are late"
            }
            Control::R3cp => "the rate that the buffer needs, without congestion control",
            Control::Tfcc => "rate by additive increase and multiplicative decrease of what was received",
            Control::None => "the video's own pace, without retransmission or bounds on the rate",
        }
    }

    /// The sender's choice of frames.
    pub const fn mode(self) -> Mode {
        match self {
            Control::R3cpPlus => Mode::Selective,
            Control::R3cp | Control::Tfcc => Mode::InOrder,
            Control::None => Mode::Nominal,
        }
    }
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Control {
    type Err = ParameterError;

    fn from_str(text: &str) -> Result<Control, ParameterError> {
        Control::ALL.into_iter().find(|control| control.name() == text).ok_or_else(|| ParameterError::Law {
            value: text.to_owned(),
            expected: "r3cp+, r3cp, tfcc or none".to_owned(),
        })
    }
}

/// A running control, with its forecast of the path.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Law {
    control: Control,
    r3cp: R3cp,
    tfcc: Tfcc,
    pub(super) forecast: Forecast,
}

impl Law {
    /// # Errors
    /// A parameter is out of its range.
    pub(super) fn new(
        control: Control,
        parameters: Parameters,
        predictor: &predict::Choice,
    ) -> Result<Law, ParameterError> {
        let Parameters { p_low, p_high, inc_big, lambda_max, rho_min, .. } = parameters;
        let max_rate = lambda_max;
        let tfcc = tfcc::Parameters { p_low, p_high, inc: inc_big, dec: 2.0, max_rate, min_rate: rho_min };
        // Reading(R3CP+ §4): R3CP differs from R3CP+ in that it predicts nothing: the last values stand for the next.
        let last = predict::Choice::Last(());
        let predictor = if control == Control::R3cp { &last } else { predictor };
        let forecast = Forecast::new(predictor)?;
        Ok(Law { control, r3cp: R3cp::new(parameters)?, tfcc: Tfcc::new(tfcc)?, forecast })
    }

    pub(super) fn parameters(&self) -> &Parameters {
        self.r3cp.parameters()
    }

    /// The state of a path that loses `p`.
    pub(super) fn state(&self, p: f64) -> State {
        State::of(p, self.parameters().p_low, self.parameters().p_high)
    }

    pub(super) fn control(&self) -> Control {
        self.control
    }

    /// The rates to request at `point`.
    pub(super) fn decide(&self, point: &Point, measured: Path, predicted: Path, throughput: f64) -> Decision {
        let Parameters { lambda_max, rho_min, .. } = *self.parameters();
        let decision = self.r3cp.decide(point, measured, predicted, throughput);
        let rate = match self.control {
            Control::R3cpPlus => return decision,
            Control::R3cp => self.r3cp.storing_rate(point).clamp(rho_min.min(lambda_max), lambda_max),
            Control::Tfcc => self.tfcc.requested_rate(measured.p, throughput).max(rho_min),
            Control::None => point.mu,
        };
        Decision { lambda: rate, rho: rate, ..decision }
    }
}
