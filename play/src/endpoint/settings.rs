//! The choices of a user.

use thalweg_core::law::rate::r3cp::Parameters;
use thalweg_core::law::registry::Parameters as _;
use thalweg_core::law::{ParameterError, rate};
use thalweg_core::session::stored::control::Control;
use thalweg_core::session::stored::receiver::Bounds;
use thalweg_core::session::stored::{Unit, WINDOW};
use thalweg_core::time::Span;
use thalweg_core::units::{Rate, Seconds};

/// The choices of a user.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// The position at which playback begins.
    pub from: Option<Span>,
    /// The control of a session under R3CP+.
    pub control: Control,
    /// The playing time that is stored beyond the law's own target.
    pub store: Span,
    /// The bound on the rate, with lower headers.
    pub max_rate: Option<Rate>,
    /// True if the rate stays below that of a TCP (RFC 5348).
    pub is_fair: bool,
    /// True if packets are asked for within the RTSP connection, without R3CP+.
    pub is_interleaved: bool,
    /// Constants of the law by name, in place of those that follow from the video's rate.
    pub constants: Vec<(String, String)>,
}

impl Settings {
    /// The bounds on the rate for a video whose packets have `size` bytes of payload on average.
    pub(crate) fn bounds(&self, size: u32) -> Bounds {
        let unit = Unit::Mean(size.min(1 << 16));
        Bounds { max_rate: self.max_rate.map(|rate| unit.at_most(rate)), fair: self.is_fair }
    }

    /// The constants for a video of `mu` packets per second.
    ///
    /// # Errors
    /// A constant is unknown or out of its range.
    pub fn parameters(&self, mu: f64) -> Result<Parameters, ParameterError> {
        let mut parameters = Parameters::of_video(mu);
        // Ours: a control without a target of its own gets that of the others, less their round trip, as its least store.
        let least = if self.control == Control::None { WINDOW } else { Span::ZERO };
        parameters.store = Seconds(self.store.max(least).as_secs_f64());
        parameters.gate = rate::r3cp::PLAYERS_GATE;
        for (name, value) in &self.constants {
            parameters.set(name, value)?;
        }
        parameters.check()?;
        Ok(parameters)
    }
}
