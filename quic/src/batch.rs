//! Summary of the acknowledgements of one ACK frame for the law, in segments and rounds.

use std::time::Instant;

use thalweg_core::units::Seconds;

/// Acknowledged packets of a frame that is being read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Batch {
    /// Bytes that may grow the window, with the last batch's remainder of less than a segment.
    bytes: u64,
    /// The time at which the newest of the packets was sent.
    newest: Option<Instant>,
    /// True if one of the packets was sent after recovery began.
    grows: bool,
}

/// The summary of a whole batch.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct AckSummary {
    /// Segments that may grow the window.
    pub(crate) segments: u64,
    /// The round trip of the newest packet.
    pub(crate) rtt: Seconds,
    /// The time at which that packet was sent.
    pub(crate) sent: Instant,
    /// True if a packet of the batch was sent after recovery began.
    pub(crate) grows: bool,
}

impl Batch {
    /// Adds an acknowledged packet of `bytes`; `grows` is true if it was sent after recovery began (RFC 9002 §7.3.2).
    pub(crate) fn take(&mut self, sent: Instant, bytes: u64, grows: bool) {
        self.newest = Some(self.newest.map_or(sent, |newest| newest.max(sent)));
        self.grows |= grows;
        if grows {
            self.bytes += bytes;
        }
    }

    /// Ends the frame; returns its summary in segments of `mtu` bytes, if it acknowledged anything.
    pub(crate) fn close(&mut self, now: Instant, mtu: u16) -> Option<AckSummary> {
        let sent = self.newest.take()?;
        let mtu = u64::from(mtu.max(1));
        let segments = self.bytes / mtu;
        self.bytes %= mtu;
        let grows = std::mem::take(&mut self.grows);
        let rtt = Seconds(now.saturating_duration_since(sent).as_secs_f64());
        Some(AckSummary { segments, rtt, sent, grows })
    }
}
