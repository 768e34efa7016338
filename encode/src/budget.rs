//! The bit rate that remains for an encoder of video, if its transport stream is to have a given rate.
//!
//! Sound, tables and null packets are taken off first: all packets of other PIDs than the video's, as the last second had
//! them. Then the headers of the video's packets, of four bytes each. Then PES headers, clock references and stuffing of the
//! video's packets: they belong to pictures, so that they are as many at any bit rate.

use std::collections::{BTreeSet, VecDeque};

use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};
use thalweg_mpegts::PACKET;
use thalweg_mpegts::align::Framer;
use thalweg_mpegts::packet::Packet;
use thalweg_mpegts::pes::Header;

/// The time over which an output is measured.
pub const WINDOW: Span = Span::from_secs(1);
/// Parts into which [`WINDOW`] is divided.
const SLOTS: u64 = 10;
const SLOT: Span = Span::from_millis(WINDOW.as_micros() / 1_000 / SLOTS);
/// Bytes of a packet beside its header.
const PAYLOAD: u64 = PACKET as u64 - 4;

/// The use of a second of a transport stream. By default it is video alone, in full packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// Packets of other PIDs than the video's: sound, tables, null packets.
    pub others: Rate,
    /// Bits that the encoder of the video made.
    pub coded: Rate,
    /// PES headers, clock references and stuffing within packets of the video.
    pub framing: Rate,
}

impl Usage {
    /// The bit rate of the video in a transport stream of `rate`; none if nothing is left for it.
    pub fn for_video(&self, rate: Rate) -> Option<Rate> {
        let packets = rate.as_bps().checked_sub(self.others.as_bps())?;
        let payload = u128::from(packets) * u128::from(PAYLOAD) / PACKET as u128;
        let left = (payload as u64).checked_sub(self.framing.as_bps()).filter(|left| *left > 0)?;
        Some(Rate::from_bps(left))
    }
}

/// A meter of a transport stream with one video.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Budget {
    framer: Framer,
    /// PIDs on which a PES packet of video has begun (Table 2-22); a PID has 13 bits.
    videos: BTreeSet<u16>,
    /// The last slots with packets, oldest first.
    slots: VecDeque<Slot>,
    /// The number of the first slot.
    first: Option<u64>,
}

/// Bytes in a tenth of a second.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Slot {
    /// The number of the slot since time zero.
    nth: u64,
    others: u64,
    coded: u64,
    framing: u64,
}

impl Budget {
    /// Takes the next bytes of the stream, in chunks of any size.
    pub fn push(&mut self, now: Time, bytes: &[u8]) {
        let nth = nth(now);
        self.first.get_or_insert(nth);
        self.slots.retain(|slot| slot.nth + SLOTS >= nth);
        self.framer.push(bytes);
        while let Some(packet) = self.framer.poll() {
            if is_video(&packet) {
                self.videos.insert(packet.pid());
            }
            if self.slots.back().is_none_or(|slot| slot.nth != nth) {
                self.slots.push_back(Slot { nth, ..Slot::default() });
            }
            let slot = self.slots.back_mut().expect("just there");
            if self.videos.contains(&packet.pid()) {
                let coded = coded(&packet) as u64;
                slot.coded += coded;
                slot.framing += PAYLOAD - coded;
            } else {
                slot.others += PACKET as u64;
            }
        }
    }

    /// The use of the last second; none before there was one, or if it had no video.
    pub fn usage(&self, now: Time) -> Option<Usage> {
        let end = nth(now);
        let begin = self.first.and_then(|first| end.checked_sub(SLOTS).filter(|begin| *begin >= first))?;
        let rate = |part: fn(&Slot) -> u64| {
            let slots = self.slots.iter().filter(|slot| (begin..end).contains(&slot.nth));
            Rate::of(Bytes(slots.map(part).sum()), WINDOW)
        };
        let coded = rate(|slot| slot.coded);
        (coded > Rate::from_bps(0)).then(|| Usage {
            others: rate(|slot| slot.others),
            coded,
            framing: rate(|slot| slot.framing),
        })
    }
}

/// The number of the slot of a time.
fn nth(now: Time) -> u64 {
    now.as_nanos() / SLOT.as_nanos()
}

fn is_video(packet: &Packet) -> bool {
    Header::parse(packet).is_some_and(|header| header.is_video())
}

/// The bytes of a packet of video that its encoder made: all of the payload beside a PES header (§2.4.3.6).
fn coded(packet: &Packet) -> usize {
    let payload = packet.payload();
    let header = match payload {
        [0, 0, 1, _, _, _, _, _, len, ..] if packet.starts_unit() => 9 + usize::from(*len),
        _ => 0,
    };
    payload.len().saturating_sub(header)
}

#[cfg(test)]
mod tests;
