//! Writing RTCP packets.

/// A packet that can be written.
pub trait Emit {
    /// The packet type.
    fn kind(&self) -> u8;

    /// The report count, source count, subtype or feedback format, 0 to 31.
    fn count(&self) -> u8;

    /// The number of bytes after the first word, a multiple of 4.
    fn body_len(&self) -> usize;

    /// Fills a body of exactly [`Emit::body_len`] bytes.
    fn emit_body(&self, body: &mut [u8]);
}

/// Writes RTCP packets one after the other into a datagram of bounded size.
#[derive(Debug)]
pub struct Writer<'b> {
    buf: &'b mut [u8],
    len: usize,
}

/// The error of a write that does not fit; the datagram is unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full;

impl<'b> Writer<'b> {
    /// The number of bytes before the body of every packet.
    pub const HEADER_LEN: usize = 4;

    /// A writer of at most `buf.len()` bytes.
    pub fn new(buf: &'b mut [u8]) -> Writer<'b> {
        Writer { buf, len: 0 }
    }

    /// The number of bytes written.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if nothing was written.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends a packet.
    ///
    /// # Errors
    /// The packet does not fit.
    pub fn push(&mut self, packet: &impl Emit) -> Result<(), Full> {
        let len = packet.body_len();
        debug_assert!(len.is_multiple_of(4), "RTCP counts words");
        packet.emit_body(self.free().get_mut(..len).ok_or(Full)?);
        self.commit(packet.count(), packet.kind(), len)
    }

    /// The space for the body of the next packet.
    pub(in crate::wire) fn free(&mut self) -> &mut [u8] {
        self.buf.get_mut(self.len + Self::HEADER_LEN..).unwrap_or_default()
    }

    /// Completes a packet whose `len` bytes of body were written to [`Writer::free`].
    pub(in crate::wire) fn commit(&mut self, count: u8, kind: u8, len: usize) -> Result<(), Full> {
        let words = u16::try_from(len / 4).map_err(|_| Full)?;
        let header = self.buf[self.len..].first_chunk_mut::<4>().ok_or(Full)?;
        let [l0, l1] = words.to_be_bytes();
        *header = [0x80 | count & 0x1f, kind, l0, l1];
        self.len += Self::HEADER_LEN + len;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::rtcp::{Goodbye, frame::Compound};

    #[test]
    fn a_packet_that_does_not_fit_is_left_out_whole() {
        let goodbye = Goodbye { sources: &[[0, 0, 0, 7]], reason: b"" };
        let mut buf = [0; 15];
        let mut writer = Writer::new(&mut buf);
        assert!(writer.is_empty());
        assert_eq!(writer.push(&goodbye), Ok(()));
        assert_eq!(writer.push(&goodbye), Err(Full));
        let len = writer.len();
        assert_eq!(Compound::parse(&buf[..len]).unwrap().frames().count(), 1);
        assert_eq!(Writer::new(&mut []).push(&goodbye), Err(Full));
    }
}
