//! TFRC (RFC 5348) as two endpoints of a flow: a sender that always has media, up to a rate, and a receiver that
//! reports.
//!
//! The law is [`thalweg_core::law::rate::tfrc`], with its own equation or that of GCA; this module puts it into packets. Packets have no content, so sizes on
//! the wire are free: s of the equation is the size of a data packet with its headers.

mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use receiver::TfrcReceiver;
pub use sender::{Config, TfrcSender};

use thalweg_core::law::rate::gca::Greediness;
use thalweg_core::law::rate::tfrc::{Equation, Feedback, TcpThroughput};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Seconds};

/// The equation of a flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Throughput {
    /// That of TFRC.
    Tcp(TcpThroughput),
    /// That of GCA. At α = 1 and β = 1/2 it differs from TFRC's by rounding alone.
    Gca(Greediness),
}

impl Default for Throughput {
    fn default() -> Throughput {
        Throughput::Tcp(TcpThroughput::default())
    }
}

impl Equation for Throughput {
    fn rate(&self, segment: Bytes, rtt: Seconds, p: f64) -> f64 {
        match self {
            Throughput::Tcp(equation) => equation.rate(segment, rtt, p),
            Throughput::Gca(equation) => equation.rate(segment, rtt, p),
        }
    }
}

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
