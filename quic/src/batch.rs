//! What the acknowledgements of one ACK frame tell the law, in segments and rounds.

use std::time::Instant;

use thalweg_core::units::Seconds;

/// Acknowledged packets, until their frame is read to its end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Batch {
    /// Bytes that may grow the window, with what the last batch left of a segment.
    bytes: u64,
    /// When the newest of them was sent.
    newest: Option<Instant>,
    /// Whether one of them was sent after recovery began.
    grows: bool,
}

/// What a whole batch says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Told {
    /// Segments that may grow the window.
    pub(crate) segments: u64,
    /// The round trip of the newest packet.
    pub(crate) rtt: Seconds,
    /// When that was sent.
    pub(crate) sent: Instant,
    /// Whether it was sent after recovery began.
    pub(crate) grows: bool,
}

impl Batch {
    /// A packet of `bytes` was acknowledged; `grows` if it was sent after recovery began (RFC 9002 §7.3.2).
    pub(crate) fn take(&mut self, sent: Instant, bytes: u64, grows: bool) {
        self.newest = Some(self.newest.map_or(sent, |newest| newest.max(sent)));
        self.grows |= grows;
        if grows {
            self.bytes += bytes;
        }
    }

    /// The frame is read: what it told, if it acknowledged anything, in segments of `mtu` bytes.
    pub(crate) fn close(&mut self, now: Instant, mtu: u16) -> Option<Told> {
        let sent = self.newest.take()?;
        let mtu = u64::from(mtu.max(1));
        let segments = self.bytes / mtu;
        self.bytes %= mtu;
        let grows = std::mem::take(&mut self.grows);
        let rtt = Seconds(now.saturating_duration_since(sent).as_secs_f64());
        Some(Told { segments, rtt, sent, grows })
    }
}
