//! TFRC (RFC 5348) as two endpoints of a flow: a sender that always has media, up to a rate, and a receiver that
//! reports.
//!
//! The law is [`thalweg_core::law::rate::tfrc`]; this module puts it into packets. Packets have no content, so sizes on
//! the wire are free: s of the equation is the size of a data packet with its headers.

mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use receiver::TfrcReceiver;
pub use sender::{Config, TfrcSender};

use thalweg_core::law::rate::tfrc::Feedback;
use thalweg_core::time::{Span, Time};

/// Feedback whose real numbers are kept as bits, so that packets can be compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    recvdata: Time,
    delay: Span,
    x_recv: u64,
    /// Below zero, or minus zero, if there was a new loss event: with a flag of its own a packet would fit no cache
    /// line.
    p: u64,
}

impl From<Feedback> for Report {
    fn from(feedback: Feedback) -> Report {
        let Feedback { recvdata, delay, x_recv, p, new_loss_event } = feedback;
        let p = if new_loss_event { -p } else { p };
        Report { recvdata, delay, x_recv: x_recv.to_bits(), p: p.to_bits() }
    }
}

impl From<Report> for Feedback {
    fn from(report: Report) -> Feedback {
        let Report { recvdata, delay, x_recv, p } = report;
        let p = f64::from_bits(p);
        let (new_loss_event, p) = (p.is_sign_negative(), p.abs());
        Feedback { recvdata, delay, x_recv: f64::from_bits(x_recv), p, new_loss_event }
    }
}
