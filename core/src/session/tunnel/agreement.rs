//! The stream that both ends of a link agree on: its parameters, and how it is made.

use super::Config;
use crate::law::rate::capped::Capped;
use crate::law::{ParameterError, rate, schedule, within};
use crate::session::MAX_DATAGRAM;
use crate::session::secure;
use crate::session::stream::{self, End};
use crate::time::{Span, Time};
use crate::units::{Bytes, Rate};
use crate::wire::tunnel::Shape;

/// The stream of a link.
pub(super) type Stream = End<schedule::Law, Capped<rate::Law>>;

/// The longest delay that a late caller may make up for. Ours: about as late as timers of a busy machine are; longer
/// allows larger bursts into the path.
const SLACK: Span = Span::from_millis(2);
/// The granularity of pacing: packets due within it leave together. A keystroke does not notice, and one wake-up serves
/// several packets. With less copying besides, four of five pairs of runs took 4.1 instead of 4.6 CPU s/GB (`--rate
/// cubic`; the fifth lost packets).
const GRAIN: Span = Span::from_micros(250);
/// The lower bound of [`secure::Config::datagram`], bytes. Ours: with sealing (35) and UDP over IPv4 (28) a quarter of
/// such a datagram is headers.
const SHORTEST: f64 = 256.0;
/// The highest rate that TFRC asks for. Ours: the rate of a 10 Gb/s interface; before the first loss the equation gives
/// no bound.
const MOST: Rate = Rate::from_mbps(10_000);

/// The parameters of a stream made with `config`.
pub(super) fn shape(config: &Config) -> Shape {
    let most = config.secure.datagram.min(MAX_DATAGRAM).saturating_sub(secure::OVERHEAD);
    let frame = u16::try_from(config.stream.frame.min(most)).unwrap_or(u16::MAX);
    Shape { frame, window: u16::try_from(config.stream.window).unwrap_or(u16::MAX) }
}

/// Checks that streams can be made with `config`.
///
/// # Errors
/// A value is out of its range; the error names it.
pub(super) fn check(config: &Config) -> Result<(), ParameterError> {
    within("datagram", config.secure.datagram as f64, SHORTEST..=MAX_DATAGRAM as f64)?;
    within("connections", config.connections as f64, 1.0..)?;
    within("links", config.links as f64, 1.0..)?;
    for (name, rate) in [("rate in bit/s", config.rate.fixed()), ("max_rate in bit/s", config.max_rate)] {
        let (least, most) = config.rates().into_inner();
        let bounds = least.as_bps() as f64..=most.as_bps() as f64;
        within(name, rate.unwrap_or(most).as_bps() as f64, bounds)?;
    }
    within("max_overhead", config.max_overhead, 0.0..=1e6)?;
    within("memory in bytes", config.memory.0 as f64, Config::LEAST_MEMORY.0 as f64..)?;
    stream(config, shape(config), Time::ZERO).map(drop)
}

/// Makes the stream of a server whose client has asked for `asked`, if there can be one.
pub(super) fn agree(config: &Config, asked: Shape, now: Time) -> Option<Stream> {
    let ours = shape(config);
    stream(config, Shape { frame: ours.frame.min(asked.frame), window: ours.window.min(asked.window) }, now).ok()
}

pub(super) fn stream(config: &Config, shape: Shape, now: Time) -> Result<Stream, ParameterError> {
    let made = stream::Config { frame: shape.frame.into(), window: shape.window.into(), grain: GRAIN, ..config.stream };
    let schedule = schedule::Law::new(&config.schedule, &schedule::Config { max_overhead: config.max_overhead })?;
    End::new(made, schedule, law(config, &made, now)?)
}

/// The rate law of a stream that begins, or continues over another association.
pub(super) fn law(config: &Config, stream: &stream::Config, now: Time) -> Result<Capped<rate::Law>, ParameterError> {
    let law = rate::Config {
        now,
        packet: Bytes((stream.frame + stream.overhead) as u64),
        most: config.max_rate.unwrap_or(MOST),
        slack: SLACK,
    };
    Ok(Capped::new(rate::Law::new(&config.rate, &law)?, config.max_rate, SLACK))
}
