//! The code of RFC 8681 at the receiver: originals by encoding symbol ID, each a whole RTP packet.

use super::window::Window;
use crate::code::rlc::{self, Config, MAX_WINDOW};
use crate::session::live::MAX_PAYLOAD;
use crate::wire::rlc::{RepairPayloadId, SourcePayloadId};
use crate::wire::sequence::nearest;
use crate::wire::{Error, rtp};

/// The code of the sender. The buffer has a window behind the newest original, and a window before it for a repair packet that
/// is earlier than the originals.
const CODE: Config = Config { window: MAX_WINDOW, buffer: 2 * MAX_WINDOW, longest: rtp::HEADER_LEN + MAX_PAYLOAD };

/// The means by which a lost packet was recovered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Means {
    /// The packet itself, sent again.
    Resend,
    /// Packets of repair that hold several source packets.
    Combination,
}

/// The decoder of a stream, from its first source packet on.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Sliding {
    decoder: rlc::Decoder,
    /// The number of an original less the sequence number of its RTP packet, modulo 2^64.
    offset: u64,
    /// The number of the newest source packet that has arrived.
    newest: u64,
    /// The ESI less the sequence number of the last source packet, where these do not fit together.
    misfit: Option<u32>,
    /// The original of which the last packet is a resend, if it is one.
    resent: Option<u64>,
}

impl Sliding {
    /// A decoder of the originals from source packet `sequence` on.
    pub(super) fn new(sequence: u64, id: SourcePayloadId) -> Sliding {
        // Far from zero, so that originals before the first have numbers, too.
        let number = (1 << 32) + u64::from(id.esi);
        let mut decoder = rlc::Decoder::new(CODE).expect("constants in range");
        decoder.skip(number);
        Sliding { decoder, offset: number.wrapping_sub(sequence), newest: number, misfit: None, resent: None }
    }

    /// Takes a source packet. `adu` is the RTP packet with this sequence number. Where the sequence numbers have leapt, the second
    /// packet begins another window.
    ///
    /// # Errors
    /// The payload ID belongs to another packet.
    pub(super) fn on_source(&mut self, sequence: u64, id: SourcePayloadId, adu: &[u8]) -> Result<(), Error> {
        let number = sequence.wrapping_add(self.offset);
        if number as u32 != id.esi {
            let misfit = id.esi.wrapping_sub(sequence as u32);
            if self.misfit.replace(misfit) != Some(misfit) {
                return Err(Error::Malformed);
            }
            *self = Sliding::new(sequence, id);
            return self.on_source(sequence, id, adu);
        }
        self.misfit = None;
        self.resent = None;
        self.newest = self.newest.max(number);
        // The decoder refuses what is too far ahead, and what contradicts other packets; the packet itself is valid.
        let _ = self.decoder.handle_original(number, adu);
        Ok(())
    }

    /// Takes a repair symbol.
    ///
    /// # Errors
    /// The symbol belongs to no window of this stream, or contradicts other packets.
    pub(super) fn on_repair(&mut self, id: RepairPayloadId, symbol: &[u8]) -> Result<(), Error> {
        let id = id.extended(self.decoder.edge());
        self.resent = (id.first == id.last).then_some(id.first);
        match self.decoder.handle_repair(&id, symbol) {
            // A sender that knows less than the receiver begins with an original that is forgotten here.
            Ok(_) | Err(rlc::Error::Missing) => Ok(()),
            Err(_) => Err(Error::Malformed),
        }
    }

    /// The RTP packets that the last packet has recovered, and the means.
    pub(super) fn recovered(&self) -> impl Iterator<Item = (Means, &[u8])> {
        self.decoder.determined().map(|(number, adu)| {
            let means = if self.resent == Some(number) { Means::Resend } else { Means::Combination };
            (means, adu)
        })
    }

    /// Forgets the originals before the first packet of the window, and those that the sender has forgotten: its repair
    /// covers a window up to its newest original.
    pub(super) fn forget(&mut self, window: &Window) {
        let first = nearest::<32>(self.decoder.edge(), window.first().wrapping_add(self.offset) as u32);
        self.decoder.skip(first.max(self.newest.saturating_sub(MAX_WINDOW as u64)));
    }
}
