//! Messages of a session of stored video (R3CP+ §3): RTCP APP packets (RFC 3550 §6.7) named `R3CP`, and two RTP header
//! extension elements (RFC 8285 §4.2).
//!
//! The receiver sends probes and flow control messages, the latter beside Generic NACKs; the sender answers each with
//! an echo or a group report. Offsets are relative to the data of the APP packet; integers are in network byte order.
//!
//! | subtype | message | fields |
//! |---|---|---|
//! | 0 | probe | 0: session key (64 bits); 8: number (32 bits) |
//! | 1 | echo | 0: address token (64 bits); 8: number (32 bits) |
//! | 2 | flow control | 0: address token (64 bits); 8: number n; 12: rho; 16: lambda, in 1/1000 packet per second; 20: d in microseconds; 24: media time of playout in ms; 28: 0 selective, 1 in order, 2 nominal (32 bits each) |
//! | 3 | group report | see [`GroupReport`] |
//!
//! | element | fields |
//! |---|---|
//! | 1: group | 0: the low 16 bits of n |
//! | 2: place | 0: frame (32 bits); 4: packet (16 bits); 6: packets of the frame (16 bits); 8: class; 9: display time less decode time (16 bits) and 11: decode time (32 bits), in 1/10 ms |

mod place;
mod report;

pub use self::place::{Place, elements};
pub use self::report::GroupReport;

use super::Error;
use super::rtcp::App;
use crate::time::Span;

/// The name in the APP packets.
pub const NAME: [u8; 4] = *b"R3CP";
/// The header extension element with the group number.
pub const GROUP: u8 = 1;
/// The header extension element with the place in the video.
pub const PLACE: u8 = 2;
/// The streams of a session: pictures and sound, and spare.
pub const MAX_TRACKS: usize = 4;
/// The frames that a group report can describe.
pub const MAX_FRAMES: usize = 512;

const PROBE: u8 = 0;
const ECHO: u8 = 1;
const FLOW_CONTROL: u8 = 2;
const REPORT: u8 = 3;

/// A message in an APP packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Message<'a> {
    /// A probe of the receiver.
    Probe(Probe),
    /// The answer to a probe.
    Echo(Echo),
    /// The rates that the receiver asks for.
    FlowControl(FlowControl),
    /// The answer to a flow control message.
    Report(GroupReport<'a>),
}

/// A probe of the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Probe {
    /// The key of the session, which its setup gave to both ends.
    pub key: u64,
    /// The number of the probe.
    pub number: u32,
}

/// The answer to a probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Echo {
    /// The token of the receiver's address (RFC 9000 §8.1).
    pub token: u64,
    /// The number of the probe.
    pub number: u32,
}

/// A flow control message.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowControl {
    /// The token of the receiver's address.
    pub token: u64,
    /// n: the number of the message.
    pub number: u32,
    /// rho: the requested rate, in packets per second.
    pub rho: f64,
    /// lambda: the desired rate, in packets per second.
    pub lambda: f64,
    /// d: the estimated length of the period.
    pub period: Span,
    /// The media time that is played: what is displayed before need not be sent. 0 if everything is to be sent.
    pub playout: Span,
    /// The sender's choice of frames.
    pub mode: Mode,
}

/// A sender's choice of frames, and its pace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// The rates of the message. Between them frames are skipped; the others leave I before P before B.
    Selective,
    /// The requested rate. Every frame, in decoding order.
    InOrder,
    /// The nominal pace of the video. Every frame, in decoding order.
    Nominal,
}

impl<'a> Message<'a> {
    /// Parses an APP packet; none if it has another name.
    ///
    /// # Errors
    /// It is too short, of an unknown subtype, or has a value out of range.
    pub fn parse(app: &App<'a>) -> Result<Option<Message<'a>>, Error> {
        if app.name != NAME {
            return Ok(None);
        }
        let (&head, rest) = app.data.split_first_chunk::<8>().ok_or(Error::Truncated)?;
        if app.subtype == REPORT {
            return GroupReport::parse(app.data).map(|report| Some(Message::Report(report)));
        }
        let (words, _) = rest.as_chunks::<4>();
        let word = |nth: usize| words.get(nth).copied().map(u32::from_be_bytes).ok_or(Error::Truncated);
        let (token, number) = (u64::from_be_bytes(head), word(0)?);
        Ok(Some(match app.subtype {
            PROBE => Message::Probe(Probe { key: token, number }),
            ECHO => Message::Echo(Echo { token, number }),
            FLOW_CONTROL => Message::FlowControl(FlowControl {
                token,
                number,
                rho: f64::from(word(1)?) / 1e3,
                lambda: f64::from(word(2)?) / 1e3,
                period: Span::from_micros(word(3)?.into()),
                playout: Span::from_millis(word(4)?.into()),
                mode: mode_of(word(5)?)?,
            }),
            _ => return Err(Error::Unknown),
        }))
    }

    /// The subtype and the data of an APP packet with the message.
    pub fn emit(&self) -> (u8, Vec<u8>) {
        match self {
            Message::Probe(Probe { key, number }) => (PROBE, tokened(*key, &[*number])),
            Message::Echo(Echo { token, number }) => (ECHO, tokened(*token, &[*number])),
            Message::FlowControl(message) => {
                let milli = |rate: f64| (rate * 1e3) as u32;
                let words = [
                    message.number,
                    milli(message.rho),
                    milli(message.lambda),
                    saturated(message.period.as_micros()),
                    saturated(message.playout.as_micros() / 1_000),
                    message.mode as u32,
                ];
                (FLOW_CONTROL, tokened(message.token, &words))
            }
            Message::Report(report) => (REPORT, report.emit()),
        }
    }
}

/// The number itself, or the greatest that the field holds.
fn saturated(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn tokened(token: u64, words: &[u32]) -> Vec<u8> {
    let words = words.iter().flat_map(|word| word.to_be_bytes());
    token.to_be_bytes().into_iter().chain(words).collect()
}

fn mode_of(code: u32) -> Result<Mode, Error> {
    let modes = [Mode::Selective, Mode::InOrder, Mode::Nominal];
    modes.into_iter().find(|mode| *mode as u32 == code).ok_or(Error::Malformed)
}

#[cfg(test)]
mod tests;
