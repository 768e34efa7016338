//! TFRC: S. Floyd, M. Handley, J. Padhye, J. Widmer, "TCP Friendly Rate Control (TFRC): Protocol Specification",
//! RFC 5348, 2008.
//!
//! A sender that never bursts and a receiver that counts loss events, together as fast as a TCP on the same path, but
//! steadier. The module is self-contained: neither half opens a socket, reads a clock or knows a wire format. The
//! caller passes packets and times, carries [`Data`] and [`Feedback`] in headers of its own, and asks for the next send
//! time.
//!
//! | RFC | here | |
//! |---|---|---|
//! | s | [`sender::Config::segment`], [`receiver::Config::segment`] | size of a packet |
//! | X, X_inst | [`Sender::allowed`], [`Sender::rate`] | allowed rate (§4.3), and paced rate (§4.5, §4.6) |
//! | X_Bps | [`Equation::rate`] | throughput of a TCP (§3.1) |
//! | R, R_i | [`Sender::rtt`], [`Data::rtt`] | round trip, smoothed by the sender |
//! | X_recv_set | `sender::recv_set` | receive rates that the receiver reported (§4.3) |
//! | t_recvdata, t_delay, X_recv, p | [`Feedback`] | content of a report (§3.2.2), and the new loss events of §4.3 |
//! | I_i, w_i, DF_i | `receiver::history` | loss intervals, their weights and discounts (§5.4, §5.5) |
//! | T_loss | `receiver::losses` | interpolated arrival time of a lost packet (§5.2) |
//!
//! Rates are bytes per second where the RFC computes with them, and [`Rate`](crate::units::Rate) in the interface.
//! Sequence numbers are 64 bits and start at 0; a format with fewer bits unwraps them first
//! ([`Unwrapper`](crate::wire::sequence::Unwrapper)).
//!
//! ```
//! use thalweg_core::law::rate::tfrc::{Receiver, Sender, receiver, sender};
//! use thalweg_core::time::{Span, Time};
//! use thalweg_core::units::{Bytes, Rate};
//!
//! let s = Bytes(1460);
//! let mut sender = Sender::new(Time::ZERO, sender::Config::new(s, Rate::from_mbps(30)))?;
//! let mut receiver = Receiver::new(receiver::Config::new(s));
//!
//! // The first packet leaves at once, and takes 20 ms.
//! let data = sender.poll_packet(Time::ZERO).expect("the first packet may leave");
//! let arrival = Time::ZERO + Span::from_millis(20);
//! receiver.handle_data(arrival, &data, s);
//! let feedback = receiver.poll_feedback(arrival).expect("the first packet is answered at once");
//!
//! // 20 ms later the sender knows the round trip, and may send three packets in each.
//! let now = arrival + Span::from_millis(20);
//! sender.handle_feedback(now, &feedback)?;
//! assert_eq!(sender.rtt(), Some(Span::from_millis(40)));
//! assert_eq!(sender.rate(), Rate::from_bps(8 * 4380 * 25));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod equation;
pub mod receiver;
pub mod sender;

pub(crate) use equation::LEAST_P;
pub use equation::{Equation, TcpThroughput};
pub use receiver::Receiver;
pub use sender::Sender;

use core::fmt;

use crate::time::{Span, Time};

/// The longest round trip that either half accepts: an hour.
pub const MAX_RTT: Span = Span::from_secs(3600);

/// The content of a data packet's header (§3.2.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Data {
    /// The sequence number: one more for each packet, from 0.
    pub sequence: u64,
    /// ts_i: the send time, on the sender's clock.
    pub sent: Time,
    /// R_i: the sender's round-trip estimate, once it has one.
    pub rtt: Option<Span>,
}

/// The content of a report (§3.2.2).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Feedback {
    /// t_recvdata: [`Data::sent`] of the last packet received.
    pub recvdata: Time,
    /// t_delay: the time from that packet's arrival to the report.
    pub delay: Span,
    /// X_recv: bytes per second received over the last round trip.
    pub x_recv: f64,
    /// p: the loss event rate, 0 before the first loss event, at most 1.
    pub p: f64,
    /// True if a loss event began since the last report, which matters in §4.3 even if p has not grown.
    pub new_loss_event: bool,
}

/// The error of a report that no honest receiver of this sender's packets writes, or that is too late to be of use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BadFeedback {
    /// Times of a packet not yet sent, or a round trip that is negative or above [`MAX_RTT`].
    Time,
    /// A report about later packets arrived before it.
    Overtaken,
    /// X_recv is negative, infinite or not a number.
    ReceiveRate,
    /// p is not a number from 0 to 1.
    LossEventRate,
}

impl fmt::Display for BadFeedback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BadFeedback::Time => "TFRC feedback with invalid times",
            BadFeedback::Overtaken => "TFRC feedback older than feedback received before",
            BadFeedback::ReceiveRate => "TFRC feedback with an invalid receive rate",
            BadFeedback::LossEventRate => "TFRC feedback with an invalid loss event rate",
        })
    }
}

impl std::error::Error for BadFeedback {}
