//! RTCP statistics of one RTP stream (RFC 3550 §6.4), for the reports of both ends.

mod inbound;
mod outbound;

pub use self::inbound::Inbound;
pub use self::outbound::Outbound;

use crate::rng::Rng;
use crate::time::Span;

/// The mean interval of reports in seconds (RFC 3550 §6.2).
const REPORT_INTERVAL: f64 = 5.0;

/// The canonical name (CNAME) of one end of a session: random, and constant for the session (RFC 7022). All streams of
/// the session share it (RFC 3550 §6.5.1).
pub fn cname(ssrc: u32) -> String {
    format!("thalweg-{ssrc:08x}")
}

/// The time from one report to the next, spread from a half to one and a half of the mean: reports of many sessions must
/// not fall together (RFC 3550 §6.3.1).
pub fn report_interval(rng: &mut Rng) -> Span {
    Span::from_secs_f64(REPORT_INTERVAL * (0.5 + rng.unit()))
}
