//! RTCP statistics of one RTP stream (RFC 3550 §6.4), for the reports of both ends.

mod inbound;
mod outbound;

pub use self::inbound::Inbound;
pub use self::outbound::{Outbound, report_interval};

/// The canonical name (CNAME) of one end of a session: random, and constant for the session (RFC 7022). All streams of
/// the session share it (RFC 3550 §6.5.1).
pub fn cname(ssrc: u32) -> String {
    format!("thalweg-{ssrc:08x}")
}
