//! The session's own messages: hello from the caller, answer from the callee, as data of RTCP APP packets (RFC 3550
//! §6.7) with the name `THLW`.
//!
//! In every version the first byte of a hello or a request is the version, and the 64 bits at offset 28 are the token that
//! an answer or a refusal echoes.
//!
//! Hello, subtype 0:
//!
//! | offset | field |
//! |---|---|
//! | 0 | version, 3 (8 bits) |
//! | 1 | flags: 1 media is MPEG-TS, 2 source packets carry payload IDs, 4 repair exists, 8 each new loss event is to be reported at once, 16 the code is RFC 8681's, and lost packets are to be named at once by Generic NACKs, 32 the latency is left to the path (8 bits) |
//! | 2 | payload type of the source stream, of the repair stream (8 bits each) |
//! | 4 | SSRC of the repair stream (32 bits) |
//! | 8 | latency that the sender wants, or, if it is left to the path, proposes, us (32 bits) |
//! | 12 | windowed minimum of the round trip, us, 0 if unknown (32 bits) |
//! | 16 | spread: the longest time in which a packet and its repair leave, us (32 bits) |
//! | 20 | requested interval of reports, us (32 bits) |
//! | 24 | stamp, to be echoed (32 bits) |
//! | 28 | token of the address that this hello is sent to (64 bits) |
//! | 36 | echo: the receiver's token, 0 if none was received (64 bits) |
//! | 44 | half of the secret, 0 if the address has not echoed its token (64 bits) |
//!
//! Answer, subtype 1:
//!
//! | offset | field |
//! |---|---|
//! | 0 | version, 3 (8 bits), flags: 1 busy with another sender, 2 has this sender's stream, 4 the latency is left to the path (8 bits), 16 bits of zero |
//! | 4 | latency that the receiver wants, us, 0 if it is left to the path (32 bits) |
//! | 8 | stamp of the hello (32 bits) |
//! | 12 | token of the address that this answer is sent to (64 bits) |
//! | 20 | echo: the token of the hello (64 bits) |
//! | 28 | half of the secret, 0 if the address has not echoed its token (64 bits) |
//!
//! An answer is shorter than its hello, which rules out amplification by forged hellos.

mod call;
mod delivery;
mod latency;
mod short;

pub use call::{Busy, Request};
pub use delivery::Delivery;
pub use latency::Wanted;
pub use short::{Challenge, Refusal};

use super::Error;
use crate::time::Span;

/// The name of the APP packets.
pub const NAME: [u8; 4] = *b"THLW";

/// The version of the protocol.
pub const VERSION: u8 = 3;

const MP2T: u8 = 1;
const PAYLOAD_IDS: u8 = 2;
const REPAIR: u8 = 4;
const LOSS_REPORTS: u8 = 8;
const SLIDING: u8 = 16;
const AUTO: u8 = 32;
const BUSY: u8 = 1;
const SEATED: u8 = 2;
const ANSWER_AUTO: u8 = 4;
/// The offset of the token in a hello, in every version.
const TOKEN: usize = 28;

/// The sender's description of its stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "the flags of the format")]
pub struct Hello {
    /// True if the media is an MPEG transport stream.
    pub mp2t: bool,
    /// True if source packets carry an Explicit Source FEC Payload ID.
    pub payload_ids: bool,
    /// True if there is repair to wait for.
    pub repair: bool,
    /// True if the receiver is asked to report each new loss event at once, for a rate law (RFC 5348 §6.2).
    pub loss_reports: bool,
    /// True if the code is that of RFC 8681, whose window slides, and the receiver is asked to name lost packets at once by
    /// Generic NACKs.
    pub sliding: bool,
    /// The payload types of the source and the repair stream.
    pub payload_types: [u8; 2],
    /// The SSRC of the repair stream; that of the source stream is the APP packet's.
    pub repair_ssrc: u32,
    /// The latency that the sender wants.
    pub latency: Wanted,
    /// The windowed minimum of the round trip; zero if unknown.
    pub round_trip: Span,
    /// The longest time from the production of a packet until all repair for it has left.
    pub spread: Span,
    /// The requested interval of reports.
    pub interval: Span,
    /// The stamp, to be echoed.
    pub stamp: u32,
    /// The token of the address that the hello is sent to.
    pub token: u64,
    /// The receiver's token; zero if none was received.
    pub echo: u64,
    /// The sender's half of the secret; zero for an address that has not echoed its token.
    pub half: u64,
}

/// The receiver's answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer {
    /// True if the receiver has another sender's stream and accepts no media of this one.
    pub busy: bool,
    /// True if the receiver has the stream of this sender: its reports follow.
    pub seated: bool,
    /// The latency that the receiver wants; zero for an address that has not echoed its token.
    pub latency: Wanted,
    /// The stamp of the hello.
    pub stamp: u32,
    /// The token of the address that the answer is sent to.
    pub token: u64,
    /// The token of the hello.
    pub echo: u64,
    /// The receiver's half of the secret; zero for an address that has not echoed its token.
    pub half: u64,
}

impl Hello {
    /// The APP subtype.
    pub const SUBTYPE: u8 = 0;
    /// The length of the data in bytes.
    pub const LEN: usize = 52;

    /// Writes the APP data.
    pub fn emit(&self) -> [u8; Hello::LEN] {
        let flags = flag(self.mp2t, MP2T)
            | flag(self.payload_ids, PAYLOAD_IDS)
            | flag(self.repair, REPAIR)
            | flag(self.loss_reports, LOSS_REPORTS)
            | flag(self.sliding, SLIDING)
            | flag(self.latency.is_auto, AUTO);
        let mut data = [0; Hello::LEN];
        data[..4].copy_from_slice(&[VERSION, flags, self.payload_types[0], self.payload_types[1]]);
        let words = [
            self.repair_ssrc,
            micros(self.latency.span),
            micros(self.round_trip),
            micros(self.spread),
            micros(self.interval),
            self.stamp,
        ];
        put(&mut data[4..], &words, &[self.token, self.echo, self.half]);
        data
    }

    /// Parses the APP data; excess bytes of later versions are ignored.
    ///
    /// # Errors
    /// [`Error::Truncated`], or [`Error::Unknown`] for another version.
    pub fn parse(data: &[u8]) -> Result<Hello, Error> {
        let ([version, flags, source, repair], rest) = data.split_first_chunk().ok_or(Error::Truncated)?;
        if *version != VERSION {
            return Err(Error::Unknown);
        }
        let ([repair_ssrc, latency, round_trip, spread, interval, stamp], [token, echo, half]) = get(rest)?;
        Ok(Hello {
            mp2t: flags & MP2T != 0,
            payload_ids: flags & PAYLOAD_IDS != 0,
            repair: flags & REPAIR != 0,
            loss_reports: flags & LOSS_REPORTS != 0,
            sliding: flags & SLIDING != 0,
            payload_types: [*source, *repair],
            repair_ssrc,
            latency: Wanted::of(latency, flags & AUTO),
            round_trip: Span::from_micros(round_trip.into()),
            spread: Span::from_micros(spread.into()),
            interval: Span::from_micros(interval.into()),
            stamp,
            token,
            echo,
            half,
        })
    }

    /// The version and the token of a hello or a request of another version; none for this version, or if it is too short for a
    /// token.
    pub fn parse_other(data: &[u8]) -> Option<(u8, u64)> {
        let version = *data.first().filter(|version| **version != VERSION)?;
        let token = data.get(TOKEN..)?.first_chunk()?;
        Some((version, u64::from_be_bytes(*token)))
    }
}

impl Answer {
    /// The APP subtype.
    pub const SUBTYPE: u8 = 1;
    /// The length of the data in bytes.
    pub const LEN: usize = 36;

    /// Writes the APP data.
    pub fn emit(&self) -> [u8; Answer::LEN] {
        let mut data = [0; Answer::LEN];
        let flags = flag(self.busy, BUSY) | flag(self.seated, SEATED) | flag(self.latency.is_auto, ANSWER_AUTO);
        data[..2].copy_from_slice(&[VERSION, flags]);
        put(&mut data[4..], &[micros(self.latency.span), self.stamp], &[self.token, self.echo, self.half]);
        data
    }

    /// Parses the APP data; excess bytes of later versions are ignored.
    ///
    /// # Errors
    /// [`Error::Truncated`], or [`Error::Unknown`] for another version.
    pub fn parse(data: &[u8]) -> Result<Answer, Error> {
        let ([version, flags, ..], rest) = data.split_first_chunk::<4>().ok_or(Error::Truncated)?;
        if *version != VERSION {
            return Err(Error::Unknown);
        }
        let ([latency, stamp], [token, echo, half]) = get(rest)?;
        let (busy, seated) = (flags & BUSY != 0, flags & SEATED != 0);
        Ok(Answer { busy, seated, latency: Wanted::of(latency, flags & ANSWER_AUTO), stamp, token, echo, half })
    }
}

fn flag(set: bool, bit: u8) -> u8 {
    if set { bit } else { 0 }
}

fn micros(span: Span) -> u32 {
    u32::try_from(span.as_micros()).unwrap_or(u32::MAX)
}

fn put(data: &mut [u8], words: &[u32], doubles: &[u64]) {
    let (head, tail) = data.split_at_mut(4 * words.len());
    for (bytes, word) in head.chunks_exact_mut(4).zip(words) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    for (bytes, double) in tail.chunks_exact_mut(8).zip(doubles) {
        bytes.copy_from_slice(&double.to_be_bytes());
    }
}

fn get<const WORDS: usize, const DOUBLES: usize>(data: &[u8]) -> Result<([u32; WORDS], [u64; DOUBLES]), Error> {
    let (head, tail) = data.split_at_checked(4 * WORDS).ok_or(Error::Truncated)?;
    let (words, _) = head.as_chunks::<4>();
    let (doubles, _) = tail.as_chunks::<8>();
    if doubles.len() < DOUBLES {
        return Err(Error::Truncated);
    }
    Ok((
        core::array::from_fn(|at| u32::from_be_bytes(words[at])),
        core::array::from_fn(|at| u64::from_be_bytes(doubles[at])),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    prop_compose! {
        fn hello()(
            [mp2t, payload_ids, repair, loss_reports, sliding, auto] in any::<[bool; 6]>(), payload_types: [u8; 2], words: [u32; 6],
            token: u64, echo: u64, half: u64,
        ) -> Hello {
            let [span, round_trip, spread, interval] = core::array::from_fn(|at| Span::from_micros(words[at].into()));
            let latency = Wanted { span, is_auto: auto };
            Hello {
                mp2t, payload_ids, repair, loss_reports, sliding, payload_types, repair_ssrc: words[4], latency, round_trip, spread,
                interval, stamp: words[5], token, echo, half,
            }
        }
    }

    proptest! {
        #[test]
        fn hellos_round_trip(hello in hello()) {
            prop_assert_eq!(Hello::parse(&hello.emit()), Ok(hello));
        }

        #[test]
        fn answers_round_trip(busy: bool, seated: bool, auto: bool, words: [u32; 2], token: u64, echo: u64, half: u64) {
            let latency = Wanted::of(words[0], auto.into());
            let answer = Answer { busy, seated, latency, stamp: words[1], token, echo, half };
            prop_assert_eq!(Answer::parse(&answer.emit()), Ok(answer));
        }

        #[test]
        fn hello_of_another_version_yields_its_token(version in VERSION + 1.., hello in hello()) {
            let mut data = hello.emit();
            data[0] = version;
            prop_assert_eq!(Hello::parse(&data), Err(Error::Unknown));
            prop_assert_eq!(Hello::parse_other(&data), Some((version, hello.token)));
            prop_assert_eq!(Hello::parse_other(&hello.emit()), None);
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(mut bytes: Vec<u8>) {
            prop_assert!(Hello::parse_other(&bytes).is_none_or(|(version, _)| version == bytes[0]));
            if let Some(version) = bytes.first_mut() {
                *version = VERSION;
            }
            prop_assert_eq!(Hello::parse(&bytes).is_ok(), bytes.len() >= Hello::LEN);
            prop_assert_eq!(Answer::parse(&bytes).is_ok(), bytes.len() >= Answer::LEN);
        }
    }
}
