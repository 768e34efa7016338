//! Assembly of a frame from packets in order, within a limit.

use crate::wire::Error;

/// A received packet of a payload format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<'a> {
    /// The RTP timestamp.
    pub timestamp: u32,
    /// The marker bit.
    pub marker: bool,
    /// True if the packet before this one, by sequence number, is lost.
    pub after_loss: bool,
    /// The payload.
    pub payload: &'a [u8],
}

/// A frame that depacketization resulted in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The RTP timestamp of the frame.
    pub timestamp: u32,
    /// The bytes of the frame: H.264 with start codes (Annex B), AAC without ADTS header.
    pub data: Vec<u8>,
    /// True if no part of the frame is missing or malformed.
    pub is_whole: bool,
}

/// The frame that is being assembled.
#[derive(Clone, Debug)]
pub(super) struct Assembly {
    limit: usize,
    timestamp: u32,
    data: Vec<u8>,
    is_whole: bool,
    /// True if a packet of the frame was taken.
    is_begun: bool,
}

impl Assembly {
    pub(super) fn new(limit: usize) -> Assembly {
        Assembly { limit, timestamp: 0, data: Vec::new(), is_whole: true, is_begun: false }
    }

    /// Takes note of the next packet: a timestamp of its own ends the frame before it, whose marker must have been
    /// lost. A loss damages the frame that has begun, and that of the packet unless it `starts` a frame.
    pub(super) fn open(&mut self, packet: &Packet<'_>, starts: bool, deliver: &mut dyn FnMut(Frame)) {
        self.is_whole &= !packet.after_loss;
        if self.is_begun && self.timestamp != packet.timestamp {
            self.deliver(deliver);
        }
        if !self.is_begun {
            self.is_begun = true;
            self.timestamp = packet.timestamp;
            self.is_whole = starts || !packet.after_loss;
        }
    }

    /// Appends bytes of the frame.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if self.data.len() + bytes.len() > self.limit {
            self.damage();
            return Err(Error::Length);
        }
        self.data.extend_from_slice(bytes);
        Ok(())
    }

    /// Marks the frame as damaged.
    pub(super) fn damage(&mut self) {
        self.is_whole = false;
    }

    /// The number of bytes so far.
    pub(super) fn len(&self) -> usize {
        self.data.len()
    }

    /// True if no part of the frame is known to be missing.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Delivers what has arrived of a frame of `len` bytes, if anything has. It is damaged if bytes are missing.
    pub(super) fn finish(&mut self, len: usize, deliver: &mut dyn FnMut(Frame)) {
        if self.is_begun {
            self.is_whole &= self.data.len() >= len;
            self.deliver(deliver);
        }
    }

    /// Delivers the frame, if there is one.
    pub(super) fn deliver(&mut self, deliver: &mut dyn FnMut(Frame)) {
        if core::mem::take(&mut self.is_begun) {
            let data = core::mem::take(&mut self.data);
            deliver(Frame { timestamp: self.timestamp, data, is_whole: self.is_whole });
        }
        self.is_whole = true;
    }
}
