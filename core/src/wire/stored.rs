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

use super::Error;
use super::rtcp::App;
use super::rtp::Element;
use crate::time::Span;
use crate::video::{Class, Kind};

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

/// The sender's account of a group.
///
/// | offset | field |
/// |---|---|
/// | 0 | number n of the group (32 bits) |
/// | 4 | media time due before it, in ms (32 bits) |
/// | 8 | media time due with it, in ms (32 bits) |
/// | 12 | first frame described (32 bits) |
/// | 16 | number of frames described (16 bits) |
/// | 18 | 1 if no frame follows |
/// | 19 | number of tracks |
/// | 20 | for each track the sequence number of the group's first packet (16 bits) |
/// | ... | for each frame four bits: skipped, and three of its class |
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GroupReport<'a> {
    /// n: the number of the group, that of the message which began it.
    pub number: u32,
    /// The media time that was due before the group.
    pub before: Span,
    /// The media time that is due with the group.
    pub due: Span,
    /// The first frame described.
    pub first: u32,
    /// The number of frames described.
    pub frames: u16,
    /// True if the video has no frames after these.
    pub is_end: bool,
    /// For each track, the sequence number of the first packet of the group.
    pub sequences: &'a [[u8; 2]],
    /// Four bits for each frame.
    pub classes: &'a [u8],
}

/// The place of a packet in its video.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The frame, in decoding order.
    pub frame: u32,
    /// The packet, from 0.
    pub packet: u16,
    /// The packets of the frame; above `packet`.
    pub packets: u16,
    /// The class of the frame.
    pub class: Class,
    /// The decode time of the frame, from the start of the video.
    pub decode: Span,
    /// The display time less the decode time of the frame, up to 6.5 s.
    pub lead: Span,
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

impl<'a> GroupReport<'a> {
    const HEADER_LEN: usize = 20;

    /// Parses the data of an APP packet.
    fn parse(data: &'a [u8]) -> Result<GroupReport<'a>, Error> {
        let (head, rest) = data.split_first_chunk::<{ GroupReport::HEADER_LEN }>().ok_or(Error::Truncated)?;
        let word = |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let frames = u16::from_be_bytes([head[16], head[17]]);
        let tracks = usize::from(head[19]);
        if tracks > MAX_TRACKS || usize::from(frames) > MAX_FRAMES {
            return Err(Error::Malformed);
        }
        let (sequences, rest) = rest.split_at_checked(2 * tracks).ok_or(Error::Length)?;
        let classes = rest.get(..usize::from(frames).div_ceil(2)).ok_or(Error::Length)?;
        let millis = |at| Span::from_millis(word(at).into());
        Ok(GroupReport {
            number: word(0),
            before: millis(4),
            due: millis(8),
            first: word(12),
            frames,
            is_end: head[18] == 1,
            sequences: sequences.as_chunks().0,
            classes,
        })
    }

    fn emit(&self) -> Vec<u8> {
        let millis = |span: Span| saturated(span.as_micros() / 1_000);
        let words = [self.number, millis(self.before), millis(self.due), self.first];
        let mut data: Vec<u8> = words.into_iter().flat_map(u32::to_be_bytes).collect();
        data.extend(self.frames.to_be_bytes());
        data.extend([self.is_end.into(), self.sequences.len() as u8]);
        data.extend(self.sequences.as_flattened());
        data.extend(self.classes);
        data
    }

    /// For each track, the sequence number of the first packet of the group.
    pub fn first_sequences(&self) -> impl Iterator<Item = u16> + use<'a> {
        self.sequences.iter().copied().map(u16::from_be_bytes)
    }

    /// The frames described: number, class, and true if skipped. A class that this version does not know ends the list.
    pub fn described(&self) -> impl Iterator<Item = (u32, Class, bool)> + use<'a> {
        let (first, classes) = (self.first, self.classes);
        (0..u32::from(self.frames)).map_while(move |nth| {
            let bits = classes[nth as usize / 2] >> (4 * (nth % 2));
            Some((first.checked_add(nth)?, class_of(bits & 7)?, bits & 8 != 0))
        })
    }

    /// The bits of frames with these classes, true for those that are skipped.
    pub fn classes_of(frames: impl IntoIterator<Item = (Class, bool)>) -> Vec<u8> {
        let mut classes = Vec::new();
        for (nth, (class, is_skipped)) in frames.into_iter().enumerate() {
            let bits = code(class) | u8::from(is_skipped) << 3;
            match nth % 2 {
                0 => classes.push(bits),
                _ => classes[nth / 2] |= bits << 4,
            }
        }
        classes
    }
}

fn mode_of(code: u32) -> Result<Mode, Error> {
    let modes = [Mode::Selective, Mode::InOrder, Mode::Nominal];
    modes.into_iter().find(|mode| *mode as u32 == code).ok_or(Error::Malformed)
}

fn code(class: Class) -> u8 {
    match class {
        Class::Picture(Kind::B) => 0,
        Class::Picture(Kind::P) => 1,
        Class::Picture(Kind::I) => 2,
        Class::Audio => 3,
    }
}

fn class_of(code: u8) -> Option<Class> {
    [Class::Picture(Kind::B), Class::Picture(Kind::P), Class::Picture(Kind::I), Class::Audio]
        .get(code as usize)
        .copied()
}

impl Place {
    /// The length of the element.
    pub const LEN: usize = 15;
    /// The unit of times.
    const TICK: Span = Span::from_micros(100);

    /// Parses the data of the element.
    ///
    /// # Errors
    /// It has another length, or a packet that its frame does not have.
    pub fn parse(data: &[u8]) -> Result<Place, Error> {
        let &[f0, f1, f2, f3, p0, p1, n0, n1, class, l0, l1, d0, d1, d2, d3] = data else { return Err(Error::Length) };
        let (packet, packets) = (u16::from_be_bytes([p0, p1]), u16::from_be_bytes([n0, n1]));
        let class = class_of(class).filter(|_| packet < packets).ok_or(Error::Malformed)?;
        let decode = Place::TICK * u64::from(u32::from_be_bytes([d0, d1, d2, d3]));
        let lead = Place::TICK * u64::from(u16::from_be_bytes([l0, l1]));
        Ok(Place { frame: u32::from_be_bytes([f0, f1, f2, f3]), packet, packets, class, decode, lead })
    }

    /// The data of the element.
    pub fn emit(&self) -> [u8; Place::LEN] {
        let ticks = |span: Span| saturated(span.as_micros() / Place::TICK.as_micros());
        let [f0, f1, f2, f3] = self.frame.to_be_bytes();
        let ([p0, p1], [n0, n1]) = (self.packet.to_be_bytes(), self.packets.to_be_bytes());
        let [l0, l1] = (ticks(self.lead).min(u16::MAX.into()) as u16).to_be_bytes();
        let [d0, d1, d2, d3] = ticks(self.decode).to_be_bytes();
        [f0, f1, f2, f3, p0, p1, n0, n1, code(self.class), l0, l1, d0, d1, d2, d3]
    }
}

/// The elements of a packet of the group `number`.
pub fn elements<'a>(group: &'a [u8; 2], place: &'a [u8; Place::LEN]) -> [Element<'a>; 2] {
    [Element { id: GROUP, data: group }, Element { id: PLACE, data: place }]
}

#[cfg(test)]
mod tests;
